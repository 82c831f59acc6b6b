/* Communicators and groups. A communicator holds its group, and the one that its messages go
 * to: the same, or another one, whose members it has none of (an intercommunicator). */
#pragma once

#include "coll/coll.h"
#include "mpi/arguments.h"

struct mpi_group {
    struct mpi_object object;
    int size, rank; /* rank of this process, MPI_UNDEFINED: not in it */
    int *world;     /* the world rank of each member */
    struct mpi_session *session; /* that it comes from; NULL: the world */
};

#define TOPOLOGY_LISTS 4
struct mpi_topology { /* one block of memory with what it points to */
    int kind;                /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    int dimensions;          /* of a grid */
    bool weighted;           /* a distributed graph */
    bool lopsided;           /* a graph that all know: an edge has none back */
    int indegree, outdegree; /* blocks of neighborhood collectives, those without a neighbour as well */
    struct coll_edges edges; /* the neighbours of this rank */
    int length[TOPOLOGY_LISTS];
    union {
        int *list[TOPOLOGY_LISTS];
        struct {
            int *extent, *periodic, *coordinates; /* of this rank */
        };
        struct {
            int *index, *targets; /* of a graph: where the edges of each node end in the list of their targets */
        };
        struct {
            int *source, *source_weight, *destination, *destination_weight;
        };
    };
};

struct mpi_buffer { /* of MPI_Bsend (buffer.c) */
    void *attached; /* NULL: none; or MPI_BUFFER_AUTOMATIC */
    int64_t size;   /* as it was attached */
    char *start, *end;
    struct mpi_copy *copies;
    uint64_t copied; /* copies ever made */
};

struct mpi_comm {
    struct mpi_thing thing;
    int size, peers;             /* of its group, and of that which it talks to */
    struct msg_context *context; /* the user's messages; of an intercommunicator its members are the others alone */
    struct coll_group coll;      /* collectives, with a context of their own; both groups, that with the lower first
                                  * world rank first */
    uint32_t id;                 /* see mpi_context_id */
    bool numbered;               /* has it */
    uint32_t children;           /* communicators made from this one so far: the same on all members */
    struct mpi_group *group, *other; /* other: see peers */
    struct mpi_topology *topology;
    struct mpi_buffer buffer;
    struct mpi_info *hints; /* that are kept (hints.c); NULL: none */
    struct mpi_traffic *_Atomic traffic; /* to each peer, once a tool has asked for it (tool_performance.c) */
    struct msg_context *hellos;  /* of partitioned communication; NULL: there was none here */
};

static inline struct mpi_comm *mpi_comm_at(MPI_Comm handle)
{
    if (likely(handle == MPI_COMM_WORLD))
        return mpi_process.world;
    if (handle == MPI_COMM_SELF)
        return mpi_process.self;
    return mpi_object_at(KIND_COMM, handle, sizeof(struct mpi_comm));
}
static inline void *mpi_thing_handle(const void *thing) /* without a new user */
{
    return thing == mpi_process.world  ? (void *)(intptr_t)MPI_COMM_WORLD
           : thing == mpi_process.self ? (void *)(intptr_t)MPI_COMM_SELF
                                       : mpi_handle(thing);
}
static inline void mpi_comm_drop(struct mpi_comm *comm)
{
    if (unlikely(mpi_object_drop(comm)))
        mpi_object_end(comm);
}

static inline bool mpi_comm_is_inter(const struct mpi_comm *comm) { return comm->other != comm->group; }

/* One more communicator over GROUP and OTHER (a reference of each is taken), with PARENT's error handler and all the
 * memory that it needs, that nothing can be sent on yet; NULL: no memory. Then it is opened with the agreed id: an
 * error of the engine, and COMM is gone, where it cannot be. */
struct mpi_comm *mpi_comm_new(struct mpi_comm *parent, struct mpi_group *group, struct mpi_group *other);
int mpi_comm_open(struct mpi_comm *comm, uint32_t id) MUST_CHECK;
struct mpi_bridge;
int mpi_inter_make(struct mpi_bridge *bridge, MPI_Comm *out); /* a class that was raised */
int mpi_comm_worlds_open(void); /* world and self */
void mpi_comm_worlds_close(void);

/* What is made of some of PARENT's members, for this process. All of PARENT call, or, with a tag that they have agreed
 * on, only those of GROUP. */
struct mpi_child {
    const char *call;
    struct mpi_comm *parent;
    struct mpi_group *group, *other; /* NULL: this process is in none; the same group */
    bool alone;                      /* GROUP alone calls */
    int tag;
    struct mpi_topology *topology;   /* taken; NULL: none */
    struct mpi_bridge *bridge;       /* PARENT has the own group alone; NULL: it has both */
    bool unable;                     /* there was no memory for the groups here: it fails at all */
};
int mpi_comm_make(const struct mpi_child *child, MPI_Comm *out); /* *OUT is null where it is in none, and on errors */
/* Room for what each of RANKS says in BYTES, also where there is no memory: other ranks wait for this one. NULL: it is
 * more than the spare list holds. */
#define MPI_LIST_ITEM 64
void *mpi_list_new(int ranks, size_t bytes);
void mpi_list_free(void *list);
/* The greatest that any rank of COMM has, of each of COUNT numbers: needs no memory (inter.c). A raised
 * class. */
int mpi_greatest_find(const char *call, struct mpi_comm *comm, int *numbers, uint64_t count);
int mpi_comm_split(const char *call, struct mpi_comm *parent, int color, int key, MPI_Comm *out);

struct mpi_group *mpi_group_at(MPI_Group handle);
/* Copies; of the same session as OF (NULL: of none). NULL: no memory. */
struct mpi_group *mpi_group_make(int size, const int *world, const struct mpi_group *of);
int *mpi_groups_join(const struct mpi_group *first, const struct mpi_group *last); /* their world ranks, to be freed */
int mpi_group_find(const struct mpi_group *group, int world);    /* rank of a world rank, MPI_UNDEFINED */
int mpi_group_relation(const struct mpi_group *one, const struct mpi_group *two); /* MPI_IDENT ...; -1: no memory */

/* With lists of LENGTH and room for so many edges. NULL: no memory. */
struct mpi_topology *mpi_topology_new(int kind, const int length[TOPOLOGY_LISTS], int indegree, int outdegree);
/* All of PARENT call: for each of the RANKS of GRID that of PARENT which it is to be, for mpi_list_free; NULL: the
 * same one, as where GRID is NULL: no memory here (reorder.c). A class that was raised. */
int mpi_grid_order(const char *call, struct mpi_comm *parent, const struct mpi_topology *grid, int ranks, int **order);
struct mpi_topology *mpi_topology_copy(const struct mpi_topology *topology);
