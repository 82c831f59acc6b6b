/* Matching: contexts, their members, messages that have no receive yet. */
#ifndef MSG_MATCH_H
#define MSG_MATCH_H

#include "msg/peer.h"

#define MSG_INLINE 80          /* unexpected payload that lies inside its message */

/* A rank of a context that somebody talked to: where its messages and the receives for it wait. */
struct msg_member {
    struct msg_peer *peer;
    int rank; /* in the context */
    struct list posted, unexpected;
};

struct msg_context {
    struct msg_member **member; /* by rank in the context, NULL until used */
    int *world;                 /* world rank of each rank; NULL: the same */
    int *rank_of;               /* the inverse, -1: no member; NULL: the same */
    int rank, size;
    uint32_t id;
    bool noted;                 /* messages carry notes */
    int network;                /* over which its members are reached */
    struct base_lock lock;
    uint64_t order;             /* of the next receive posted */
    struct list wildcard;       /* receives from any source */
    struct list arrivals;       /* every unexpected message, as they came */
    bool listened;              /* the engine's listener hears it first */
    struct msg_member *last;    /* whose message was received from anyone by the short way last; NULL: nobody's */
    uint32_t guesses;           /* that the next one is his, too */
};

/* What is known of a message when it comes. */
struct msg_envelope {
    struct msg_peer *peer;
    const void *payload;       /* of an eager message */
    struct msg_request *local; /* of a message to ourselves whose payload still lies with its sender */
    uint64_t total;            /* bytes of the message */
    uint64_t id;               /* of the sender's transfer, 0: he awaits nothing */
    struct vi_key key;
    int source, tag;           /* source: rank in the context */
    uint8_t frame;             /* enum msg_frame */
    bool fetchable;            /* the key is valid */
    struct msg_note *note;     /* belongs to it; NULL: none */
};

/* A message without a receive. */
struct msg_message {
    struct list_node of_member;  /* unlinked: taken out by a matched probe */
    struct list_node of_context; /* also in the engine's early list */
    struct msg_context *context;
    uint32_t context_id;
    struct msg_envelope envelope;
    void *block; /* holds the payload when it is longer than `near` */
    unsigned char near[MSG_INLINE];
};

/* What a blocking receive waits for, if one eager frame can be all of it: then the sink compares two words and is done,
 * without matching. Only while there is one thread, and only when no other receive of the context and no message of the
 * sender is queued. Whatever else comes in between, or is posted, turns it into a posted request first. */
struct msg_expected {
    uint64_t header;         /* 0: nothing is expected */
    struct msg_peer *peer;   /* from anyone: who may be it; NULL: nobody is guessed */
    void *data;
    uint64_t room;
    struct msg_result *result; /* tag is set, and source, if there is a peer */
    struct msg_request *request; /* on the stack of the call; only its state is set */
    struct msg_member *member; /* NULL: anyone for whom no receive is posted */
};
extern struct msg_expected vmsg_expected;
void vmsg_expected_post(void) COLD; /* from now on it is a posted request like any other */

extern struct base_pool vmsg_members, vmsg_messages;
extern struct list vmsg_early; /* messages for contexts that are not open yet, as they came; under progress */

/* ---- match.c: context lock held ---- */
struct msg_request *vmsg_match_arrival(struct msg_context *context, struct msg_member *member, int tag);
struct msg_message *vmsg_match_posting(struct msg_context *context, struct msg_member *member, int tag);
void vmsg_match_post(struct msg_context *context, struct msg_member *member, struct msg_request *request);
void vmsg_match_keep(struct msg_context *context, struct msg_member *member, struct msg_message *message);
void vmsg_match_take(struct msg_message *message); /* out of the lists */
struct msg_message *vmsg_match_sent(struct msg_member *member, uint64_t id);

/* ---- context.c ---- */
int vmsg_member_find(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* takes the lock */
int vmsg_member_make(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* lock held */
void vmsg_contexts_close(void);
static inline int vmsg_context_rank_of(const struct msg_context *context, int world)
{
    return context->rank_of ? context->rank_of[world] : world;
}

/* ---- message.c: messages that come ---- */
void vmsg_message_arrived(uint32_t context_id, struct msg_envelope *envelope);
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope) MUST_CHECK;
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope);
void vmsg_message_give(struct msg_message *message, struct msg_request *request); /* deliver and free */
void vmsg_message_forget(struct msg_message *message);
void vmsg_message_drop(struct msg_message *message);

/* ---- note.c ---- */
int vmsg_note_send(struct msg_request *request) MUST_CHECK; /* peer lock held; before its message */
void vmsg_note_arrived(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_note_of_self(const struct msg_request *request, struct msg_envelope *envelope);
void vmsg_note_give(const struct msg_request *request, const struct msg_note *note);

/* ---- listen.c ---- */
bool vmsg_listener_turn(void); /* no lock held: true: it had one */
/* Under progress: how many were taken. */
uint32_t vmsg_listened(struct msg_context *context, struct vi *vi, uint64_t header, const char *data, size_t length,
                       uint32_t count);

/* Somebody has died, and this is a context of pack's, which looks who is left before it waits for anyone. */
static inline bool msg_context_bereaved(const struct msg_context *context)
{
    return atomic_load_explicit(&vmsg_engine.deaths, memory_order_relaxed) && context->id >= MSG_CONTEXT_PACK &&
           context->id < MSG_CONTEXT_PACK + MSG_CONTEXTS_PACK;
}

/* ---- cancel.c ---- */
void vmsg_request_abandon(struct msg_request *request, int error);
void vmsg_cancel_asked(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_cancel_answered(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);

/* ---- self.c ---- */
int vmsg_self_send(struct msg_request *request, struct msg_member *member) MUST_CHECK;
void vmsg_self_copy(struct msg_request *receive, struct msg_request *send);

/* ---- sink.c ---- */
extern const struct vi_sink vmsg_sink;
uint32_t vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count);
void vmsg_sink_done(struct vi *vi, void *cookie, int status);

/* ---- launch.c, queue.c, leave.c ---- */
int vmsg_send_launch(struct msg_request *request) MUST_CHECK; /* peer lock held */
void vmsg_send_forsake(struct msg_request *request) COLD; /* peer lock held: the peer has left, so it is over unless it left before */
void vmsg_death_look(void); /* no lock held, outside progress */

#endif
