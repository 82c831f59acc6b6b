/* Numbers of communicators. Each communicator has a number, and four contexts of the engine by it. A number is given
 * when it is free at all members. */
#pragma once

#include "mpi/comm.h"

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
int mpi_agreement_in_group(struct mpi_agreement *agreement, struct mpi_comm *parent, struct mpi_group *group,
                           int tag) MUST_CHECK;
void mpi_agreement_close(struct mpi_agreement *agreement);
void mpi_id_give(uint32_t id);
