/* Matching: contexts, their members, messages that have no receive yet. */
#pragma once

#include "msg/peer.h"
#include "type/layout.h"

#define MSG_INLINE 104         /* unexpected payload that lies inside its message */

/* A rank of a context that was used: where its messages and the receives for it wait. */
struct msg_member {
    struct msg_peer *peer;
    int rank; /* in the context */
    struct list posted, unexpected;
};

struct msg_context {
    struct msg_member **member; /* by rank in the context, NULL until used */
    int *world;                 /* world rank of each rank; NULL: the same, all of the world are members */
    int *rank_of;               /* the inverse, -1: no member; NULL: the same */
    struct base_members *rows;  /* the same for the note of a wait, see waits_for.c; NULL: not told yet */
    int rank, size;
    uint32_t id;
    uint64_t eager;             /* header of an eager message in it, but for its tag */
    bool noted;                 /* messages carry notes */
    bool withdrew;              /* this rank, from an operation in it */
    int network;                /* over which its members are reached */
    struct base_lock lock;
    uint64_t order;             /* of the next receive posted */
    struct list wildcard;       /* receives from any source */
    struct list arrivals;       /* every unexpected message, as they came */
};

/* Of memory of the other side: one for all rails as the last, or of pairs of cards. */
struct msg_keys {
    struct msg_frame_key at[MSG_KEYS];
    uint8_t count;
};

/* What is known of a message when it comes. */
struct msg_envelope {
    struct msg_peer *peer;
    const void *payload;       /* of an eager message */
    struct msg_request *local; /* of a message to ourselves whose payload still lies with its sender */
    uint64_t total;            /* bytes of the message */
    uint64_t id;               /* of the sender's transfer, 0: it awaits nothing */
    const struct msg_keys *keys; /* of the sender's buffer; NULL: none */
    int source, tag;           /* source: rank in the context */
    uint8_t frame;             /* enum msg_frame */
    const struct msg_note *note; /* NULL: none */
};

/* A message without a receive. */
struct msg_message {
    struct list_node of_member;  /* unlinked: taken out by a matched probe */
    struct list_node of_context; /* also in the engine's early list */
    struct msg_context *context;
    uint32_t context_id;
    struct msg_envelope envelope;
    void *block; /* holds the payload when it is longer than `near` */
    struct msg_note *note; /* NULL: none */
    union {
        unsigned char near[MSG_INLINE];
        struct msg_keys keys; /* of one that was announced */
    };
};

extern struct base_pool vmsg_messages;
extern struct list vmsg_early; /* messages for contexts that are not open yet, as they came; under progress */

/* ---- match.c: context lock held ---------------------------------------------------------------------------------- */
struct msg_request *vmsg_match_arrival(struct msg_context *context, struct msg_member *member, int tag);
/* The receive that a message of MEMBER gets, left in its list; NULL: none was posted. */
static inline struct msg_request *msg_match_arrival(struct msg_context *context, struct msg_member *member, int tag)
{
    const struct list *only = &member->posted;
    if (unlikely(!list_empty(&context->wildcard))) {
        if (!list_empty(only))
            return vmsg_match_arrival(context, member, tag);
        only = &context->wildcard;
    }
    if (list_empty(only))
        return NULL;
    struct msg_request *first = container_of(only->head.next, struct msg_request, link);
    if (likely(first->result.tag == tag))
        return first;
    return vmsg_match_arrival(context, member, tag);
}
/* A receive has its message: from now on a cancel comes too late. */
static inline void msg_match_unlink(struct msg_request *request)
{
    list_unlink(&request->link); /* its phase says where it is */
    msg_phase_set(request, MSG_PHASE_MOVING);
}
/* The receive that a message gets is a taker's, and stays posted while the taker looks at the message. It takes what
 * is whole, awaits no answer, and comes under progress, as a message to ourselves does not. ENVELOPE NULL: it is such a
 * message. */
static inline bool msg_match_takes(const struct msg_request *request, const struct msg_envelope *envelope)
{
    return unlikely(request->mode == MSG_TAKE) &&
           (!envelope || (envelope->frame == MSG_FRAME_EAGER && !envelope->id &&
                          envelope->peer->world != vmsg_engine.rank));
}
struct msg_message *vmsg_match_search(const struct list *unexpected, bool of_member, int tag);
/* The message that a receive (or a probe) gets, left in the lists; NULL: none came yet. MEMBER NULL: any source. */
static inline struct msg_message *msg_match_posting(struct msg_context *context, struct msg_member *member, int tag)
{
    const struct list *unexpected = member ? &member->unexpected : &context->arrivals;
    return likely(list_empty(unexpected)) ? NULL : vmsg_match_search(unexpected, member, tag);
}
static inline void msg_match_post(struct msg_context *context, struct msg_member *member, struct msg_request *request)
{
    request->order = context->order++;
    if (unlikely(vmsg_engine.networked) && (!member || member->peer->remote)) {
        request->awaited = true;
        msg_await();
    }
    msg_phase_set(request, MSG_PHASE_POSTED);
    list_append(member ? &member->posted : &context->wildcard, &request->link);
}
void vmsg_match_keep(struct msg_context *context, struct msg_member *member, struct msg_message *message);
void vmsg_match_take(struct msg_message *message); /* out of the lists */
struct msg_message *vmsg_match_sent(struct msg_member *member, uint64_t id);

/* ---- members, match.c -------------------------------------------------------------------------------------------- */
int vmsg_member_find(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* takes the lock */
/* NULL: there is none yet, or the rank is wrong. */
static inline struct msg_member *msg_member_at(const struct msg_context *context, int rank)
{
    if (unlikely((unsigned)rank >= (unsigned)context->size))
        return NULL;
    return __atomic_load_n(&context->member[rank], __ATOMIC_ACQUIRE); /* pairs with vmsg_member_make */
}
int vmsg_member_make(struct msg_context *context, int rank, struct msg_member **member) MUST_CHECK; /* lock held */
void vmsg_contexts_close(void);
static inline int vmsg_context_rank_of(const struct msg_context *context, int world)
{
    return context->rank_of ? context->rank_of[world] : world;
}

/* ---- message.c: messages that come ------------------------------------------------------------------------------- */
void vmsg_message_arrived(uint32_t context_id, struct msg_envelope *envelope);
int vmsg_message_enter(struct msg_context *context, struct msg_envelope *envelope) MUST_CHECK;
/* An eager message for a taker, whose receive is REQUEST */
void vmsg_message_taken(struct msg_peer *peer, uint64_t header, const void *data, size_t length,
                        struct msg_request *request);
void vmsg_message_deliver(struct msg_request *request, const struct msg_envelope *envelope);
void vmsg_receive_truncated(struct msg_request *request, uint64_t room) COLD;

/* A receive has its message. Returns the bytes that fit; the room for them was in request->total. */
static inline uint64_t msg_receive_found(struct msg_request *request, int source, int tag, uint64_t total)
{
    uint64_t room = request->total, want = total < room ? total : room;
    request->total = total;
    request->result.source = source; /* its error is OK from the start */
    request->result.tag = tag;
    request->result.bytes = want;
    if (unlikely(total > room))
        vmsg_receive_truncated(request, room);
    COUNT(recv_messages);
    COUNT_ADD(recv_bytes, want);
    return want;
}

/* The payload of an eager message lies at hand: into the buffer of its receive, which is over. */
static inline __attribute__((always_inline)) void
msg_eager_deliver(struct msg_request *request, int source, int tag, const void *payload, uint64_t total)
{
    uint64_t bytes = msg_receive_found(request, source, tag, total);
    if (unlikely(!type_buffer_contiguous(&request->buffer)))
        (void)vtype_unpack_at(&request->buffer, 0, payload, bytes);
    else if (likely(bytes == 8)) /* a word needs no call */
        memcpy(request->buffer.base, payload, 8);
    else if (bytes)
        base_copy(request->buffer.base, payload, bytes);
    msg_over(request);
}
void vmsg_message_give(struct msg_message *message, struct msg_request *request); /* deliver and free */
void vmsg_message_forget(struct msg_message *message);
void vmsg_message_drop(struct msg_message *message);

/* ---- taker.c ----------------------------------------------------------------------------------------------------- */
bool vmsg_taker_turn(void); /* no lock held: true: it had one */
bool vmsg_taker_takes(const struct msg_envelope *envelope); /* under progress; false: declined */

/* Pack checks which ranks are left before it waits for any rank. */
static inline bool msg_context_of_pack(const struct msg_context *context)
{
    return context->id - MSG_CONTEXT_PACK < MSG_CONTEXTS_PACK;
}

/* ---- cancel.c ---------------------------------------------------------------------------------------------------- */
void vmsg_request_abandon(struct msg_request *request, int error);
void vmsg_cancel_asked(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);
void vmsg_cancel_answered(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);

/* ---- withdraw.c -------------------------------------------------------------------------------------------------- */
void vmsg_guards_end(int world, int error); /* progress held; those that the death of a rank ends */
void vmsg_withdrawals_drop(const struct msg_context *context); /* NULL: all */
void vmsg_withdrawn(struct msg_peer *peer, uint64_t header, const union msg_frame_body *body);

/* ---- self.c ------------------------------------------------------------------------------------------------------ */
int vmsg_self_send(struct msg_request *request, struct msg_member *member) MUST_CHECK;

/* ---- sink.c ------------------------------------------------------------------------------------------------------ */
extern const struct vi_sink vmsg_sink;
bool vmsg_sink_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count);
void vmsg_sink_done(struct vi *vi, void *cookie, int status);

/* ---- launch.c, queue.c, leave.c ---------------------------------------------------------------------------------- */
int vmsg_send_launch(struct msg_request *request) MUST_CHECK; /* peer lock held */
/* peer lock held: the peer has left, so the send ends unless it left before */
void vmsg_send_forsake(struct msg_request *request) COLD;
void vmsg_death_look(void); /* no lock held, outside progress */
