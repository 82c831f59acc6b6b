/* fork, system and popen in a rank are harmless: children come and go, also while messages are under way, and end by
 * exit or _exit without a trace in the job. ranks: 2 tcp: 2 */
#include "mpi_check.h"
#include <sys/wait.h>
#include <unistd.h>

static void children(int round)
{
    char text[64] = "";
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (round % 2)
            exit(7); /* runs what is registered for the end */
        _exit(7);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(system("exit 3") >> 8, 3);
    FILE *pipe = popen("echo from a child", "r");
    CHECK(pipe && fgets(text, sizeof text, pipe));
    CHECK_TEXT(text, "from a child\n");
    if (pipe)
        CHECK_EQUAL(pclose(pipe), 0);
}

int main(void)
{
    static unsigned char out[400000], in[400000];
    MPI_Request request[2];
    check_init();
    fflush(NULL);
    for (unsigned round = 0; round < 6; round++) {
        fill(out, sizeof out, round * 2 + (unsigned)rank);
        MPI_Irecv(in, sizeof in, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, sizeof out, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &request[1]);
        children((int)round);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        CHECK_BYTES(in, sizeof in, round * 2 + (unsigned)(1 - rank));
    }
    return check_finalize();
}
