/* One direction of a connection goes from TCP to the ring and back (src/sock/direction.h). Checked by models.sh.
 *
 * The writer may switch at any byte, and may go back at any byte; so may the reader, which reads on what lies there (its
 * program leaves it to another one). While the ring is in use TCP carries nothing but bells, which are counted before they are sent; who goes back ends the count.
 * Sent and consumed bytes of the socket are known to both (the kernel tells).
 * The reader sleeps in the kernel on the TCP socket alone, as one does that waits past our functions.
 *
 * Wanted: all bytes arrive once and in order (assertions), nobody waits for ever (invalid end state).
 *
 * Broken on purpose, each must be found: -DLATE_COUNT (a bell is sent before it is counted), -DLATE_SWITCH (the offset is
 * published after the first bell), -DNO_RELOAD (the offset is read before bytes were seen in the socket),
 * -DEAT_ALL (bells are taken from the socket without looking at the ring after their number was read),
 * -DNO_END (going back does not end the count). */
#define N 4
#define BELL 0
#define NEVER 200

chan tcp = [10] of { byte };
byte sent;                   /* bytes that the writer's kernel took */
byte at = NEVER;             /* offset in TCP's stream where the ring begins */
byte head, tail, bells;
bool closed, ended;          /* no more bytes in the ring; no more bells */

proctype writer()
{
    byte next = 1, old;
    bool may;
    bool late = false;

    do
    :: next <= N -> atomic { tcp!next; sent++; next++ }
    :: next <= N -> break
    :: next > N -> goto done
    od;
#ifdef LATE_SWITCH
    late = true;
#else
    at = sent;
#endif
    do
    :: next <= N ->
        atomic { old = head; may = !closed; if :: may -> head++; next++ :: else fi };
        if
        :: !may -> break
        :: may && tail == old ->
#ifdef LATE_COUNT
            atomic { tcp!BELL; sent++ };
            bells++
#else
            atomic { may = !ended; if :: may -> bells++ :: else fi };
            if
            :: may -> atomic { tcp!BELL; sent++ }
            :: else
            fi
#endif
        :: may && tail != old
        fi;
        if
        :: late -> at = sent - bells; late = false
        :: else
        fi
    :: next <= N -> closed = true; break
    :: next > N -> goto done
    od;
#ifndef NO_END
    ended = true;
#endif
    do
    :: next <= N -> atomic { tcp!next; sent++; next++ }
    :: else -> break
    od;
done:
}

proctype reader()
{
    byte got = 0, consumed = 0, x, n, where;

    /* TCP, before the switch: bytes are looked at first, and taken when the offset has been read after that */
    do
    :: got == N -> goto done
#ifdef NO_RELOAD
    :: consumed == sent -> where = at; nempty(tcp);
#else
    :: nempty(tcp) -> where = at;
#endif
        if
        :: where != NEVER && consumed == where -> break
        :: else -> tcp?x; consumed++; assert(x == got + 1); got++
        fi
    :: at != NEVER && consumed == at -> break
    :: at != NEVER && !closed -> closed = true
    od;
    /* the ring */
    do
    :: got == N -> goto done
    :: head != tail && !closed -> closed = true
    :: head != tail -> tail++; got++
    :: head == tail && closed -> break
    :: else ->
        if
        :: atomic { head == tail && !closed -> closed = true }; break
        :: n = bells;
            if
#ifndef EAT_ALL
            :: head != tail
#endif
            :: else ->
#ifdef EAT_ALL
                n = bells;
#endif
                do
                :: consumed < at + n && nempty(tcp) -> tcp?x; consumed++; assert(x == BELL)
                :: else -> break
                od;
                nempty(tcp)
            fi
        fi
    od;
#ifndef NO_END
    /* the last number of bells: the reader ends the count itself where it went back first */
    ended = true;
#endif
    n = bells;
    do
    :: consumed < at + n -> tcp?x; consumed++; assert(x == BELL)
    :: else -> break
    od;
    /* TCP again */
    do
    :: got == N -> break
    :: tcp?x -> assert(x == got + 1); got++
    od;
done:
}

init {
    atomic {
        run writer();
        run reader()
    }
}
