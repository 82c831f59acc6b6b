/* With VIADUCT_CHECK two groups whose leaders name unlike tags, or unlike peer communicators, or another process than
 * the leader, are told on both sides which other leader disagrees and where; then they make an intercommunicator.
 * Leaders that come in an order in which each finds another one first are told nothing.
 * ranks: 4 tcp: 4 presets: release asan */
#include "mpi_check.h"

static MPI_Comm half, twin;
static int side, leads;

static void sentence_check(int code, const char *text)
{
    char sentence[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, sentence, &length);
    CHECK(strstr(sentence, text));
    if (!strstr(sentence, text))
        fprintf(stderr, "rank %d is told: %s\n", rank, sentence);
}

/* One that fails with CLASS on all ranks; LOWER and UPPER: what the leaders of both sides are told. */
static void differ(MPI_Comm peer, int remote, int tag, int class, const char *lower, const char *upper)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int code = MPI_Intercomm_create(half, 0, peer, remote, tag, &inter);
    CHECK_CLASS(code, class);
    sentence_check(code, "MPI_Intercomm_create");
    sentence_check(code, !leads ? "the leader, rank 0, failed" : side ? upper : lower);
    if (leads)
        sentence_check(code, "in MPI_Intercomm_create at ");
    CHECK(inter == MPI_COMM_NULL);
}

static void meet(MPI_Comm own, int remote, int tag)
{
    MPI_Comm inter;
    CHECK_OK(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, remote, tag, &inter));
    CHECK_OK(MPI_Barrier(inter));
    CHECK_OK(MPI_Comm_free(&inter));
}

/* Three groups, each with each of the others: the first ones meet while the third waits for one of them. */
static void triangle(void)
{
    MPI_Comm own;
    int first[] = {1, 0, 0, 0}, then[] = {2, 2, 1, 1};
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? rank : 2, rank, &own);
    for (int i = 0; i < 20; i++) {
        meet(own, first[rank], rank < 2 ? 3 : 4); /* 0 and 1; the third one waits for 0, */
        if (rank == 0)
            meet(own, 2, 4);
        if (rank > 1)
            meet(own, then[rank], 5);
        if (rank == 1)
            meet(own, then[rank], 5); /* which comes when it has met 1 */
    }
    CHECK_OK(MPI_Comm_free(&own));
}

int main(void)
{
    setenv("VIADUCT_CHECK", "1", 1);
    check_init();
    side = rank >= 2;
    leads = rank % 2 == 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    int other = side ? 0 : 2;
    for (int i = 0; i < 3; i++) {
        differ(MPI_COMM_WORLD, other, 5 + side, MPI_ERR_TAG, "tag is 5, but 6 at the other leader, rank 2 of the job",
               "tag is 6, but 5 at the other leader, rank 0 of the job");
        meet(half, other, 7);
        differ(side ? twin : MPI_COMM_WORLD, other, 5, MPI_ERR_COMM, "peer_comm is communicator 0, but communicator ",
               "but communicator 0 at the other leader, rank 0 of the job");
        meet(half, other, 7);
        differ(MPI_COMM_WORLD, side ? 0 : 3, 5, MPI_ERR_RANK,
               "remote_leader 3 is rank 3 of the job, which is in the group of rank 2 of the job",
               "remote_leader 0 is rank 0 of the job, which names rank 3 of the job as its remote leader");
        meet(half, other, 7);
        differ(MPI_COMM_WORLD, side ? 1 : 2, 5, MPI_ERR_RANK,
               "remote_leader 2 is rank 2 of the job, which names rank 1 of the job as its remote leader",
               "remote_leader 1 is rank 1 of the job, which is in the group of rank 0 of the job");
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        MPI_Comm inter; /* led by those that were named in error */
        CHECK_OK(MPI_Intercomm_create(half, 1, MPI_COMM_WORLD, side ? 1 : 3, 5, &inter));
        CHECK_OK(MPI_Comm_free(&inter));
    }
    triangle();
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    return check_finalize();
}
