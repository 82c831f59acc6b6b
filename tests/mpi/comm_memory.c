/* What a communicator that only ever did a barrier takes of a node: heap of all its ranks, and the memory that they share.
 * And communicators that are made and freed again leave nothing behind.
 * ranks: 2 8 16 takes: 5 presets: release */
#include "mpi_check.h"
#include <fcntl.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALIVE 128
#define MADE 1000
#define NODE_MOST (64 << 10)

/* Bytes of the memory that ranks share, which this one has got from the kernel and not given back. */
static long shared;

__attribute__((visibility("default"))) int fallocate(int file, int mode, off_t offset, off_t length)
{
    int error = (int)syscall(SYS_fallocate, file, mode, offset, length);
    if (!error)
        shared += mode & FALLOC_FL_PUNCH_HOLE ? -length : length;
    return error;
}

static long heap(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 all = mallinfo2();
#else
    struct mallinfo all = mallinfo();
#endif
    return (long)(all.uordblks + all.hblkhd);
}

struct memory {
    long heap, shared;
};

/* Of all ranks. */
static struct memory memory(void)
{
    struct memory own = {heap(), shared}, all;
    MPI_Allreduce(&own, &all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static MPI_Comm made[ALIVE];

static void make(int first, int last)
{
    for (int i = first; i < last; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        MPI_Barrier(made[i]);
    }
}

static void unmake(int first, int last)
{
    for (int i = first; i < last; i++)
        MPI_Comm_free(&made[i]);
}

int main(void)
{
    check_init();
    make(0, ALIVE); /* what is made once for a process */
    unmake(0, ALIVE);
    (void)memory();
    struct memory none = memory();
    make(0, ALIVE);
    struct memory all = memory();
    long each = (all.heap - none.heap) / ALIVE, common = (all.shared - none.shared) / ALIVE;
    if (rank == 0)
        printf("a communicator of %d ranks: %ld bytes of heap a rank, %ld shared, %ld in all\n", size, each / size, common,
               each + common);
    CHECK(each > 0 && common > 0);
    CHECK(each + common <= NODE_MOST);
    unmake(0, ALIVE);
    for (int i = 0; i < MADE; i++) {
        make(0, 1);
        unmake(0, 1);
    }
    struct memory after = memory();
    if (rank == 0 && (after.heap > none.heap || after.shared > none.shared))
        printf("%ld bytes of heap left, %ld shared\n", after.heap - none.heap, after.shared - none.shared);
    CHECK(after.heap <= none.heap + size * 8192L); /* what messages on the way have need of */
    CHECK_EQUAL(after.shared, none.shared);
    return check_finalize();
}
