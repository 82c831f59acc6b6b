/* Two ranks of a process that gets no userfaultfd, as in many containers: one sends a piece of memory 100 times, gives it
 * back and takes another one, five times over; the other one looks at the bytes. no_watch [malloc]: not from
 * MPI_Alloc_mem. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define BYTES (256 << 10)

static void userfaultfd_refuse(void)
{
    struct sock_filter rule[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog rules = {sizeof rule / sizeof *rule, rule};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules))
        exit(77);
}

static char *take(int plain)
{
    char *memory = NULL;
    if (plain)
        memory = malloc(BYTES);
    else
        MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory);
    return memory;
}

int main(int argc, char **argv)
{
    int rank, plain = argc > 1, wrong = 0;
    userfaultfd_refuse();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int piece = 0; piece < 5; piece++) {
        char *memory = take(plain);
        for (int i = 0; i < 100; i++) {
            memset(memory, rank ? 0 : piece + i, BYTES);
            if (rank == 0)
                MPI_Send(memory, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(memory, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < BYTES; k += 1000)
                wrong += memory[k] != (char)(piece + i);
        }
        if (plain)
            free(memory);
        else
            MPI_Free_mem(memory);
    }
    if (wrong)
        printf("%d bytes are wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
