/* Memory that was granted to be written into, and the fence of a connection that is lost (src/vi/verbs/pair.c,
 * src/msg/replay.h). Checked by fence.sh.
 *
 * A sender puts chunks of one message over two connections, each with an immediate. The receiver counts immediates, and
 * the receive is complete when there is one of each chunk; then the memory belongs to the program again. One connection
 * is lost, and either side notices it first. The receiver fences it: queue pair to its error state, completions taken,
 * queue pair destroyed, then it tells how many chunks it has counted. The sender puts what comes behind that number once
 * more, over the other connection.
 *
 * The receiving adapter writes a chunk first and queues its completion later. In the error state it begins nothing new,
 * but what it has begun goes on; a completion may come of it, or none. Only the end of destroying means that it is idle.
 *
 * Wanted, as assertions: nothing is written after the receive is complete, and a complete receive has every chunk. That
 * both sides end is an invalid end state if they do not.
 *
 * Broken on purpose, each must be found: -DFENCE_FIRST (the count is told in the error state), -DNO_DESTROY (it is told
 * when the completions were taken), -DKEEP_LATE (completions that come after the count are counted as well), -DNO_COUNT
 * (it is told that nothing came), -DNO_FENCE (the sender puts everything again when it notices the loss), -DTOUCH_EARLY
 * (the receive is complete when its bytes are there, without their immediates). */
#define N 3

mtype = { OPEN, FAILED, GONE };

mtype pair[2] = OPEN;      /* the receiver's queue pairs; connection 0 may be lost */
bool busy[2];              /* the adapter writes for it */
chan wire0 = [N] of { byte };
chan wire1 = [2 * N] of { byte };
chan completions = [3 * N] of { byte, byte };
chan fence = [1] of { byte };
bool there[N], complete;

inline wire_take(r, c)
{
    if
    :: r == 0 -> wire0?c
    :: else -> wire1?c
    fi
}

proctype adapter(byte r)
{
    byte c;
end:
    do
    :: atomic { pair[r] == OPEN && ((r == 0 && nempty(wire0)) || (r == 1 && nempty(wire1))) ->
                wire_take(r, c); busy[r] = true; assert(!complete) };
        atomic { assert(!complete); there[c] = true };
        if
        :: pair[r] != GONE -> completions!r, c
        :: pair[r] == FAILED
        fi;
        busy[r] = false
    od
}

proctype sender()
{
    byte next = 0, given = 0, back = 0, count = 0;
    byte list[N];
    bool lost = false, fenced = false;
    do
    :: next < N ->
        if
        :: !lost -> wire0!next; list[given] = next; given++
        :: wire1!next
        fi;
        next++
    :: !lost && !complete ->
        lost = true;
#ifdef NO_FENCE
        fenced = true
#endif
    :: !fenced && nempty(fence) -> fence?count; lost = true; fenced = true; back = count; assert(count <= given)
    :: fenced && back < given -> wire1!list[back]; back++
    :: complete -> break
    od
}

inline count_one()
{
    if
    :: known[r] ->
        came = (r == 0 -> came + 1 : came);
        counted++
    :: else
    fi
}

proctype receiver()
{
    byte r, c, came = 0, counted = 0;
    bool known[2], noticed = false;
    known[0] = true;
    known[1] = true;
    do
    :: !complete && nempty(completions) -> completions?r, c; count_one()
    :: !complete && counted >= N ->
        atomic { complete = true; assert(there[0] && there[1] && there[2]) }
#ifdef TOUCH_EARLY
    :: !complete && there[0] && there[1] && there[2] -> complete = true
#endif
    :: !complete && !noticed ->
        noticed = true;
        pair[0] = FAILED;
#ifdef FENCE_FIRST
        fence!came;
#endif
        do
        :: completions?r, c -> count_one()
        :: empty(completions) -> break
        od;
#ifdef NO_DESTROY
        fence!came;
#endif
#ifndef KEEP_LATE
        known[0] = false;
#endif
#ifndef NO_DESTROY
        atomic { !busy[0] -> pair[0] = GONE };
#endif
#ifdef NO_COUNT
        came = 0;
#endif
#if !defined(FENCE_FIRST) && !defined(NO_DESTROY)
        fence!came
#endif
    :: complete -> break
    od
}

init {
    atomic {
        run adapter(0);
        run adapter(1);
        run sender();
        run receiver()
    }
}
