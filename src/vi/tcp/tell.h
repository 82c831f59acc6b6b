/* What the tcp provider knows of this host's interfaces and of the ways to a peer, in words. A face of vi for the
 * tools: viaduct info --net and viaduct doctor. */
#pragma once

#include "vi/vi.h"

/* Called with one line at a time, without a newline. */
struct tcp_teller {
    void (*line)(void *context, const char *text);
    void *context;
    const uint64_t *sent; /* bytes sent over each card, by its number; NULL: not known */
};

/* Every interface and address of this host, used or not, and why. */
int tcp_tell_host(const struct tcp_teller *to) MUST_CHECK;

/* Every pair of cards that may connect this nic and PEER, best first: used, with what the kernel measured on it, or why
 * not. By the thread that polls; tells nothing before a vi to PEER was made. */
void tcp_tell_peer(struct vi_nic *nic, uint32_t peer, const struct tcp_teller *to);

const char *tcp_tell_path(const struct vi *vi); /* the two cards that it joins */
