/* The fault provider: wraps a nic of another provider and spoils what passes, by a script: fault_words or, where that is NULL,
 * FAULT in the environment. Tests of vi and msg are linked to it; a program with libviaduct has it by LD_PRELOAD.
 *
 *   delay=50us        what arrives is held back for a time between half of this and all of it
 *   reorder=10%       so often a frame is held back ten times longer; frames of other vis pass it (and those of its own,
 *                     where the provider does not promise order)
 *   refuse=10%        so often a send is answered "try again"
 *   late-put          puts and gets are done later, from poll, and told by the sink
 *   ghosts=20         ... and a link is lost with its 20th put; what it holds then is done all the same, a while after it was
 *                     told down, as if a network or a card had kept it
 *   drop-link=3@100   the link to rank 3 is lost after 100 frames, sent or received; what is held back is lost, too
 *   die@1000          the process kills itself at its 1000th frame
 *   rank=2            all this only in rank 2
 *   seed=7            the same seed gives the same faults for the same sequence of calls
 *
 * It keeps the contract: order, one "down" per vi, everything taken that the provider below shows, and no sleep while
 * something is held. */
#ifndef TESTS_FAULT_FAULT_H
#define TESTS_FAULT_FAULT_H

#include "vi/vi.h"

#define FAULT_ALL_RANKS UINT64_MAX

struct fault_script {
    uint64_t delay_ns;
    uint32_t refuse, reorder; /* of 10,000 */
    uint32_t drop_peer;
    uint64_t drop_at, die_at; /* frames; 0 never */
    uint64_t rank;            /* or FAULT_ALL_RANKS */
    uint64_t seed;
    uint64_t ghosts; /* puts; 0 never */
    bool late_put;
};

/* ERR_ARGUMENT names the word that is not understood. */
int fault_script_parse(const char *text, struct fault_script *script) MUST_CHECK;

extern const char *fault_words;

/* For tests, on a nic that is wrapped: lose the link to this peer at the next poll; frames seen so far. */
void fault_drop(struct vi_nic *nic, uint32_t peer);
uint64_t fault_frames(const struct vi_nic *nic);

#endif
