/* One large message (src/msg/transfer.h): a sender, a receiver, the frames between them, and what moves the chunks.
 * Checked by transfer.sh, once for each way: -DPULL, -DSHARE, -DPUSHSLOT, -DPUSH.
 *
 * Wanted, as assertions: a chunk has one mover at a time; nothing is written after the receive is complete; nobody reads
 * the sender's buffer after the send is complete; each frame comes where it makes sense. That both sides end is an
 * invalid end state if they do not: every wait here blocks.
 *
 * One get or one put fails, wherever it likes. The sender may cancel once. Over a network (-DPUSH) one of two rails is
 * lost, and either side notices it first; so may be a rail with a get of the receiver (-DPULL).
 *
 * Broken on purpose, each must be found out:
 *   all         -DCANCEL_AT_ONCE (a cancelled send ends without the receiver's answer)
 *   PULL        -DNO_DRAIN (the rest is granted while a get is under way), -DNO_DONE, -DEARLY_AGAIN (a chunk of a lost
 *               rail is got again while that rail may still write)
 *   SHARE       -DTWO_PUTS (the sender has two puts under way), -DNO_DRAIN, -DNO_STOP (the sender pushes while its put is
 *               under way), -DEARLY_SLOT (the slot is given back when the rest is granted), -DEARLY_COUNT (a chunk is
 *               counted before it is there), -DNO_ANSWER (a sender that withdraws from a transfer that is over hears nothing)
 *   PUSHSLOT    -DSENT_EARLY (the send ends when nothing is left to claim), -DNO_DONE, -DNO_PARTIAL (a sender that cannot
 *               map the slot says nothing)
 *   PUSH        -DNO_FENCE (what a lost rail had goes over another at once), -DOPEN_FENCE (the receiver answers and the rail
 *               still writes), -DSENT_EARLY (the send ends when all is given to rails) */
#define N 3 /* chunks */

#ifdef NO_STOP
#define STOPPED true
#else
#define STOPPED (outgoing == 0)
#endif
#ifdef TWO_PUTS
#define ONE 2
#else
#define ONE 1 /* so what was put is one range at the end */
#endif
#ifdef NO_DRAIN
#define DRAINED true
#else
#define DRAINED (incoming == 0)
#endif

mtype = { GRANT, REGRANT, DATA, DONE, PARTIAL, CANCEL, CANCELLED, ASK, FENCE };
mtype = { ANNOUNCED, MOVING, ENDING, OVER };

chan s2r = [10] of { mtype, byte };
chan r2s = [10] of { mtype, byte, byte }; /* REGRANT: from, upto. CANCELLED: won. FENCE: chunks that landed, a bit each */

mtype sender = ANNOUNCED, receiver = ANNOUNCED;
bool moving[N];  /* somebody moves this chunk: from the first read of it to the last write */
bool there[N];
bool failed;     /* the one failure has happened */
byte reads;      /* moves under way that read the sender's buffer */

/* The slot. */
byte at_start, at_end, got, put;
bool closed, other; /* no claim succeeds; it belongs to another transfer, so its words tell nothing */

inline move_begin(c) {
    assert(!moving[c] && receiver != OVER && sender != OVER);
    moving[c] = true;
    reads++
}
inline move_end(c) {
    assert(receiver != OVER && sender != OVER);
    moving[c] = false;
    reads--
}
inline send_over() {
    assert(reads == 0);
    sender = OVER
}
inline receive_over() {
    assert(there[0] && there[1] && there[2]);
    receiver = OVER;
    other = true
}

/* ---- the sender -------------------------------------------------------------------------------------------------- */

bool putting[N];
byte outgoing;          /* of the sender, under way */
byte next, beyond;    /* what it pushes by itself */
bool pushing, cancelling, asked;
byte claimed, mine; /* of the slot */

inline data_send(c) {
    assert(!moving[c] && sender != OVER);
    moving[c] = true;
    s2r!DATA, c
}

#ifdef PUSH
byte rail[N];           /* 0: not given; else the rail and one */
bool lost, shut; /* rail 0: by the sender, by the receiver */
bool old[N];            /* NO_FENCE: on its way over the lost rail, and given again */
#endif

proctype S()
{
    byte a, b, c;
    do
    :: sender == OVER -> break
    :: else -> if
    :: atomic { sender == ANNOUNCED && !asked -> asked = true; cancelling = true; s2r!CANCEL, 0;
#ifdef CANCEL_AT_ONCE
        send_over()
#endif
        }
    :: atomic { r2s?CANCELLED, a, b ->
        if
        :: a -> assert(sender == ANNOUNCED); send_over()
        :: else -> cancelling = false
        fi }
    :: atomic { r2s?GRANT, a, b -> assert(sender == ANNOUNCED);
        sender = MOVING; next = 0; beyond = N;
#ifdef PUSH
        pushing = true;
#endif
#ifdef PUSHSLOT
        if
        :: true
        :: true -> sender = ANNOUNCED; /* the slot cannot be mapped */
#ifndef NO_PARTIAL
            s2r!PARTIAL, 0
#endif
            skip
        fi
#endif
        }
#ifdef SHARE
    :: atomic { sender == MOVING && !pushing && outgoing == 0 && at_start + at_end == 0 && !claimed ->
        s2r!PARTIAL, 0; sender = ANNOUNCED } /* the slot cannot be mapped */
    :: atomic { sender == MOVING && !pushing && outgoing < ONE && !other && !closed && at_start + at_end < N ->
        claimed = N - 1 - at_end; at_end++;
        move_begin(claimed); putting[claimed] = true; outgoing++;
#ifdef EARLY_COUNT
        put++;
#endif
        claimed = 1 }
    :: atomic { sender == MOVING && !pushing && outgoing == 0 && (other || closed || at_start + at_end == N) -> sender = ENDING }
    :: atomic { outgoing > 0 ->
        c = 0;
        do
        :: putting[c] -> break
        :: else -> c++
        od;
        putting[c] = false; outgoing--;
        if
        :: true -> move_end(c); there[c] = true;
#ifndef EARLY_COUNT
            put++;
#endif
        :: !failed -> failed = true; move_end(c);
            if
            :: pushing /* what was put by the old grant does not matter */
            :: else -> s2r!PARTIAL, 0; sender = ANNOUNCED
            fi
        fi }
    :: atomic { (sender == ENDING || sender == MOVING) && !pushing && outgoing == 0 && (other || got + put == N) -> send_over() }
#endif
#ifdef PUSHSLOT
    :: atomic { sender == MOVING && !pushing && !other && at_start < N ->
        c = at_start; at_start++; mine++; data_send(c);
        if
        :: mine == N -> send_over()
        :: else
        fi }
    :: atomic { sender == MOVING && !pushing && mine < N && (other || at_start == N) ->
#ifdef SENT_EARLY
        send_over()
#else
        sender = ENDING
#endif
        }
#endif
    :: atomic { r2s?REGRANT, a, b ->
        sender = MOVING; pushing = true; next = a; beyond = b }
#ifndef PUSH
    :: atomic { sender == MOVING && pushing && STOPPED -> data_send(next); next++;
        if
        :: next == beyond -> send_over()
        :: else
        fi }
    :: atomic { r2s?DONE, a, b -> assert(sender != MOVING || !pushing); send_over() }
#else
    :: atomic { sender == MOVING && !(rail[0] && rail[1] && rail[2]) ->
        if
        :: rail[0] == 0 -> c = 0
        :: rail[1] == 0 -> c = 1
        :: rail[2] == 0 -> c = 2
        fi;
        if
        :: !lost -> rail[c] = 1
        :: rail[c] = 2
        fi;
        move_begin(c) }
    :: atomic { sender == MOVING && rail[0] && rail[1] && rail[2] ->
#ifdef SENT_EARLY
        send_over()
#else
        sender = ENDING
#endif
        }
    :: atomic { !lost && sender != OVER -> lost = true; s2r!ASK, 0;
#ifdef NO_FENCE
        c = 0;
        do
        :: c == N -> break
        :: else ->
            if
            :: rail[c] == 1 && moving[c] -> rail[c] = 0; move_end(c); old[c] = true; sender = MOVING
            :: else
            fi;
            c++
        od
#endif
        }
    :: atomic { r2s?FENCE, a, b -> lost = true;
#ifndef NO_FENCE
        c = 0;
        do
        :: c == N -> break
        :: else ->
            if
            :: rail[c] == 1 && !(a >> c & 1) -> rail[c] = 0; move_end(c); sender = MOVING
            :: else
            fi;
            c++
        od
#endif
        }
    :: atomic { r2s?DONE, a, b -> assert(sender == ENDING || (rail[0] && rail[1] && rail[2])); send_over() }
#endif
    fi
    od;
end:
    do /* it has ended; answers to a cancel, and fences, may still come */
    :: atomic { r2s?a, b, c -> assert(a == CANCELLED || a == FENCE) }
    od
}

/* ---- the receiver ------------------------------------------------------------------------------------------------ */

bool getting[N];
byte incoming;       /* under way */
byte nextget, most; /* what it pulls by itself: the next chunk, and where that ends */
bool alone;      /* the sender is out: it pulls the rest, or all */
bool broken;     /* a get failed */
bool granted;    /* the rest is granted to the sender */
byte need;       /* chunks of that */
byte stranded;   /* PUSHSLOT: the chunk that could not be got, and one */
bool any;        /* PUSHSLOT: it got some */
bool cut;        /* PULL: a rail was lost */
byte dead, again; /* the chunk that was under way on it, and one; then, when the rail is closed, the one to be begun again */

inline get_begin(c) {
    move_begin(c);
    getting[c] = true;
    incoming++
}
inline answer_cancel() {
    r2s!CANCELLED, 0, 0
}
/* The rest from the first chunk that is not there. */
inline grant_rest() {
    closed = true;
    c = 0;
    do
    :: c < N && there[c] -> c++
    :: else -> break
    od;
#ifdef EARLY_SLOT
    other = true;
#endif
    need = N - c;
    again = 0;
    granted = true;
    r2s!REGRANT, c, N
}

proctype R()
{
    mtype k;
    byte a, c;
    bool won = false;
    do /* not matched */
    :: atomic { s2r?CANCEL, a -> r2s!CANCELLED, 1, 0; won = true; break }
    :: true -> break
    od;
    if
    :: won -> goto end
    :: else
    fi;
    atomic {
        receiver = MOVING;
        most = N;
#ifdef PULL
        alone = true
#else
        r2s!GRANT, 0, N
#endif
    };
    do
    :: receiver == OVER -> break
    :: else -> if
    :: atomic { s2r?CANCEL, a -> answer_cancel() }
    /* incoming begin */
#ifndef PUSH
    :: atomic { receiver == MOVING && alone && !broken && !granted && nextget < most && incoming < 2 -> c = nextget; nextget++; get_begin(c) }
#endif
#ifdef PULL
    :: atomic { receiver == MOVING && again && !broken && !granted && incoming < 2 -> c = again - 1; again = 0; get_begin(c) }
    :: atomic { incoming > 0 && !cut -> cut = true;
        if
        :: getting[0] -> dead = 1
        :: getting[1] -> dead = 2
        :: getting[2] -> dead = 3
        fi;
#ifdef EARLY_AGAIN
        again = dead
#endif
        }
    :: atomic { dead > 0 -> c = dead - 1; dead = 0; getting[c] = false; incoming--; move_end(c); again = c + 1 }
#endif
#ifdef SHARE
    :: atomic { receiver == MOVING && !alone && !broken && !granted && !closed && incoming < 2 && at_start + at_end < N ->
        c = at_start; at_start++; nextget++; get_begin(c) }
    :: atomic { receiver == MOVING && !alone && !broken && !granted && incoming == 0 && got + put == N -> receive_over() }
    :: atomic { s2r?PARTIAL, a ->
        if
        :: granted
        :: else -> alone = true; closed = true; most = N - put
        fi }
#endif
#ifdef PUSHSLOT
    :: atomic { s2r?PARTIAL, a ->
        if
        :: granted
        :: else -> alone = true; closed = true; nextget = at_start
        fi }
    :: atomic { receiver == MOVING && !alone && !broken && !granted && incoming < 1 && at_start < N ->
        c = at_start; at_start++; any = true; get_begin(c) }
    :: atomic { receiver == MOVING && !alone && broken && !granted && there[0] + there[1] + there[2] == N - 1 ->
        need = 1; granted = true; r2s!REGRANT, stranded - 1, stranded }
    :: atomic { receiver == MOVING && !alone && !granted && incoming == 0 && there[0] && there[1] && there[2] ->
        if
        :: any ->
#ifndef NO_DONE
            r2s!DONE, 0, 0
#endif
            skip
        :: else
        fi;
        receive_over() }
#endif
    /* incoming end */
    :: atomic { incoming > (dead > 0) ->
        if
        :: getting[0] && dead != 1 -> c = 0
        :: getting[1] && dead != 2 -> c = 1
        :: getting[2] && dead != 3 -> c = 2
        fi;
        getting[c] = false; incoming--; move_end(c);
        if
        :: true -> there[c] = true; got++
        :: !failed -> failed = true; broken = true; stranded = c + 1
        fi }
#ifdef PUSHSLOT
    :: atomic { receiver == MOVING && alone && broken && !granted && DRAINED -> grant_rest() }
#else
    :: atomic { receiver == MOVING && broken && !granted && DRAINED -> grant_rest() }
#endif
    :: atomic { receiver == MOVING && alone && !broken && !granted && !again && incoming == 0 && nextget == most ->
#ifndef NO_DONE
        r2s!DONE, 0, 0;
#endif
        receive_over() }
#ifdef PUSH
    :: atomic { receiver != OVER && !shut -> shut = true; r2s!FENCE, (there[0] && rail[0] == 1) + 2 * (there[1] && rail[1] == 1) + 4 * (there[2] && rail[2] == 1), 0 }
    :: atomic { s2r?ASK, a ->
        if
        :: !shut ->
#ifndef OPEN_FENCE
            shut = true;
#endif
            r2s!FENCE, (there[0] && rail[0] == 1) + 2 * (there[1] && rail[1] == 1) + 4 * (there[2] && rail[2] == 1), 0
        :: else
        fi }
    :: atomic { receiver == MOVING && there[0] && there[1] && there[2] -> r2s!DONE, 0, 0; receive_over() }
#endif
    /* parts come */
    :: atomic { s2r?DATA, c ->
        assert(moving[c] && !getting[c]);
        moving[c] = false; there[c] = true;
        if
        :: granted -> need--
        :: else
        fi;
        if
        :: granted && need == 0 -> assert(incoming == 0); receive_over()
        :: else
        fi }
    fi
    od;
end:
    do
    :: atomic { s2r?k, a ->
        if
        :: k == CANCEL -> if :: won :: else -> answer_cancel() fi
        :: k == PARTIAL ->
#if !defined(NO_ANSWER) && !defined(PUSHSLOT) /* there it has said DONE before */
            r2s!DONE, 0, 0
#endif
            skip
        :: k == ASK
        :: else -> assert(false)
        fi }
    od
}

#ifdef PUSH
/* The network: what was given to a rail lands, unless the receiver has closed it. */
proctype wire()
{
    byte c;
end:
    do
    :: atomic {
        if
        :: rail[0] && !there[0] && moving[0] && !(shut && rail[0] == 1) -> c = 0
        :: rail[1] && !there[1] && moving[1] && !(shut && rail[1] == 1) -> c = 1
        :: rail[2] && !there[2] && moving[2] && !(shut && rail[2] == 1) -> c = 2
        fi;
        move_end(c); there[c] = true }
#ifdef NO_FENCE
    :: atomic { old[0] && !shut -> assert(receiver != OVER && !moving[0] && !there[0]); old[0] = false }
    :: atomic { old[1] && !shut -> assert(receiver != OVER && !moving[1] && !there[1]); old[1] = false }
#endif
    od
}
#endif

init {
    atomic {
        run S();
        run R();
#ifdef PUSH
        run wire()
#endif
    }
}
