/* One port on every card of a host. Called by the listener (door.c); the sockets are the caller's.
 *
 * A host answers on any card for the addresses of all of them. A rail that comes in by another card than it is meant
 * for would be no rail of its own, so each socket listens on its card alone. The address of a tunnel may be meant to be
 * reached by any. */
#include "vi/tcp/door.h"


/* The ports that may be used, 0 to 0: any. */
static int port_range(uint32_t *low, uint32_t *high)
{
    const char *text = vbase_environment("MPIEXEC_PORT_RANGE");
    char end;
    *low = *high = 0;
    if (!text || text[0] == '\0')
        return OK;
    if (sscanf(text, "%u:%u%c", low, high, &end) != 2 || *low == 0 || *low > *high || *high > 65535)
        return vbase_fail(ERR_ARGUMENT, "MPIEXEC_PORT_RANGE is \"%s\", not two ports like 20000:20100", text);
    return OK;
}

/* All cards on one port; false: some address has no such port. */
static bool listen_at(struct tcp_cards *cards, int listener[TCP_CARDS], uint16_t port)
{
    struct tcp_address address;
    for (int i = 0; i < cards->count; i++) {
        const struct tcp_card *card = &cards->card[i];
        listener[i] = tcp_card_socket(card, port, card->kind != TCP_KIND_TUNNEL, false);
        if (listener[i] >= 0 && listen(listener[i], 4096) < 0)
            listener[i] = tcp_close_failed(listener[i]);
        if (listener[i] < 0) {
            while (i > 0)
                (void)tcp_close_failed(listener[--i]);
            return false;
        }
        port = port ? port : tcp_end_of(listener[i], false, &address);
    }
    cards->port = port;
    return true;
}

/* Listeners of several jobs on one host begin the search at different places of the range. */
int tcp_listen(struct tcp_cards *cards, int listener[TCP_CARDS])
{
    uint32_t low, high, span, start;
    int error = port_range(&low, &high);
    bool open = false;
    if (error)
        return error;
    span = high - low + 1;
    start = (uint32_t)getpid() % span;
    for (uint32_t i = 0; low && !open && i < span; i++)
        open = listen_at(cards, listener, (uint16_t)(low + (start + i) % span));
    for (int i = 0; !low && !open && i < (int)TUNED(TCP_PORT_TRIES); i++)
        open = listen_at(cards, listener, 0);
    return open ? OK
                : vbase_fail_errno(ERR_SYSTEM,
                                   low ? "no port from %u to %u can be listened on" : "listening on all cards", low,
                                   high);
}
