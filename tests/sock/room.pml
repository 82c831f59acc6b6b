/* How a thread is woken that waits for bytes and for room (src/sock/wait.c): one connection with a ring each way, two threads of
 * one side that wait at places of their own, and the other side, which publishes bytes in one ring and takes bytes out of the
 * other. Both are told by the same bit of a place. Checked by models.sh.
 *
 * The word `room` says where to wake for room. One thread at a time has it; another one, and one whose eventfd the other side does
 * not have, looks again after a while. Where the eventfd is not known a byte on the TCP socket is a hint and no more: a thread
 * that waits for room alone is not woken by it, and the other side may have ended the bells.
 *
 * Bytes in the ring have a bell in the socket, wherever the thread is: it may wait in the kernel past all that. Bells are taken away
 * by one that first says how many (`taken`), and then finds the ring empty. A thread that sleeps at a place of which the eventfd is
 * known leaves them, and does not look at them.
 *
 * Wanted: no thread sleeps for ever while what it waits for is there. Spin finds that as an invalid end state.
 *
 * Broken on purpose, each must be found: -DCLEAR_FIRST (the bit is cleared before the mark is set), -DCLEAR_LAST (it is
 * cleared behind the words that say where to wake), -DNO_LOOK (the rings are not looked at behind all that), -DBELL_FOR_ROOM (bells are relied on while they have not ended), -DTAKE_OVER (the second thread puts
 * its place into the word), -DCLEAR_ALWAYS (a thread that goes clears the word of another one),
 * -DTRUST_PLACE (who is at a place gets no bell), -DTAKE_FIRST (bells are taken away before that is said), -DNO_RECHECK (they are
 * taken away though the ring is not empty any more), -DQUIET (bells are left and not looked at where the eventfd is not known),
 * -DUNTOUCHED (bytes of which the reader has taken the first ones already get no bell). */
/* -DMORE: none is read, and more are written; both together would take minutes. */
#ifdef MORE
#define EACH 0 /* bytes that the first thread reads */
#define SENT 2 /* bytes that each thread writes */
#else
#define EACH 2
#define SENT 1
#endif
#define SIZE 1 /* of the ring that they go to */
#define NOBODY 0
#define BELL   1

byte head, tail;    /* of the ring that is read */
byte filled;        /* of the ring that is written */
bool flag[2], asleep[2];
byte event[2];
byte bells; /* bytes in the TCP socket */
byte rung, taken_away; /* bells sent so far, and as many as the reader has said that it takes */
byte gone; /* that it has taken */
byte place; /* where bytes are waited for: its number plus 1; 0: by bell */
byte room;  /* where room is waited for: NOBODY, BELL, number of the place plus 2 */
bool board;  /* the other side has the board */
bool known;  /* and the eventfds */
bool ended; /* it sends no bells any more */

inline wake(p) /* bell: by the TCP socket */
{
    bell = false;
    if
    :: flag[p]
    :: else ->
        flag[p] = true;
        if
        :: asleep[p] ->
            atomic {
                won = asleep[p];
                asleep[p] = false
            };
            if
            :: won && known -> event[p]++
            :: won && !known -> bell = true
            :: else
            fi
        :: else
        fi
    fi
}

/* The next byte that the reader takes is one of those that were published just now. */
#ifdef UNTOUCHED
#define OF_THESE tail == old
#else
#define OF_THESE tail >= old && tail < head
#endif

proctype other()
{
    byte sent = 0, taken = 0, old, part, where;
    bool won, bell;
    do
    :: sent < EACH ->
        if
        :: part = 1
        :: sent + 2 <= EACH -> part = 2
        fi;
        atomic { old = head; head = head + part };
        sent = sent + part;
        bell = false;
        where = place;
        if
        :: where == 0
        :: where > 0 -> wake(where - 1)
        fi;
        if
#ifdef TRUST_PLACE
        :: !bell && where == 0 && rung == taken_away && OF_THESE -> bell = true
#else
        :: !bell && rung == taken_away && OF_THESE -> bell = true
#endif
        :: else
        fi;
        if
        :: bell -> rung++; bells++
        :: else
        fi
    :: filled > 0 ->
        filled--;
        taken++;
        if
        :: room != NOBODY ->
            atomic { where = room; room = NOBODY };
            bell = (where == BELL);
            if
            :: where > BELL -> wake(where - 2)
            :: else
            fi;
            bells = (bell && !ended -> bells + 1 : bells)
        :: else
        fi
    :: sent == EACH && !ended -> ended = true
    :: sent == EACH && taken == 2 * SENT -> break
    od
}

inline take(n)
{
#ifdef TAKE_FIRST
    atomic { d = (bells < n - gone -> bells : n - gone); bells = bells - d; gone = gone + d };
    taken_away = n
#else
    taken_away = n;
    if
#ifndef NO_RECHECK
    :: head != tail
#endif
    :: else -> atomic { d = (bells < n - gone -> bells : n - gone); bells = bells - d; gone = gone + d }
    fi
#endif
}

inline watch(p)
{
#ifdef CLEAR_FIRST
    flag[p] = false;
    asleep[p] = true;
#else
    asleep[p] = true;
#ifndef CLEAR_LAST
    flag[p] = false;
#endif
#endif
    if
    :: in ->
        quiet = board && known;
#ifdef QUIET
        quiet = board;
#endif
        place = (quiet -> p + 1 : 0);
        n = rung;
        if
        :: quiet
        :: else -> take(n)
        fi
    :: else -> quiet = false
    fi;
    if
    :: out ->
        atomic {
            taken = (room == NOBODY || room == (known -> p + 2 : BELL));
#ifdef TAKE_OVER
            taken = true;
#endif
            room = (taken -> (known -> p + 2 : BELL) : room)
        };
        alone = !(known && taken);
#ifdef BELL_FOR_ROOM
        alone = alone && ended
#endif
    :: else -> alone = false
    fi;
#ifdef CLEAR_LAST
    flag[p] = false
#endif
}

inline unwatch(p)
{
    asleep[p] = false;
    if
    :: out ->
#ifdef CLEAR_ALWAYS
        room = NOBODY
#else
        atomic {
            if
            :: room == p + 2 -> room = NOBODY
            :: else
            fi
        }
#endif
    :: else
    fi;
    if
    :: in -> place = 0
    :: else
    fi
}

#define BYTES (in && head != tail)
#define SPACE (out && filled < SIZE)

proctype thread(byte p; bool reads)
{
    byte sent = 0, n, d;
    bool in, out, taken, alone, quiet;
    do
    :: sent == SENT && (!reads || tail == EACH) -> break
    :: else ->
        n = rung; /* remembered first: one that comes later belongs to bytes that come later */
        if
        :: reads && head != tail -> tail++
        :: reads && head == tail -> take(n)
        :: reads && tail < EACH -> (bells > 0) /* in the kernel */
        :: true
        fi;
        atomic {
            if
            :: sent < SENT && filled < SIZE -> filled++; sent++
            :: else
            fi
        };
        /* for what is left, or for room alone */
        out = sent < SENT;
        if
        :: in = reads && tail < EACH
        :: out -> in = false
        fi;
        if
        :: in || out ->
            watch(p);
            if
#ifndef NO_LOOK
            :: BYTES || SPACE
#endif
            :: else ->
                (event[p] > 0 || (in && !quiet && bells > 0) || alone);
                event[p] = 0
            fi;
            unwatch(p)
        :: else
        fi
    od
}

init {
    atomic {
        if
        :: board = true; known = true
        :: board = true
        :: skip
        fi;
        run thread(0, true);
        run thread(1, false);
        run other()
    }
}
