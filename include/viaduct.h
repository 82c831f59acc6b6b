/* viaduct: messages made of pieces that lie anywhere, and calls of functions in other processes. Link with -lviaduct,
 * start with mpiexec. See viaduct(3), and docs/packing.md for a tour.
 *
 * A message is packed block by block and unpacked block by block, in the same order with the same lengths and modes; it
 * says nothing about itself, so a receiver may learn from one block how long the next is.
 *
 * Every function that returns an int returns VD_OK or a negative code; vd_error_text tells more about the last one of
 * this thread. After an error a message goes no further: the calls that follow return the same code, and the one that
 * ends the message must still be made.
 *
 * Threads: one, unless vd_threads was called. Then any thread may call; a message belongs to one thread at a time. */
#ifndef VIADUCT_H
#define VIADUCT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vd_code {
    VD_OK = 0,
    VD_AGAIN = -1,        /* not now: try again later */
    VD_UNSUPPORTED = -2,
    VD_NO_MEMORY = -3,
    VD_ARGUMENT = -4,
    VD_TOO_LONG = -5,     /* a block came that is longer than its place */
    VD_UNREACHABLE = -9,  /* no connection of the kind that was asked for */
    VD_DEAD = -11,        /* the other process is gone; or one is, and all were needed */
    VD_TIMEOUT = -13,
    VD_CANCELLED = -14,
    VD_LIMIT = -16,
    VD_STATE = -17,       /* not allowed now */
    VD_NOT_FOUND = -18,
    VD_ASYMMETRY = -19    /* pack and unpack do not agree */
};

/* One sentence about CODE, with the cause where this thread met it last. Valid until the thread's next call. */
const char *vd_error_text(int code);
/* The code of this thread's last call that gave NULL. */
int vd_error(void);

/* ---- the job ---------------------------------------------------------------------------------------------------- */

/* A process that dies ends the job, unless it was started by mpiexec --enable-recovery: then calls that need it give
 * VD_DEAD, and the others go on. vd_channel_open, vd_channel_close and vd_finalize, which need all, do their part and
 * give VD_DEAD.
 *
 * Every process of the job calls both; inside an MPI program too, between MPI_Init and MPI_Finalize or around them: it
 * is the same engine. */
int vd_init(void);
int vd_finalize(void);
int vd_rank(void); /* of this process: 0 to vd_size() - 1; -1 outside */
int vd_size(void);
/* From now on several threads call. By one thread, before the others begin. */
int vd_threads(void);

/* ---- channels --------------------------------------------------------------------------------------------------- */

/* What is sent on one channel is received on that channel, in the order of sending from each process. NETWORK: NULL or
 * "all": the best way to each; "shm": shared memory; "tcp": the network, also inside a host; "verbs": InfiniBand, RoCE
 * or iWARP (VD_UNSUPPORTED where there is no such device); the name of a network card ("eth0"): these cards alone. If a
 * process cannot be reached that way, all get VD_UNREACHABLE, and vd_error_text names it. All processes open and close
 * the same channels in the same order; closing drops what was not received. */
typedef struct vd_channel vd_channel;
int vd_channel_open(const char *name, const char *network, vd_channel **channel);
int vd_channel_close(vd_channel *channel);

/* ---- messages --------------------------------------------------------------------------------------------------- */

typedef enum vd_send_mode {
    VD_SEND_CHEAPER, /* the block must not change before the message has ended; do what is fastest */
    VD_SEND_SAFER,   /* the block may be changed as soon as vd_pack returns */
    VD_SEND_LATER    /* the block is read when the message is ended, and may be written until then */
} vd_send_mode;
typedef enum vd_receive_mode {
    VD_RECEIVE_CHEAPER, /* the block is there when the message has ended */
    VD_RECEIVE_EXPRESS  /* the block is there when vd_unpack returns */
} vd_receive_mode;
#define VD_ANYONE (-1)

/* A message on its way, from begin to end. NULL: an error, vd_error tells which. */
typedef struct vd_connection vd_connection;

vd_connection *vd_begin_packing(vd_channel *channel, int remote);
int vd_pack(vd_connection *connection, const void *data, size_t length, vd_send_mode send, vd_receive_mode receive);
int vd_end_packing(vd_connection *connection); /* all blocks may be changed afterwards */

/* Waits for the next message of anyone, or of one. */
vd_connection *vd_begin_unpacking(vd_channel *channel);
vd_connection *vd_begin_unpacking_from(vd_channel *channel, int remote);
int vd_unpack(vd_connection *connection, void *data, size_t length, vd_send_mode send, vd_receive_mode receive);
int vd_end_unpacking(vd_connection *connection);
int vd_remote(const vd_connection *connection); /* the process that it goes to or comes from */

/* ---- without waiting -------------------------------------------------------------------------------------------- */

/* VD_AGAIN: no message is here. REMOTE may be VD_ANYONE. */
int vd_begin_unpacking_now(vd_channel *channel, int remote, vd_connection **connection);
/* End a message without waiting; blocks stay untouched until vd_done or vd_wait says that it is over. Nothing else may
 * be done with the connection meanwhile, and nothing at all afterwards. */
int vd_end_packing_start(vd_connection *connection);
int vd_end_unpacking_start(vd_connection *connection);
int vd_done(vd_connection *connection); /* VD_AGAIN: not yet; else it is over: VD_OK or what went wrong */
int vd_wait(vd_connection *connection);
/* A descriptor for poll(2) and the like: readable when a message waits to be unpacked, and when something that was
 * begun may be over, so that vd_done or vd_rpc_done say so, if it was begun after this call (a deadline does not wake).
 * vd_arm makes it quiet until the next look; so after each wake-up: arm, then take messages until VD_AGAIN, and ask for
 * what is under way. It may be readable for nothing now and then. A thread stands behind it, which runs remote calls as
 * well; so this does what vd_threads does. */
int vd_get_fd(void);
int vd_arm(void);
/* Makes progress with all that is under way: 1 if something moved, else 0. */
int vd_progress(void);

/* ---- calls of functions in other processes ----------------------------------------------------------------------- */

/* A function is called by its name with arguments that are packed like a message, and may answer with another one.
 * Blocks of arguments and replies may be changed as soon as vd_pack has returned, whatever their send mode.
 *
 * At a server calls wait for their turn in the order of their coming. A caller has at most VD_RPC_ROOM calls out to one
 * server: those that are not answered, and those whose reply has blocks longer than 2 KiB, or more than 8 KiB in all,
 * until they are ended, for the server keeps these. So a flood of calls waits at its callers. */
typedef struct vd_call vd_call;
typedef void vd_handler(vd_call *call, void *context);
typedef enum vd_place {
    VD_AT_ONCE, /* by any thread that makes progress, one at a time; it must not wait for others (VD_STATE) */
    VD_POOL     /* by one of the pool's threads; it may wait, and call */
} vd_place;
#define VD_RPC_ROOM 64

/* Every process that calls or is called, after vd_init; vd_finalize ends it. Calls wait until it was called;
 * vd_finalize does that, too. Functions are registered before, so that no call comes too early (VD_NOT_FOUND), or
 * later. THREADS: of the pool; if there are some, it does what vd_threads does. */
int vd_rpc_start(int threads);
int vd_rpc_register(const char *name, vd_handler *handler, void *context, vd_place place);

/* A call of NAME at REMOTE. NS: nanoseconds from vd_rpc_send until the caller gives up, 0: never; VD_ONE_WAY: there is
 * no reply. Waits while VD_RPC_ROOM calls are out, no longer than NS (VD_TIMEOUT); inside a handler that runs at once
 * it gives NULL and VD_AGAIN instead, as vd_rpc_begin_now does everywhere. VD_LIMIT: only you can free a place, for
 * what is out was not sent, or is answered and must be ended first. Pack the arguments, then send. */
#define VD_ONE_WAY UINT64_MAX
vd_call *vd_rpc_begin(int remote, const char *name, uint64_t ns);
vd_call *vd_rpc_begin_now(int remote, const char *name, uint64_t ns);
vd_connection *vd_rpc_arguments(vd_call *call);
int vd_rpc_send(vd_call *call); /* one way: the call is over and gone */
/* Waits for the reply: unpack it from *reply, then end the call. Errors: VD_TIMEOUT, VD_CANCELLED, VD_NOT_FOUND (the
 * server has no such name), or what the handler said by vd_rpc_fail; there is no reply then. */
int vd_rpc_wait(vd_call *call, vd_connection **reply);
int vd_rpc_done(vd_call *call);    /* VD_AGAIN: vd_rpc_wait would wait */
int vd_rpc_cancel(vd_call *call);  /* asks the server to stop; the reply, or VD_CANCELLED, comes in any case */
int vd_rpc_end(vd_call *call);     /* at any time; a reply not unpacked is dropped; a call not sent never is */

/* Inside a handler: vd_rpc_arguments are to be unpacked; CHEAPER blocks are there when vd_end_unpacking was called. The
 * reply leaves when the handler returns, an empty one if vd_rpc_reply was not called. */
int vd_rpc_caller(const vd_call *call);
vd_connection *vd_rpc_reply(vd_call *call);
void vd_rpc_fail(vd_call *call, int code); /* the caller gets CODE, negative and not VD_AGAIN, instead of a reply */
int vd_rpc_cancelled(const vd_call *call); /* 1: the caller has cancelled it or given up */

/* Handles calls until FINISHED says so; sleeps when there are none. Any other call that waits handles them as well. */
int vd_rpc_serve(int (*finished)(void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
