/* Numbers of communicators. Each communicator has a number, and three contexts of the engine by it. A number is given
 * when it is free at all members. */
#pragma once

#include "mpi/message.h"

enum mpi_context {
    CONTEXT_MESSAGES, CONTEXT_COLLECTIVES, CONTEXT_HELLOS, CONTEXTS_OF_COMM,
    CONTEXT_PARTS = 0, CONTEXT_QUESTIONS, CONTEXT_AGREEMENTS /* of MPI_ID_PARTS */
};
static inline uint32_t mpi_context_id(uint32_t comm, enum mpi_context which) { return CONTEXTS_OF_COMM * comm + which; }
#define MPI_ID_WORLD 0
#define MPI_ID_SELF 1
#define MPI_ID_PARTS 2 /* no communicator: its contexts are of the whole world, for partitions and for groups alone */
_Static_assert(CONTEXTS_OF_COMM == MSG_CONTEXTS_COMM && CONTEXT_COLLECTIVES == 1 && MPI_ID_PARTS == 2,
               "so msg/msg.h says it, by which viaduct stuck names a communicator");
#define MPI_ID_WINDOW 63 /* words looked at at once: 4032 numbers */
/* Behind them: is there only one thread, and can all take part? */
enum { MPI_ID_ALONE = MPI_ID_WINDOW, MPI_ID_ABLE, MPI_ID_MASK };

/* Two groups that want an intercommunicator. Each has a communicator, and their leaders can talk over another one. */
struct mpi_bridge {
    const char *call;
    struct mpi_comm *local;
    int leader;               /* rank in it */
    struct mpi_message remote; /* to and from the other leader; looked at by the leader alone */
    int failed;                /* at the leader: a class that was raised, and that all hear of */
    bool parted;               /* at the leader: the other leader waits for nothing any more */
};
#define MPI_BRIDGE_MOST 1024
/* Of both leaders: BYTES, MPI_BRIDGE_MOST at most, from MINE go to the other's THEIRS. An error of the engine, also
 * where the other group has failed. */
int mpi_bridge_swap(struct mpi_bridge *bridge, const void *mine, void *theirs, int bytes);
/* The last step of both leaders: each tells the other how its group has ended, so that none waits in vain. */
void mpi_bridge_part(struct mpi_bridge *bridge, int class);
/* A context of all ranks of the job, where *CONTEXT is NULL. What comes before it is open is kept. */
int mpi_world_context_open(uint32_t id, enum mpi_context which, struct msg_context **context);
/* The context WHICH of COMM's messages to its peers; an error of the engine. */
int mpi_comm_peers_open(const struct mpi_comm *comm, uint32_t id, enum mpi_context which, struct msg_context **out);

struct mpi_agreement {
    struct mpi_bridge *bridge; /* two groups that have no communicator yet; NULL: one that has */
    bool member;            /* needs the number; else only takes part */
    struct coll_group group;        /* where they alone agree */
    struct coll_schedule *schedule; /* of a round; NULL: not yet */
    bool unable;            /* this rank has no memory for its part: an error for all */
    uint64_t mask[MPI_ID_MASK], claimed;
    uint32_t seed, attempt, id;
    int error;
    _Atomic bool done;
};
/* AGREEMENT is zeroed, but for `unable`. Among all of PARENT, or of GROUP alone: TAG is from mpi_tag_agree. */
int mpi_agreement_start(struct mpi_agreement *agreement, struct mpi_comm *parent, bool member) MUST_CHECK;
int mpi_agreement_in_group(struct mpi_agreement *agreement, struct mpi_group *group, int tag) MUST_CHECK;
/* Two groups: PARENT has the own one alone. It has waited for all steps when it returns. */
int mpi_agreement_over_bridge(struct mpi_agreement *agreement, struct mpi_bridge *bridge) MUST_CHECK;
bool mpi_agreement_over(void *agreement);
int mpi_agreement_await(struct mpi_agreement *agreement) MUST_CHECK; /* and closes it; an error of the engine */
void mpi_agreement_close(struct mpi_agreement *agreement);
void mpi_id_give(uint32_t id);

/* What members of a group alone do, see question.c; the middle two are on the way to an intercommunicator. */
enum mpi_purpose { MAKES_PLAIN, MAKES_LOCAL, MAKES_LEADERS, MAKES_SOME };
/* What tells a call of a group apart: the text; where that is made of a tag and a parent, these are told to tools. */
struct mpi_subject {
    enum mpi_purpose purpose;
    const char *text;
    const struct mpi_comm *parent; /* NULL: none */
    int tag;
};
/* A tag for an agreement of GROUP, for which all its members ask with the same SUBJECT. A class that was raised. */
int mpi_tag_agree(const char *call, struct mpi_thing *thing, struct mpi_group *group, const struct mpi_subject *subject,
                  int *tag);
/* The context of questions; messages of other kinds in it have the tag INT32_MAX. An error of the engine. */
int mpi_questions_open(struct msg_context **context);
