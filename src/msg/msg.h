/* msg: the protocol engine. Matching, eager and rendezvous, credits, progress, and the one wait. One engine a process.
 *
 * A context is a closed world of matching: a list of member ranks and an id that all of them gave it. Ranks below are
 * ranks in the context. A message goes to (context, rank, tag) and is matched in MPI's order: by the receiver's posting
 * order among receives that fit, by the sender's order among messages that fit.
 *
 * Memory: requests belong to the caller (embedded in any structure) and stay in place until complete; buffers stay
 * untouched until complete; a layout in a buffer is kept alive by the caller.
 *
 * Threads: every function may be called from any thread once vmsg_start was told so; before that no lock is taken. Lock
 * order: a context's matching, a peer's sending, progress (only ever tried). Completion is published with release and
 * seen with acquire in vmsg_request_done. A process made by fork never enters: every call of the child that would touch
 * the engine returns ERR_STATE. */
#pragma once

#include "base/base.h"
#include "boot/boot.h"
#include "type/layout.h"

#define MSG_ANY_SOURCE (-1)
#define MSG_ANY_TAG (-1) /* tags are 0 to 2^31 - 1 */

struct msg_context;
struct msg_peer;

/* What a completed receive or a probe found. */
struct msg_result {
    int source, tag;
    int error;      /* OK, ERR_TRUNCATED, ERR_CANCELLED, ERR_PEER_DEAD ... */
    uint64_t bytes; /* that arrived in the buffer; for a probe: of the message */
};

/* What a layer above sends along with a message of a context of notes; msg does not look into it. */
struct msg_note {
    uint64_t word[8];
};

/* An operation under way. `completed`, `owner` and `note` are set before it is started; `result` is there when it is
 * done. What follows `state` is msg's own: engine.h says what it is, and to the other rooms it is room. */
#define MSG_REQUEST_ROOM 92
#ifndef MSG_REQUEST_PRIVATE
#define MSG_REQUEST_PRIVATE uint32_t room[MSG_REQUEST_ROOM / sizeof(uint32_t)]
#endif
struct msg_request {
    struct msg_result result;
    /* Called once, when the operation is complete, from a round of progress of any thread, with no lock held, so
     * never by the call that starts it; it may start operations but not wait, and may free the request, which until
     * then is the engine's (also when it seems done). NULL: none. */
    void (*completed)(struct msg_request *request);
    void *owner; /* the caller's */
    /* In a context of notes: the note that is sent, or the place for the one that comes, which stays as it is if none
     * does. NULL: none. In other contexts it is not used. */
    struct msg_note *note;
    _Atomic uint32_t state; /* see vmsg_request_done */
    MSG_REQUEST_PRIVATE;
};

#define MSG_PENDING 0u
#define MSG_PARKED 1u /* pending, and a thread sleeps until it is done */
#define MSG_DONE 2u
static inline bool vmsg_request_done(const struct msg_request *request)
{
    /* acquire: pairs with the release of completion, so result and buffer are seen */
    return atomic_load_explicit((_Atomic uint32_t *)&request->state, memory_order_acquire) > MSG_PARKED;
}

/* A request that nothing is started with, and that is done with RESULT, as one with nobody is. */
static inline void vmsg_request_settle(struct msg_request *request, const struct msg_result *result)
{
    request->result = *result;
    atomic_store_explicit(&request->state, MSG_DONE, memory_order_relaxed); /* nobody else knows it */
}

enum msg_mode {
    MSG_STANDARD,
    MSG_SYNCHRONOUS,
    MSG_READY,
    MSG_AT_ONCE, /* standard; the caller waits, so it never waits for others to leave together */
    MSG_TAKE     /* of a receive: a taker's */
};

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Boots (settings, launcher, segment), opens the transports. Once per process; reference-counted: MPI, mplite, pack may
 * each start and stop it. */
VEXPORT int vmsg_start(void) MUST_CHECK;
/* The last stop says goodbye to all peers both ways (what was sent is delivered), leaves the launcher, closes. */
VEXPORT void vmsg_stop(void);
/* Everything that was sent is delivered, and (MEET) all ranks have come so far, or have ended. From then on this
 * process may end without vmsg_stop. Until the rest ends nothing may be started. */
VEXPORT void vmsg_rest(bool meet);
VEXPORT void vmsg_rest_end(void);
/* rank, size, node; valid between start and stop, and for vmsg_abort after a start that failed; else NULL */
VEXPORT const struct boot_job *vmsg_job(void);
/* One line about the job: ranks, ways, limits. Between start and stop. */
VEXPORT void vmsg_summary(char *text, size_t size);
VEXPORT void vmsg_threads(bool several);       /* from now on calls may come from several threads */
/* of pack, which must lock then, too; NULL: it is not there */
extern void (*vmsg_threads_begin)(void);
VEXPORT bool vmsg_threaded(void);
VEXPORT void vmsg_abort(int status, const char *message) __attribute__((noreturn));

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* MEMBERS are world ranks, copied; NULL: all of the world in order. Id 0 to 65535, the same at all members, used once
 * at a time: agreeing on it is the caller's business. Messages for an id that is not open yet wait. RANK is that of
 * this process, or MSG_NO_MEMBER: it talks to the members, for whom it is one of theirs. */
#define MSG_NO_MEMBER (-1)
VEXPORT int vmsg_context_open(uint32_t id, const int *members, int size, int rank,
                              struct msg_context **context) MUST_CHECK;
/* The same in two steps: where members agree on the id, what needs memory is done before all rely on it. A context that
 * has not been entered can only be closed. */
VEXPORT int vmsg_context_new(const int *members, int size, int rank, struct msg_context **context) MUST_CHECK;
VEXPORT int vmsg_context_enter(struct msg_context *context, uint32_t id) MUST_CHECK;

#define MSG_NETWORKS 4 /* the usual ways, and those of channels bound to a network: a nic and peers of their own */
/* A network of its own to all ranks, also between those of one host: over the transport of this NAME, or over the one
 * card of each host that has it. All ranks of the job call it together; it stays until stop. A context over it has all
 * ranks as members, in order. Failing at one rank it may succeed at others: to agree is the caller's business. */
VEXPORT int vmsg_network_open(const char *name, int *network) MUST_CHECK;
/* A transport of this build has this name. *OPENS: networks of their own can be opened over it. */
VEXPORT bool vmsg_transport_named(const char *name, bool *opens);
VEXPORT void vmsg_network_close(int network); /* others have failed to open it: before anything is opened over it */
VEXPORT int vmsg_context_open_over(int network, uint32_t id, struct msg_context **context) MUST_CHECK;
/* The ids of MPI's communicator number N are N times this, of its messages; one more, of its collectives; and one more,
 * of what else it does. Number 2 is no communicator. */
#define MSG_CONTEXTS_COMM 3
/* The last three ids belong to mplite, which lives in every process at most once and needs no agreement. */
#define MSG_CONTEXT_MPLITE 65533
/* Those before them are for pack, whose ranks agree on them. */
#define MSG_CONTEXT_PACK 64512
#define MSG_CONTEXTS_PACK 1020
static inline bool vmsg_context_id_collects(uint32_t id)
{
    return id < MSG_CONTEXT_PACK && id % MSG_CONTEXTS_COMM == 1 && id / MSG_CONTEXTS_COMM != 2;
}
/* Messages still unmatched are dropped (their senders complete), receives still posted are cancelled. Sends under way
 * go on and may be waited for; a receive that has its message is over before. */
VEXPORT void vmsg_context_close(struct msg_context *context);
VEXPORT void vmsg_context_noted(struct msg_context *context); /* its messages carry notes: right after it was opened */
VEXPORT int vmsg_context_world(const struct msg_context *context, int rank); /* the world rank of a member */

/* A receive with a function in the place of a buffer, for a layer that would post the same receive again and again.
 * While it is posted it is shown each eager message that it matches, where the message lies, and stays posted. TAKE
 * runs under progress: it may send and start, but not wait, and DATA is valid during the call only. A message that TAKE
 * declines, and one that is not eager, completes the receive like any other, into its buffer; until it is posted again
 * all messages behind that one wait. Where TAKE wants a turn, BEHIND is called soon, by a thread that made progress,
 * with no lock held. One in a process. */
enum msg_taken { MSG_DECLINED, MSG_TAKEN, MSG_TAKEN_TURN };
struct msg_taker {
    enum msg_taken (*take)(int source, const void *data, uint64_t bytes);
    void (*behind)(void);
};

/* How a rank is reached: connects to it if need be. PATH: the cards at both ends, in words; empty where there are none,
 * or until the connection is up. */
struct msg_route {
    const char *transport; /* "shm" */
    char path[200];
};
VEXPORT int vmsg_route(struct msg_context *context, int rank, struct msg_route *route) MUST_CHECK;

/* ---- sending and receiving --------------------------------------------------------------------------------------- */

/* Blocking, contiguous, standard mode: the short way. */
VEXPORT int vmsg_send(struct msg_context *context, int rank, int tag, const void *data, uint64_t bytes);
VEXPORT int vmsg_recv(struct msg_context *context, int rank, int tag, void *data, uint64_t bytes,
                      struct msg_result *result);

/* The same without waiting, and only if it can be done at once: OK, the buffer is the caller's; ERR_AGAIN: start a
 * request. */
VEXPORT int vmsg_send_now(struct msg_context *context, int rank, int tag, const void *data, uint64_t bytes);

/* Where a message goes to or comes from. */
struct msg_where {
    struct msg_context *context;
    int rank, tag;
};

/* Start an operation. OK: started, perhaps complete already (look at vmsg_request_done). An error means not started.
 * `completed` and `owner` must be set (or NULL) before. */
VEXPORT int vmsg_send_start(struct msg_request *request, const struct msg_where *to, const struct type_buffer *buffer,
                            enum msg_mode mode) MUST_CHECK;
VEXPORT int vmsg_recv_start(struct msg_request *request, const struct msg_where *from,
                            const struct type_buffer *buffer) MUST_CHECK;

/* The second for a taker. It may ask for one more turn. */
VEXPORT int vmsg_recv_take(struct msg_request *request, const struct msg_where *from,
                           const struct type_buffer *buffer, const struct msg_taker *taker) MUST_CHECK;
VEXPORT void vmsg_taker_again(void);

/* Asks to cancel. The request still completes, with result.error ERR_CANCELLED where the cancel won. A receive is
 * decided at once; a send that was announced is decided by its receiver's engine. */
VEXPORT void vmsg_cancel(struct msg_request *request);

/* Is there a message that a receive from FROM would match? found false: no (after one round of progress). */
VEXPORT int vmsg_probe(const struct msg_where *from, bool *found, struct msg_result *result) MUST_CHECK;

/* The same and takes the message out of matching; it must be received with vmsg_message_recv. NULL: none. */
struct msg_message;
VEXPORT int vmsg_message_probe(const struct msg_where *from, struct msg_message **message,
                               struct msg_result *result) MUST_CHECK;
VEXPORT int vmsg_message_recv(struct msg_request *request, struct msg_message *message,
                              const struct type_buffer *buffer) MUST_CHECK;

/* ---- progress and waiting ---------------------------------------------------------------------------------------- */

/* One round of progress: polls what is hot, advances what is under way. True: something happened. */
VEXPORT bool vmsg_progress(void);
VEXPORT int vmsg_failure(void) MUST_CHECK; /* OK, or why the job is lost; for what looks and does not wait */

/* Until the request is done; returns result.error. */
VEXPORT int vmsg_wait(struct msg_request *request);

/* The one wait of every layer: polls, then yields, then sleeps, until READY(context) says true. READY is called often,
 * without locks, and must be cheap; it is asked again after it said true, and must not change its mind. What it looks
 * at must change only by progress of this engine, or by a thread that calls vmsg_wake. ERR_PEER_DEAD and the like when
 * the job is lost. */
VEXPORT int vmsg_wait_until(bool (*ready)(void *context), void *context);

/* The same for a collective over CONTEXT, which tools are told. */
VEXPORT int vmsg_wait_collective(struct msg_context *context, bool (*ready)(void *owner), void *owner);
/* The same for calls of a group alone, which are told apart by TAG; -1: by something else. */
VEXPORT int vmsg_wait_group(struct msg_context *context, int tag, bool (*ready)(void *owner), void *owner);
/* The same as vmsg_wait_until, with ERR_TIMEOUT when the clock of base/clock.h shows TICKS. */
VEXPORT int vmsg_wait_until_ticks(bool (*ready)(void *context), void *context, uint64_t ticks);

/* Another thread of this process changed what a waiter looks at. */
VEXPORT void vmsg_wake(void);

/* ---- events for tools -------------------------------------------------------------------------------------------- */

enum msg_event_kind { MSG_EVENT_LINK_DOWN, MSG_EVENT_LINK_UP, MSG_EVENT_UNEXPECTED, MSG_EVENTS };
struct msg_event {
    enum msg_event_kind kind;
    int rank;       /* of the job: at the other end of the link, or the sender */
    uint64_t bytes; /* of the unexpected message */
    uint64_t ns;    /* of base/clock.h, when it was noted */
};
/* The kinds that are noted, a bit for each; the room that sets them takes the events. */
VEXPORT extern _Atomic uint32_t vmsg_events_wanted;
VEXPORT bool vmsg_event_take(struct msg_event *event);
VEXPORT uint64_t vmsg_events_dropped(enum msg_event_kind kind); /* since the last call, because nobody took them */

/* ---- deaths ------------------------------------------------------------------------------------------------------ */

/* Where the launcher was told that a death does not end the job: what waits for a dead rank alone ends with
 * ERR_PEER_DEAD, and so does what is started for it. Waits notice it within a tenth of a second; a caller that only
 * polls must ask. */
VEXPORT uint32_t vmsg_deaths(void); /* looks; how many */
VEXPORT bool vmsg_dead(int world);
VEXPORT bool vmsg_left(int world);  /* or has said goodbye */

/* ---- ranks that cannot go on ------------------------------------------------------------------------------------- */

void vmsg_failed(int error); /* the job is lost: every call that waits, tests or looks tells it from now on */

/* An operation of members of CONTEXT, whose messages have TAG: this rank has no memory for its part of it. SIZE members
 * are told, MEMBERS are their ranks; NULL: all. What they know of it they keep until the context is closed. */
VEXPORT void vmsg_withdraw(struct msg_context *context, const int *members, int size, int tag);
/* This rank has. Others may hear of it when the context is closed: its id is given to no other one that has this rank
 * as a member. */
VEXPORT bool vmsg_context_withdrew(const struct msg_context *context);
/* Starts a request that ends with ERR_MEMORY when another member withdraws from it, and with ERR_PEER_DEAD when one
 * dies, or is dead. MEMBERS: SIZE ranks of CONTEXT, which stay there until it is over; NULL: all. ERR_MEMORY: one has
 * withdrawn, and nothing is started. */
VEXPORT int vmsg_guard_start(struct msg_request *guard, struct msg_context *context, int tag, const int *members,
                             int size) MUST_CHECK;
/* True: it is over, and its callback is never called. False: that is called soon, or was. */
VEXPORT bool vmsg_guard_end(struct msg_request *guard) MUST_CHECK;

/* ---- shared memory ----------------------------------------------------------------------------------------------- */

/* A number that the ranks have in common that this one shares memory with, and no others: the least of their ranks in
 * the world. Its own where it shares none. */
VEXPORT int vmsg_context_node(const struct msg_context *context);

/* Zeroed memory that all members of a context can reach, where all are on one node. All members call it together, with
 * the same size and a TAG that nothing else uses meanwhile; it blocks. All get it or none: ERR_UNSUPPORTED; none if one
 * of them is not WILLING, because it lacks what it needs beside it. */
struct msg_share;
VEXPORT int vmsg_share_open(struct msg_context *context, int tag, uint64_t bytes, bool willing,
                            struct msg_share **share) MUST_CHECK;
VEXPORT void *vmsg_share_memory(const struct msg_share *share);
/* Rank 0 closes last: the memory is its own. NULL is allowed. */
VEXPORT void vmsg_share_close(struct msg_share *share);
VEXPORT void vmsg_share_forget(struct msg_share *share); /* the memory stays until the job ends: others may use it */
/* Memory of the program that the other members may read until it is hidden again; they are sent the key. */
struct msg_shown {
    uint64_t key[2];
    uint64_t region[6]; /* msg's own */
};
VEXPORT int vmsg_share_show(struct msg_share *share, const void *base, uint64_t bytes,
                            struct msg_shown *shown) MUST_CHECK;
VEXPORT void vmsg_share_hide(struct msg_shown *shown);
/* Can this rank read such memory of every other member? */
VEXPORT bool vmsg_share_reads(struct msg_share *share);
/* Reads BYTES at OFFSET of what RANK shows by KEY. */
VEXPORT int vmsg_share_read(struct msg_share *share, int rank, const uint64_t *key, uint64_t offset, void *to,
                            uint64_t bytes) MUST_CHECK;
/* Starts to wait for what other members store there, until READY(request->owner) says true; cancelled as any other.
 * READY is called by any thread that makes progress, never by two at once; it may only read. A rank of the context that
 * dies ends it with ERR_PEER_DEAD. */
VEXPORT int vmsg_share_await(struct msg_share *share, struct msg_request *request,
                             bool (*ready)(void *owner)) MUST_CHECK;
/* The blocking form. */
VEXPORT int vmsg_share_wait(struct msg_share *share, bool (*ready)(void *owner), void *owner);
/* After a store that members may wait for: wakes those that sleep. */
VEXPORT void vmsg_share_wake(struct msg_share *share, int rank);
VEXPORT void vmsg_share_wake_all(struct msg_share *share);
