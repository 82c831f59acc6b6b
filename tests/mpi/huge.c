/* One message of 3 GiB, and one of more than 2^31 elements by the _c form.
 * takes: 7 ranks: 2
 * presets: release
 * timeout: 300 */
#include "mpi_check.h"
#include <sys/mman.h>

/* Megabytes that can still be had. */
static long available(void)
{
    char line[128];
    long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %ld", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes / 1024;
}

static uint64_t word(uint64_t message, uint64_t i) { return (i + message) * 0x9E3779B97F4A7C15ull; }

int main(void)
{
    size_t words = ((size_t)3 << 30) / 8;
    check_init();
    int enough = available() > 8000, all = 0;
    MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        MPI_Finalize();
        puts("skip: less than 8 GB of memory are free");
        return 77;
    }
    uint64_t *data = aligned_alloc(2 << 20, words * 8);
    (void)madvise(data, words * 8, MADV_HUGEPAGE); /* else most of the time goes into small pages */
    for (uint64_t message = 0; message < 2; message++) {
        MPI_Status status;
        for (size_t i = 0; i < words; i++)
            data[i] = rank == 0 ? word(message, i) : 0;
        if (rank == 0 && message == 0)
            MPI_Send(data, (int)words, MPI_UINT64_T, 1, 1, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Send_c(data, (MPI_Count)words * 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        else if (message == 0)
            MPI_Recv(data, (int)words, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD, &status);
        else
            MPI_Recv_c(data, (MPI_Count)words * 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
        size_t right_words = 0;
        while (right_words < words && data[right_words] == word(message, right_words))
            right_words++;
        CHECK_EQUAL(right_words, words);
        MPI_Count count = 0;
        if (rank == 1) {
            MPI_Get_count_c(&status, MPI_BYTE, &count);
            CHECK_EQUAL(count, (MPI_Count)words * 8);
            CHECK_EQUAL(count_of(&status, MPI_BYTE), MPI_UNDEFINED); /* does not fit into an int */
            CHECK_EQUAL(count_of(&status, MPI_UINT64_T), words);
        }
    }
    free(data);
    return check_finalize();
}
