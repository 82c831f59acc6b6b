/* What is known of the interfaces of this host and of the ways to a peer over network cards, in words. A face of vi for
 * the tools: viaduct info --net and viaduct doctor. */
#pragma once

#include "vi/vi.h"

/* Called with one line at a time, without a newline. */
struct call_reporter {
    void (*line)(void *context, const char *text);
    void *context;
    const uint64_t *sent; /* bytes sent over each card, by its number; NULL: not known */
};

/* Every interface and address of this host, used or not, and why. */
int call_report_host(const struct call_reporter *to) MUST_CHECK;

/* Every pair of cards that may connect this nic and PEER, best first: used, with what the kernel measured on it, or why
 * not. By the thread that polls; reports nothing before a vi to PEER was made. */
void call_report_peer(struct vi_nic *nic, uint32_t peer, const struct call_reporter *to);
