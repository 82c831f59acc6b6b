/* The sleep protocol of shm (doorbell.c, shm_publish) with store buffers. Checked by sleep.sh.
 *
 * A sender stores a cell and looks at the receiver's mark. The store goes to a buffer and becomes visible later; and the
 * processor may do the look before the store. Receiver's steps are exchanges: visible at once.
 *
 * The assumption, in its weakest form: whatever a sender had in flight (looked or stored, not yet visible) when SOON
 * became visible is visible when the receiver goes on to ASLEEP. In the code: SETTLE_NS lies between.
 *
 * Wanted: the receiver never sleeps for ever while a cell lies there. Spin finds that as an invalid end state.
 *
 * Broken on purpose, each must be found: -DNO_SETTLE (no time between SOON and ASLEEP), -DNO_FENCE (the sender looks
 * again without a fence), -DNO_SWEEP (the receiver does not look once more), -DOLD_BELL (the bell is read after the
 * mark is set). */
#define SENDERS 2
/* -DEAR: the sleep of who waits on descriptors. `bell` are the datagrams in his socket, which he empties before. */
#ifdef EAR
#define LISTEN bell = 0; value = 0
#else
#define LISTEN value = bell
#endif
#define EACH    2

mtype = { AWAKE, SOON, ASLEEP };

mtype mark = AWAKE;
byte bell = 0;
byte visible[SENDERS];   /* cells that the receiver can see */
byte taken[SENDERS];     /* cells that he took */
bool buffered[SENDERS];  /* a cell is in the store buffer */
bool flight[SENDERS];    /* between the first of look and store, and visibility */
bool before[SENDERS];    /* in flight when SOON became visible */

/* The store buffer of a sender drains whenever it likes. */
proctype buffer(byte s)
{
end:
    do
    :: atomic { buffered[s] -> buffered[s] = false; visible[s]++; flight[s] = false; before[s] = false }
    od
}

proctype sender(byte s)
{
    byte sent = 0;
    mtype seen;

    do
    :: sent < EACH ->
        !buffered[s];
        if
        :: atomic { flight[s] = true; buffered[s] = true }; seen = mark
        :: atomic { flight[s] = true; seen = mark }; buffered[s] = true
        fi;
        sent++;
        if
        :: seen == AWAKE -> skip
        :: else ->
#ifndef NO_FENCE
            !buffered[s];
#endif
            if
            :: atomic { mark == ASLEEP -> mark = SOON }; bell++ /* and wake */
            :: mark != ASLEEP
            fi
        fi
    :: else -> break
    od
}

proctype receiver()
{
    byte value;
    bool soon = false;

    do
    :: taken[0] == EACH && taken[1] == EACH -> break
    :: visible[0] > taken[0] -> taken[0]++
    :: visible[1] > taken[1] -> taken[1]++
    :: soon -> soon = false; mark = AWAKE
    :: visible[0] == taken[0] && visible[1] == taken[1] && taken[0] + taken[1] < SENDERS * EACH ->
        if
        :: !soon -> soon = true;
            atomic { mark = SOON; before[0] = flight[0]; before[1] = flight[1] }
        :: soon
        fi;
#ifndef NO_SETTLE
        !before[0] && !before[1];
#endif
#ifdef OLD_BELL
        mark = ASLEEP;
        LISTEN;
#else
        LISTEN;
        mark = ASLEEP;
#endif
        if
#ifndef NO_SWEEP
        :: visible[0] > taken[0] || visible[1] > taken[1] -> mark = SOON
#endif
        :: else ->
            bell != value; /* asleep: on the futex, or until a datagram is there */
            mark = AWAKE;
            soon = false
        fi
    od
}

init {
    atomic {
        run buffer(0);
        run buffer(1);
        run sender(0);
        run sender(1);
        run receiver()
    }
}
