/* Uses a session, or the world, and then ends in the way that the argument names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* The way is that of rank 0; the others return from main. */
int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank;
    const char *how = argc > 1 ? argv[1] : "";
    if (strncmp(how, "world-", 6) == 0) {
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Finalize();
        how += 6;
    } else {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "end", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Barrier(comm);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        if (strncmp(how, "open-", 5) != 0 || rank > 0)
            MPI_Session_finalize(&session);
        else
            how += 5;
    }
    if (rank > 0)
        return 0;
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    return 0;
}
