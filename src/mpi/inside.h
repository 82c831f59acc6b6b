/* What the chapters of the MPI personality share: the objects behind the handles, the checks at the door, and errors.
 * Nothing here is seen outside src/mpi; the face of this room is include/mpi.h.
 *
 * Every function of the standard is defined under its PMPI_ name and has the MPI_ name as a weak alias (ENTRY). Inside,
 * neither is ever called. Chapters follow one shape: the entries of a call (int counts, _c, I, _init) differ in a line
 * and hand a filled structure to one body that works on 64-bit counts.
 *
 * Conventions: bodies return MPI error classes (MPI_SUCCESS is 0); a class that is returned has been raised already,
 * with its sentence, by mpi_error(). References between objects: a communicator holds its group and error handler, a
 * request its communicator and layout, a datatype its layout and the datatypes it was made of. */
#ifndef MPI_INSIDE_H
#define MPI_INSIDE_H

#include "coll/coll.h"
#include "msg/msg.h"
#include "type/layout.h"
#include "type/reduce.h"

#pragma GCC visibility push(default)
#include "mpi.h"
#pragma GCC visibility pop
#pragma GCC visibility push(hidden) /* what follows is reached without the table of global offsets */
#include "mpi/handle.h"

/* ENTRY(MPI_X)(...) begins the definition of PMPI_X, which returns int, with its alias. Inside it, NAME is "MPI_X". */
#define ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))
#define ENTRY_OF(result, name) ALIAS(name); result P##name
#define ENTRY(name) ENTRY_OF(int, name)
#define NAME (&__func__[1])

/* Two entries with one body, which differ in the types of their counts and displacements alone. TAKES(N, A) lists the
 * parameters that differ, as in mpi.h; FOLLOWS, in parentheses, those that come then in both. */
#define UNWRAPPED(...) __VA_ARGS__
#define ENTRIES(name, name_c, takes, follows, ...)                                                                     \
    ENTRY(name)(takes(int, int), UNWRAPPED follows) { DOING(#name); __VA_ARGS__; }                                     \
    ENTRY(name_c)(takes(MPI_Count, MPI_Aint), UNWRAPPED follows) { DOING(#name_c); __VA_ARGS__; }
/* The same where a type is A in the first one and MPI_Count in the other. */
#define WIDENED(name, name_c, A, takes, ...)                                                                           \
    ENTRY(name)(takes(int, A)) { __VA_ARGS__; }                                                                        \
    ENTRY(name_c)(takes(MPI_Count, MPI_Count)) { __VA_ARGS__; }

/* ---- objects ---------------------------------------------------------------------------------------------------- */

struct mpi_group {
    struct mpi_object object;
    int size, rank; /* rank of this process, MPI_UNDEFINED: not in it */
    int *world;     /* the world rank of each member */
};

struct mpi_errhandler {
    struct mpi_object object;
    enum { HANDLER_FATAL, HANDLER_ABORT, HANDLER_RETURN, HANDLER_FUNCTION } what;
    enum mpi_kind of; /* KIND_COMM or KIND_FILE, for a function */
    void (*function)(void *object, int *code, ...); /* a MPI_X_errhandler_function */
};

struct mpi_keyval {
    struct mpi_object object;
    enum mpi_kind of; /* KIND_COMM or KIND_TYPE */
    void *copy, *drop; /* functions of that kind, or the sentinels of the ABI */
    void *extra;
};

struct mpi_attribute {
    struct mpi_attribute *next;
    struct mpi_keyval *keyval;
    void *value;
};

struct mpi_info_pair {
    char *key, *value;
};
struct mpi_info {
    struct mpi_object object;
    int pairs;
    struct mpi_info_pair *pair;
};

struct mpi_topology {
    int dimensions;
    int *extent, *periodic, *coordinates; /* one block of memory; coordinates of this rank */
};

struct mpi_buffer { /* of MPI_Bsend (buffer.c) */
    void *attached; /* NULL: none; or MPI_BUFFER_AUTOMATIC */
    int64_t size;   /* as it was attached */
    char *start, *end;
    struct mpi_copy *copies;
    uint64_t copied; /* copies ever made */
};

struct mpi_comm {
    struct mpi_object object;
    struct msg_context *context; /* the user's messages */
    int rank, size;
    struct coll_group coll;      /* collectives, with a context of their own */
    uint32_t id;                 /* see mpi_context_id */
    uint32_t children;           /* communicators made from this one so far: the same on all members */
    struct mpi_group *group;
    struct mpi_errhandler *errhandler;
    struct mpi_attribute *attributes;
    struct mpi_topology *topology;
    struct mpi_buffer buffer;    /* of MPI_Bsend */
    struct msg_context *hellos;  /* of partitioned communication; NULL: there was none here */
    struct msg_context *agreements; /* of MPI_Comm_create_group, ranks of the world; NULL: there was none here */
    char name[MPI_MAX_OBJECT_NAME];
};

/* How a datatype was made, as MPI_Type_get_contents tells it. One block of memory. */
struct mpi_recipe {
    int combiner;
    uint32_t integers, addresses, larges, types;
    int64_t *value;         /* integers, then addresses, then large counts */
    struct mpi_type **type; /* each with one reference */
};

struct mpi_type {
    struct mpi_object object;
    uint64_t size;     /* bytes of payload in one */
    bool flat;         /* count of them are count * size bytes in a row */
    bool committed;
    uint32_t plain;    /* size where it is flat and committed, else 0, or where it is too large: then the long way finds out */
    uint8_t element;   /* enum type_element, for reductions */
    uint64_t elements; /* basic elements in one */
    struct type_layout *layout;
    struct mpi_recipe *recipe; /* NULL: predefined */
    struct mpi_attribute *attributes;
    char *name;        /* NULL: none */
};

struct mpi_op {
    struct mpi_object object;
    enum type_operation operation; /* OPERATION_USER: one of the functions */
    MPI_User_function *function;
    MPI_User_function_c *function_c;
    bool commutative;
};

struct mpi_message_object { /* of MPI_Mprobe */
    struct mpi_object object;
    struct msg_message *message;
    struct mpi_comm *comm;
};

enum mpi_request_kind {
    REQUEST_NOTHING,    /* complete from the start: matched or partitioned, with MPI_PROC_NULL */
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_SENT,       /* complete from the start: the message has left */
    REQUEST_BUFFERED,   /* complete from the start: the attached buffer has the message */
    REQUEST_PAIR,       /* Isendrecv */
    REQUEST_COLLECTIVE,
    REQUEST_COMM,       /* a communicator is made: MPI_Comm_idup */
    REQUEST_PARTITIONED,
    REQUEST_FLUSH,      /* MPI_Buffer_iflush and of communicators */
    REQUEST_GENERAL     /* MPI_Grequest_start */
};

struct mpi_pair { /* Sendrecv */
    struct msg_request send, receive;
    struct type_layout *layout; /* of what comes, kept; that of what goes is the request's */
};

struct mpi_request {
    struct mpi_object object;
    uint8_t kind;
    bool persistent, active;
    bool simple;                /* SENT or RECEIVE, not persistent, without layout and extra */
    uint8_t way;                /* enum mpi_way, of persistent ones */
    struct mpi_comm *comm;      /* NULL: none */
    struct type_layout *layout; /* kept for the time of the request; NULL: none needed */
    const char *call;           /* that made it, for errors that come later */
    void *extra;                /* freed with the request */
    struct mpi_request *next;   /* freed by the user while under way */
    union {
        struct msg_request operation;
        struct coll_schedule *schedule;
        struct mpi_pair pair;
        struct mpi_general *general;
        struct mpi_birth *birth;
        struct mpi_partitioned *partitioned;
        struct {
            struct mpi_buffer *buffer;
            uint64_t last;
        } flush;
    };
} ALIGNED(CACHE_LINE);

/* ---- the process ------------------------------------------------------------------------------------------------ */

enum mpi_stage { MPI_BEFORE, MPI_RUNNING, MPI_WATCHED, MPI_AFTER }; /* watched: running, and traced or checked, so no call is short */
struct mpi_process {
    _Atomic int stage; /* enum mpi_stage */
    int thread_level;
    const struct boot_job *job;
    struct mpi_comm *world, *self;
};
extern struct mpi_process mpi_process;

bool mpi_is_running(void);
void mpi_not_running(const char *call) __attribute__((noreturn)) COLD;
void mpi_end_early(const char *sentence) __attribute__((noreturn)) COLD; /* where nobody can handle an error */

/* False: the call is too early or too late, or watched; mpi_enter knows. */
static inline bool mpi_quick(void)
{
    /* relaxed: a thread that may call at all was made after MPI_Init or waited for it */
    return likely(atomic_load_explicit(&mpi_process.stage, memory_order_relaxed) == MPI_RUNNING);
}

/* Before anything else in a call that needs MPI to be initialized. */
static inline void mpi_enter(const char *call)
{
    if (unlikely(!mpi_quick()) && !mpi_is_running())
        mpi_not_running(call);
}

/* The same for calls that can wait: the name is shown to whoever asks what this rank is doing, and in the trace. The few
 * where looking for the trace would be felt ask mpi_quick instead and have a second, slow way in. */
#define ENTER(call)                                                                                                    \
    DOING(call);                                                                                                       \
    mpi_enter(call);                                                                                                   \
    TRACE(call)

/* Shows CALL, in a body that serves several entries: a few stores more, where nobody feels them. */
void mpi_doing(const char *call);

/* ---- errors (error.c) ------------------------------------------------------------------------------------------- */

/* Raises an error: joins the sentence "CALL: FORMAT (CLASS, rank R of COMM)", keeps it for MPI_Error_string, and gives
 * it to the error handler of COMM (NULL: where errors without a communicator go). Returns the class, if at all. */
int mpi_error(struct mpi_comm *comm, const char *call, int class, const char *format, ...) PRINTF_LIKE(4, 5) COLD;

/* ARGUMENT is NULL: MPI_ERR_ARG. */
int mpi_null(struct mpi_comm *comm, const char *call, const char *argument) COLD;
/* HANDLE is no object of this kind. */
int mpi_wrong(struct mpi_comm *comm, const char *call, enum mpi_kind kind, const void *handle) COLD;
/* HANDLE is no datatype, or not committed. SIDE: "send " or "receive " where a call takes one for each, else "". */
int mpi_wrong_type(struct mpi_comm *comm, const char *call, MPI_Datatype handle, const char *side) COLD;

/* In the place of a communicator: errors go where those of files go, to the handler of MPI_FILE_NULL. */
#define MPI_OF_FILES ((struct mpi_comm *)1)

/* The same for an error of the engine, with its sentence and detail. */
int mpi_engine_error(struct mpi_comm *comm, const char *call, int error) COLD;
int mpi_engine_class(int error);
const char *mpi_class_sentence(int class);
int mpi_last_used_code(void);

/* ---- arguments (handle.c) --------------------------------------------------------------------------------------- */

/* What a call wants of one argument: an object of a kind (enum mpi_kind), or one of these. */
enum { WANT_GIVEN = KIND_COUNT, WANT_HINTS, WANT_GRID, WANT_RUNNING, WANT_BEHIND = 64 };
struct mpi_argument {
    int want;          /* 0: the end of a list */
    const void *value;
    const char *name;
    void *found;       /* the place for a pointer to the object; NULL: nowhere */
};
#define COMM_OF(handle, ...) {KIND_COMM, handle, #handle, __VA_ARGS__} /* a handle, and where the object is told */
#define GROUP_OF(handle, ...) {KIND_GROUP, handle, #handle, __VA_ARGS__}
#define TYPE_OF(handle, ...) {KIND_TYPE, handle, #handle, __VA_ARGS__}
#define OP_OF(handle, ...) {KIND_OP, handle, #handle, __VA_ARGS__}
#define INFO_OF(handle, ...) {KIND_INFO, handle, #handle, __VA_ARGS__}
#define REQUEST_OF(handle, ...) {KIND_REQUEST, handle, #handle, __VA_ARGS__}
#define BEHIND(kind, pointer, ...) {WANT_BEHIND | kind, pointer, #pointer, __VA_ARGS__} /* a pointer to a handle */
#define GRID_OF(handle, ...) {WANT_GRID, handle, #handle, __VA_ARGS__} /* a communicator with a Cartesian topology */
#define GIVEN(pointer) {WANT_GIVEN, pointer, #pointer}                                  /* it is not NULL */
#define GIVEN_AS(pointer, name) {WANT_GIVEN, pointer, name}
#define GIVEN_IF(needed, pointer, name) {WANT_GIVEN, (needed) ? (const void *)(pointer) : "", name}
#define HINTS(info) {WANT_HINTS, info, #info} /* an info object, or none */
#define RUNNING {WANT_RUNNING, NULL, NULL}    /* between MPI_Init and MPI_Finalize; so are all handles but those of info */

/* Looks at the arguments of CALL one after the other and raises what is wrong with the first that is not as wanted, on the
 * first communicator among them. */
int mpi_arguments(const char *call, const struct mpi_argument *list);
#define ARGUMENTS(...) ((const struct mpi_argument[]){__VA_ARGS__, {0}})

/* The arguments of the entry that this is written in; and the same in a call that can wait, which shows where the process is. */
#define CHECK(...) mpi_arguments(NAME, ARGUMENTS(__VA_ARGS__))
#define CHECK_WAITS(...) (mpi_doing(NAME), CHECK(__VA_ARGS__))

static inline int mpi_tell(int *out, int value)
{
    *out = value;
    return MPI_SUCCESS;
}

struct mpi_errhandler *mpi_errhandler_at(MPI_Errhandler handle);

/* ---- communicators and groups ----------------------------------------------------------------------------------- */

static inline struct mpi_comm *mpi_comm_at(MPI_Comm handle)
{
    if (likely(handle == MPI_COMM_WORLD))
        return mpi_process.world;
    if (handle == MPI_COMM_SELF)
        return mpi_process.self;
    return mpi_object_at(KIND_COMM, handle, sizeof(struct mpi_comm));
}

MPI_Comm mpi_comm_handle(struct mpi_comm *comm); /* without a new user */
const char *mpi_comm_name(const struct mpi_comm *comm, char text[64]); /* its name, or "communicator 12" */
void mpi_comm_end(void *comm) COLD;
static inline void mpi_comm_drop(struct mpi_comm *comm)
{
    if (unlikely(mpi_object_drop(comm)))
        mpi_object_end(comm);
}

/* From PARENT's members in GROUP (NULL: this process is in none, *out is NULL); all of PARENT must call, or only GROUP with
 * a TAG that tells them apart from others. */
#define MPI_ALL_CALL (-1)
int mpi_comm_make(const char *call, struct mpi_comm *parent, struct mpi_group *group, int tag, struct mpi_topology *topology,
                  MPI_Comm *out); /* takes TOPOLOGY, NULL: it has none */
int mpi_comm_worlds_open(void); /* world and self */
void mpi_comm_worlds_close(void);

/* Ids of contexts (context.c): each communicator has a number, and four contexts by it. A number is given when it is free
 * at all members. */
enum mpi_context { CONTEXT_MESSAGES, CONTEXT_COLLECTIVES, CONTEXT_HELLOS, CONTEXT_AGREEMENTS, CONTEXTS_OF_COMM };
static inline uint32_t mpi_context_id(uint32_t comm, enum mpi_context which) { return CONTEXTS_OF_COMM * comm + which; }
#define MPI_ID_WORLD 0
#define MPI_ID_SELF 1
#define MPI_ID_PARTS 2 /* no communicator: its first context is that of partitions, of the whole world */
#define MPI_ID_WINDOW 63 /* words looked at at once: 4032 numbers */
struct mpi_agreement {
    bool member;            /* needs the number; else only takes part */
    struct coll_group group;        /* where they alone agree */
    struct coll_schedule *schedule; /* of a round; NULL: not yet */
    uint64_t mask[MPI_ID_WINDOW + 1], claimed;
    uint32_t seed, attempt, id;
    int error;
    _Atomic bool done;
};
/* AGREEMENT is zeroed. Among all of PARENT, or of PARENT's GROUP alone, told apart from others by TAG. */
int mpi_agreement_start(struct mpi_agreement *agreement, struct mpi_comm *parent, bool member) MUST_CHECK;
int mpi_agreement_in_group(struct mpi_agreement *agreement, struct mpi_comm *parent, struct mpi_group *group, int tag) MUST_CHECK;
void mpi_agreement_close(struct mpi_agreement *agreement);
void mpi_id_give(uint32_t id);

struct mpi_group *mpi_group_at(MPI_Group handle);
struct mpi_group *mpi_group_make(int size, const int *world); /* copies; NULL: no memory */
void mpi_group_end(void *group);
int mpi_group_find(const struct mpi_group *group, int world); /* rank of a world rank, MPI_UNDEFINED */
int mpi_group_relation(const struct mpi_group *one, const struct mpi_group *two); /* MPI_IDENT ...; -1: no memory */
extern struct mpi_group mpi_group_empty;

struct mpi_topology *mpi_topology_copy(const struct mpi_topology *topology);

/* ---- datatypes and operations ----------------------------------------------------------------------------------- */

#define MPI_FIRST_TYPE 0x200u
#define MPI_PREDEFINED_TYPES 256u
extern struct mpi_type mpi_types[MPI_PREDEFINED_TYPES];

/* NULL: no datatype. */
static inline struct mpi_type *mpi_type_at(MPI_Datatype handle)
{
    uintptr_t number = (uintptr_t)handle - MPI_FIRST_TYPE;
    if (likely(number < MPI_PREDEFINED_TYPES))
        return mpi_types[number].layout ? &mpi_types[number] : NULL;
    return mpi_object_at(KIND_TYPE, handle, sizeof(struct mpi_type));
}
static inline void mpi_type_ready(struct mpi_type *type) /* it is committed */
{
    type->committed = true;
    type->plain = type->flat && type->size <= INT32_MAX ? (uint32_t)type->size : 0;
}
int mpi_types_open(void);
/* What TYPE's type map is made of: its part I, which follows COUNT times. False: there is no more, or TYPE is basic. */
bool mpi_type_part(const struct mpi_type *type, uint32_t i, const struct mpi_type **part, uint64_t *count);
int mpi_pairs_open(void);    /* of those there are */
int mpi_fortran_apply(void); /* what was told of Fortran's types (abi.c), and pairs of them */
void mpi_type_end(void *type);
const char *mpi_type_text(const struct mpi_type *type); /* its name, or "a derived datatype" */

/* COUNT of TYPE at BASE as the engine wants it: bytes where they lie in a row. */
static inline struct type_buffer mpi_buffer(void *base, uint64_t count, const struct mpi_type *type)
{
    if (type->flat)
        return (struct type_buffer){base, count * type->size, NULL};
    return (struct type_buffer){base, count, type->layout};
}

struct mpi_op *mpi_op_at(MPI_Op handle);
void mpi_ops_open(void);

/* What a user's operation needs at each call. */
struct mpi_user_operation {
    struct mpi_op *op;
    struct mpi_type *type;
};
/* OP over TYPE as coll wants it; CONTEXT must live as long as the reduction. Raises MPI_ERR_OP. */
int mpi_reduction(struct mpi_comm *comm, const char *call, struct mpi_user_operation *context,
                  struct type_reduction *reduction);

/* ---- point to point --------------------------------------------------------------------------------------------- */

/* The arguments of any send or receive. */
struct mpi_message {
    const char *call;
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int rank, tag;
    MPI_Comm comm;
};
/* What they stand for, once checked. */
struct mpi_target {
    struct mpi_comm *comm;
    struct mpi_type *type;
};

/* Raises what is wrong (message.c). By value: on the hot path the arguments then stay in registers. */
int mpi_message_wrong(struct mpi_message message, bool receive) COLD;
#define MPI_HOT static inline __attribute__((always_inline))

/* Whether data of LAYOUT may lie at BASE. A null one is MPI_BOTTOM: good for absolute addresses, which are none of the
 * first page. */
static inline bool mpi_base_fits(const void *base, int64_t displacement, const struct type_layout *layout)
{
    return base != NULL || (uint64_t)(displacement + layout->shape.true_lower_bound) - 4096 < (uint64_t)INT64_MAX - 4096;
}

static inline bool mpi_data_fits(const void *buffer, MPI_Count count, const struct mpi_type *type)
{
    uint64_t bytes;
    return likely(count >= 0) && likely(type->committed) &&
           likely(!__builtin_mul_overflow((uint64_t)count, type->size, &bytes)) &&
           likely(buffer != NULL || bytes == 0 || mpi_base_fits(buffer, 0, type->layout));
}

_Static_assert(MPI_ANY_SOURCE == MSG_ANY_SOURCE, "the engine's wildcard of ranks is MPI's");
static inline struct msg_where mpi_where(const struct mpi_comm *comm, int rank, int tag)
{
    return (struct msg_where){comm->context, rank, tag == MPI_ANY_TAG ? MSG_ANY_TAG : tag};
}

/* Enters the call and checks the message; 0, or the class that was raised. */
int mpi_message_check(const struct mpi_message *message, bool receives, struct mpi_target *target);

/* What becomes of a message. */
enum mpi_way { WAY_STANDARD = MSG_STANDARD, WAY_SYNCHRONOUS = MSG_SYNCHRONOUS, WAY_RECEIVE, WAY_BUFFERED };

/* Starts the operation of a checked message, which is not buffered; with MPI_PROC_NULL it is over then. DATA: what is sent in
 * the place of its own; NULL: that. An error of the engine. */
int mpi_operation_start(struct msg_request *operation, const struct mpi_message *message, const struct mpi_target *target,
                        enum mpi_way way, const struct type_buffer *data);

/* Waits for an operation whose memory is the caller's stack: does not return while the engine may still use it. Where
 * the job is lost and even cancelling does not end the operation, the process ends. The operation's error. */
int mpi_wait_here(struct msg_request *operation);

/* ---- VIADUCT_CHECK (check.c) ------------------------------------------------------------------------------------ */

extern bool mpi_checking;
void mpi_check_open(void);                   /* looks at the setting */
void mpi_check_made(struct mpi_object *object) COLD; /* a handle of it was given to the program */
void mpi_check_tell(void);                   /* what is left at MPI_Finalize */
/* Before an operation with COUNT of TYPE starts: what is sent is told along with the message, or what is expected is
 * kept. And when the operation is over: compares the two; harmless a second time. */
void mpi_check_starts(struct msg_request *operation, const struct mpi_message *message, const struct mpi_target *target,
                      bool sends) COLD;
void mpi_check_ends(struct msg_request *operation) COLD;

/* ---- requests (request.c) --------------------------------------------------------------------------------------- */

/* A request that nobody knows yet, with CALL and a reference on COMM (may be NULL) and LAYOUT (may be NULL). NULL: no
 * memory. */
struct mpi_request *mpi_request_take(enum mpi_request_kind kind, const char *call, struct mpi_comm *comm,
                                     struct type_layout *layout);
void mpi_request_give(struct mpi_request *request);
/* Free ones of this thread, taken and given back without a lock (request.c). None of them has a layout, an extra, or a
 * function for its end. */
struct mpi_own_requests {
    struct mpi_object *free;
    uint32_t count;
};
#define MPI_OWN_REQUESTS 512 /* more go back to all threads */
extern __thread struct mpi_own_requests mpi_own_requests __attribute__((tls_model("initial-exec")));
void mpi_own_requests_return(void);

/* The same where there is no layout, in few instructions. */
extern _Atomic bool mpi_have_orphans;
MPI_HOT struct mpi_request *mpi_request_take_short(enum mpi_request_kind kind, const char *call, struct mpi_comm *comm)
{
    struct mpi_request *request = (struct mpi_request *)(void *)mpi_own_requests.free;
    /* relaxed: an orphan seen late is settled later */
    if (unlikely(!request || atomic_load_explicit(&mpi_have_orphans, memory_order_relaxed))) {
        request = mpi_request_take(kind, call, comm, NULL);
        if (request)
            request->simple = true;
        return request;
    }
    mpi_own_requests.free = request->object.next_free;
    mpi_own_requests.count--;
    request->kind = (uint8_t)kind;
    request->persistent = false;
    request->active = request->simple = true;
    request->comm = comm;
    request->call = call;
    if (comm)
        mpi_object_keep(comm);
    return request;
}
MPI_HOT void mpi_request_keep_own(struct mpi_request *request)
{
    /* relaxed: nobody but a stale handle looks here */
    atomic_store_explicit(&request->object.handle, 0, memory_order_relaxed);
    request->object.identity = mpi_next_identity(request->object.identity);
    request->object.next_free = mpi_own_requests.free;
    mpi_own_requests.free = &request->object;
    if (unlikely(++mpi_own_requests.count > MPI_OWN_REQUESTS))
        mpi_own_requests_return();
}
/* Gives back a simple one that is complete. */
MPI_HOT void mpi_request_give_short(struct mpi_request *request)
{
    if (request->comm)
        mpi_comm_drop(request->comm);
    mpi_request_keep_own(request);
}
/* Its handle; SHORT: where calls are quick, and so nobody checks. */
MPI_HOT MPI_Request mpi_request_publish_short(struct mpi_request *request)
{
    uintptr_t handle = request->object.identity;
    /* release: pairs with the acquire in mpi_object_at */
    atomic_store_explicit(&request->object.handle, handle, memory_order_release);
    return (MPI_Request)handle;
}
static inline MPI_Request mpi_request_publish(struct mpi_request *request)
{
    if (unlikely(mpi_checking))
        mpi_check_made(&request->object);
    return mpi_request_publish_short(request);
}
static inline struct mpi_request *mpi_request_at(MPI_Request handle)
{
    return mpi_object_at(KIND_REQUEST, handle, sizeof(struct mpi_request));
}
bool mpi_request_done(struct mpi_request *request);
/* Until it is done; an error of the engine: it never will be. LAST: is waited for next, a thread may sleep until that is
 * done; NULL: none. */
int mpi_request_wait(struct mpi_request *request, struct mpi_request *last) MUST_CHECK;
/* Tells a complete request in STATUS; its class, not raised. LAST: it is finished with this. */
int mpi_request_outcome(struct mpi_request *request, MPI_Status *status, bool last);
int mpi_request_raise(const char *call, struct mpi_request *request, int class) COLD;
/* Waits for a request that nobody else knows and gives it back; what became of it is told in STATUS, and raised. */
int mpi_request_complete(const char *call, struct mpi_request *request, MPI_Status *status);
/* After the outcome: a persistent one becomes inactive, another one is gone and *HANDLE null. */
void mpi_request_retire(MPI_Request *handle, struct mpi_request *request);
void mpi_requests_settle(void); /* frees what was freed while under way and is complete now */
void mpi_requests_finish(void); /* waits for it: the end */
void mpi_saved_drop(struct mpi_request *request); /* what a persistent one has kept */
int mpi_receive_error(struct mpi_comm *comm, const char *call, int error, const struct msg_result *result) COLD;

void mpi_pair_drop(struct mpi_pair *pair);

struct mpi_general { /* MPI_Grequest_start */
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    _Atomic int state; /* GENERAL_COMPLETE, GENERAL_FREED (by MPI_Request_free), both */
};
#define GENERAL_COMPLETE 1
#define GENERAL_FREED 2

struct mpi_birth { /* of a communicator */
    struct mpi_agreement agreement;
    struct mpi_comm *comm; /* opened at the end; NULL: this rank is not in it */
    int error;             /* a class: of copying the attributes */
    MPI_Comm *out;
};
int mpi_birth_finish(struct mpi_request *request); /* a class, not raised */

/* Partitioned communication (partitioned.c). */
int mpi_partitioned_start(struct mpi_request *request); /* an error of the engine */
bool mpi_partitioned_done(const struct mpi_request *request);
int mpi_partitioned_outcome(struct mpi_request *request, MPI_Status *status);
void mpi_partitioned_drop(struct mpi_request *request);
void mpi_partitioned_finish(void);

/* The part of a collective request that coll does not own (collective.c). */
void mpi_collective_drop(void *extra);

/* ---- counts that are told ---------------------------------------------------------------------------------------- */

/* Where a body tells a count: as MPI_Count, or as int, where what does not fit is MPI_UNDEFINED. Both NULL: nowhere. */
struct mpi_count {
    MPI_Count *wide;
    int *narrow;
};
#define COUNT_AT(place)                                                                                                \
    ((struct mpi_count){_Generic((place), MPI_Count *: (place), default: NULL),                                        \
                        _Generic((place), int *: (place), default: NULL)})
static inline bool mpi_count_wanted(struct mpi_count at) { return at.wide || at.narrow; }
static inline int mpi_count_tell(struct mpi_count at, MPI_Count count)
{
    if (at.wide)
        *at.wide = count;
    else
        *at.narrow = count > INT32_MAX ? MPI_UNDEFINED : (int)count;
    return MPI_SUCCESS;
}

/* ---- statuses (status.c) ---------------------------------------------------------------------------------------- */

#define MPI_STATUS_BYTES 0     /* MPI_internal[0..1]: 64 bits */
#define MPI_STATUS_CANCELLED 2
static inline void mpi_status_set(MPI_Status *status, int source, int tag, uint64_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    __builtin_memcpy(&status->MPI_internal[MPI_STATUS_BYTES], &bytes, sizeof bytes);
    status->MPI_internal[MPI_STATUS_CANCELLED] = 0;
}
/* The empty status of the standard: its error is set, too, unlike that of a status with a result. */
static inline void mpi_status_empty(MPI_Status *status)
{
    mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}
static inline void mpi_status_proc_null(MPI_Status *status) { mpi_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0); }
static inline void mpi_status_result(MPI_Status *status, const struct msg_result *result)
{
    mpi_status_set(status, result->source, result->tag, result->bytes);
}

/* ---- the buffers of MPI_Bsend (buffer.c) ------------------------------------------------------------------------ */

/* Copies the message and sends the copy. */
int mpi_buffered_send(const struct mpi_message *message, const struct mpi_target *target);
bool mpi_buffer_flushed(struct mpi_buffer *buffer, uint64_t last); /* its copies up to number LAST are sent */
void mpi_buffers_finish(void);
int mpi_buffer_flush(const char *call, struct mpi_comm *comm); /* waits until all its copies are sent; NULL: the process's. Raises */

/* ---- the rest --------------------------------------------------------------------------------------------------- */

struct mpi_info *mpi_info_at(MPI_Info handle);
struct mpi_info *mpi_info_copy(const struct mpi_info *info); /* NULL: no memory */
struct mpi_info *mpi_info_of(const char *key, const char *value); /* a new one with that; NULL: no memory */
void mpi_info_end(void *info);
/* A new one becomes the program's; NULL: raises that there is no memory. */
int mpi_info_deliver(struct mpi_comm *comm, const char *call, struct mpi_info *info, MPI_Info *out);
const char *mpi_info_value(const struct mpi_info *info, const char *key); /* NULL: not there */
int mpi_info_put(struct mpi_info *info, const char *key, const char *value); /* an MPI class, not raised */
void mpi_info_environment_open(int count, char **arguments);

/* Runs the copy functions of FROM's attributes and appends to TO. A class, not raised. OBJECT is FROM's handle. */
int mpi_attributes_copy(void *object, const struct mpi_attribute *from, struct mpi_attribute **to);
/* The youngest first; stops at a delete function that fails. */
int mpi_attributes_delete(void *object, struct mpi_attribute **list);

#pragma GCC visibility pop
#endif
