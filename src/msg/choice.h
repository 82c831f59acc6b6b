/* Which way a large message from a peer on this host goes: by what transfers lately took. See choice.c. */
#ifndef MSG_CHOICE_H
#define MSG_CHOICE_H

#include "base/base.h"

enum msg_way {
    MSG_WAY_FRAMES, /* two copies at once, in a pipeline */
    MSG_WAY_JOINT,  /* one copy, get and put from both ends */
    MSG_WAY_GET,    /* one copy, by the receiver alone */
    MSG_WAYS
};

/* Of one size class. Costs are ticks for 64 KiB. */
struct msg_ways {
    uint32_t cost[MSG_WAYS]; /* of the best way a moving average, of the others what their last trial showed; 0: nothing yet */
    uint32_t reference;      /* the best one's when the others were last tried */
    uint32_t least, lost;    /* of the trial under way */
    uint16_t left;           /* transfers until the next trial */
    uint16_t gap;            /* the least number from one to the next; 0: nothing happened yet */
    uint16_t told;           /* of the trial under way: transfers that are still to tell something, */
    uint8_t silent;          /* and that told nothing */
    uint8_t skipped, skip;   /* trials of frames since one went on in vain, and how many before the next one may */
    uint8_t best, trial;     /* trial: the way that is or was tried last */
    uint8_t first;           /* the guess that was heard last */
    uint8_t theirs;          /* one more than the way that the other side chose last for ours; 0: none yet */
    bool second;             /* its second part */
    bool outlier;            /* the best one's last time was one */
    uint8_t share;           /* see vmsg_choice_share; 0: not known yet */
};

#define MSG_WAY_CLASSES 9 /* by powers of two: below 32 KiB, ..., from 4 MiB on */
struct msg_choice {
    uint64_t ended;  /* ticks, when the last transfer did */
    uint64_t framed; /* bytes that came in frames */
    bool overtaken;  /* somebody overtook the one under way */
    struct msg_ways ways[MSG_WAY_CLASSES];
};

/* The way for a message of BYTES, out of the set ALLOWED (a bit each); FIRST: the guess while nothing is known; when
 * it becomes another one, all are tried anew. */
enum msg_way vmsg_choice_take(struct msg_choice *choice, uint64_t bytes, unsigned allowed, enum msg_way first) MUST_CHECK;

enum msg_order {
    MSG_ORDER_ALONE,    /* nothing else of this peer was under way that the sender works on */
    MSG_ORDER_BESIDE,   /* he may have worked on later ones meanwhile: its time says nothing */
    MSG_ORDER_OVERTOOK, /* he moved it while one before it was under way: neither its time says anything, nor is it taken from that one's */
};

/* A transfer that went this way took from BEGAN until NOW, in ticks; BEGAN 0: it did not end as it began, and its time says
 * nothing. Every transfer that was taken is told, not always in the order of their ends. */
void vmsg_choice_told(struct msg_choice *choice, uint64_t bytes, enum msg_way way, uint64_t began, uint64_t now,
                      enum msg_order order);

/* The other side chose this way for a message of ours; the last one that it chose, where that is allowed. */
void vmsg_choice_heard(struct msg_choice *choice, uint64_t bytes, enum msg_way way);
enum msg_way vmsg_choice_follow(const struct msg_choice *choice, uint64_t bytes, unsigned allowed, enum msg_way first) MUST_CHECK;

/* Of a message that both ends copy in two parts: the receiver's, in 256ths. Whoever is ready first does more the next time. */
uint8_t vmsg_choice_share(const struct msg_choice *choice, uint64_t bytes, bool alone); /* BYTES: not 0; ALONE: no other waits */
void vmsg_choice_balance(struct msg_choice *choice, uint64_t bytes, bool first); /* FIRST: it was the receiver */

#endif
