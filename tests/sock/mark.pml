/* How a sleeping reader is woken (src/sock/place.h): two connections, one place with a mark, a bit for each connection and
 * one eventfd. Checked by models.sh.
 *
 * A writer publishes bytes in the ring with a compare-and-swap, which is visible at once and orders what follows. It then
 * looks at the bit of its connection; a bit that is set is enough. The reader's bit means "may have bytes".
 * The reader may move a connection from the TCP socket (every write into an empty ring sends a byte) to the place.
 *
 * Wanted: the reader never sleeps for ever while bytes lie in a ring. Spin finds that as an invalid end state.
 *
 * Broken on purpose, each must be found: -DNO_RECHECK (the ring is not looked at again after the bit was cleared),
 * -DNO_SWEEP (the bits are not looked at again after the mark was set), -DPLAIN_HEAD (bytes are published by a store that
 * stays in a buffer), -DMARK_FIRST (the writer looks at the mark before it sets the bit), -DNO_MOVE_CHECK (a connection that
 * moves to the place is not looked at once more). */
#define EACH 2

byte head[2], tail[2];
bool flag[2];
bool asleep;
byte event;          /* the eventfd */
byte bells[2];       /* bytes in the TCP socket */
bool placed[2];
bool buffered[2];    /* -DPLAIN_HEAD: a published byte is in the store buffer */

#ifdef PLAIN_HEAD
proctype buffer(byte c)
{
end:
    do
    :: atomic { buffered[c] -> buffered[c] = false; head[c]++ }
    od
}
#define PUBLISH atomic { !buffered[c]; old = head[c]; buffered[c] = true }
#else
#define PUBLISH atomic { old = head[c]; head[c]++ }
#endif

inline look_at_mark()
{
    seen = asleep
}

inline ring_if_asleep()
{
    if
    :: seen ->
        atomic { if :: asleep -> asleep = false; won = true :: else -> won = false fi };
        if
        :: won -> event++
        :: else
        fi
    :: else
    fi
}

proctype writer(byte c)
{
    byte sent = 0, old;
    bool seen, won;
    do
    :: sent < EACH ->
        PUBLISH;
        sent++;
        if
        :: !placed[c] ->
            if
            :: tail[c] == old -> bells[c]++
            :: else
            fi
        :: placed[c] ->
            if
            :: flag[c]
            :: !flag[c] ->
#ifdef MARK_FIRST
                look_at_mark();
                flag[c] = true;
#else
                flag[c] = true;
                look_at_mark();
#endif
                ring_if_asleep()
            fi
        fi
    :: else -> break
    od
}

proctype reader()
{
    byte c, n;
    do
    :: tail[0] == EACH && tail[1] == EACH -> break
    :: else ->
        c = 0;
        do
        :: c < 2 ->
            if
            :: !placed[c] ->
                if
                :: true -> placed[c] = true; bells[c] = 0;
#ifndef NO_MOVE_CHECK
                    if
                    :: head[c] != tail[c] -> flag[c] = true
                    :: else
                    fi
#endif
                :: n = bells[c]; /* remembered first: a byte that comes later belongs to bytes that come later */
                    if
                    :: head[c] != tail[c] -> tail[c] = head[c]
                    :: else -> bells[c] = bells[c] - n
                    fi
                fi
            :: placed[c] && flag[c] ->
                if
                :: head[c] != tail[c] -> tail[c]++
                :: else ->
                    flag[c] = false;
#ifndef NO_RECHECK
                    if
                    :: head[c] != tail[c] -> flag[c] = true
                    :: else
                    fi
#endif
                fi
            :: placed[c] && !flag[c]
            fi;
            c++
        :: else -> break
        od;
        if
        :: flag[0] || flag[1] || (tail[0] == EACH && tail[1] == EACH)
        :: else ->
            asleep = true;
            if
#ifndef NO_SWEEP
            :: flag[0] || flag[1] -> asleep = false
#endif
            :: else ->
                (event > 0 || bells[0] > 0 || bells[1] > 0);
                event = 0;
                asleep = false
            fi
        fi
    od
}

init {
    atomic {
#ifdef PLAIN_HEAD
        run buffer(0);
        run buffer(1);
#endif
        run writer(0);
        run writer(1);
        run reader()
    }
}
