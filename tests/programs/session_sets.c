/* Each process set of the command line that this rank is in: its name, and rank and size there. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int count, length, rank, size;
    char name[MPI_MAX_PSET_NAME_LEN];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    for (int i = 3; i < count; i++) {
        length = sizeof name;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        MPI_Group_from_session_pset(session, name, &group);
        MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Barrier(comm);
        printf("%s %d of %d\n", name, rank, size);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
}
