/* The nics that are open, and the networks that channels asked for. */
#pragma once

#include "msg/engine.h"

struct msg_networks {
    struct vi_nic *nic[MSG_NETWORKS]; /* of each but the first */
    const struct vi_sink *sink;       /* of all nics */
    bool node;                        /* one that is open reaches the ranks of this node alone */
    int tried;                        /* networks that were tried, the first included, */
    int tried_as[MSG_NETWORKS];       /* and the number of each among those: the name of its addresses */
    uint32_t processors;              /* that this rank may use */
    const _Atomic uint32_t *asleep;   /* ranks of this node that sleep; NULL: not counted */
    struct call_listener *listener;     /* the listener of the node, if this rank runs it; else NULL */
    struct call_seat *seat;             /* of this rank there, for the nics that are opened at start */
};
extern struct msg_networks vmsg_networks;

int vmsg_nics_open(const struct vi_sink *sink) MUST_CHECK;
void vmsg_nics_close(void);
struct vi_setup vmsg_nic_setup(void);
/* Addresses: address.c. TRIED: the number of a network among those that were tried. */
#define MSG_WAYS       4 /* nics that have an address */
#define MSG_CARD_TEXT  1024
#define MSG_CARDS_TEXT (MSG_WAYS * MSG_CARD_TEXT)
int vmsg_cards_put(struct vi_nic *const *nic, uint32_t count, int tried) MUST_CHECK;
int vmsg_cards_get(int world, int tried, char text[MSG_CARDS_TEXT]) MUST_CHECK;
/* that of the peer's nic of the same kind; false: it has none */
bool vmsg_card_find(const char *text, const struct vi_nic *nic, char card[MSG_CARD_TEXT]);

bool vmsg_nic_remote(int network, int world); /* reached by a nic whose polls cost */
bool vmsg_nics_poll(int budget); /* progress held */
/* awake ranks of this node, and MORE threads, outnumber processors: a hint */
bool vmsg_crowded(uint32_t more);
bool vmsg_nics_shared_processor(void);      /* does another rank that is awake wait where we do? A hint */
void vmsg_nics_tell(enum vi_arm what);      /* that a sleep may come, or that we are awake */
bool vmsg_nics_arm(struct vi_wait *from);   /* what to sleep on, of every nic. False: one of them has something */
