/* Messages of more than 4 GiB of address arithmetic would show here: 3 GiB, fetched, together and sent; and 64 MiB both
 * ways at once. Needs 3 GiB; skips where the machine has less.
 * takes: 9 presets: release
 * timeout: 180 */
#include "harness.h"
#include <sys/mman.h>

#define PERIOD (61u * 4096 * 251)
#define STEP 4093 /* one word in so many bytes is stamped: fast, and no two pages alike */

static unsigned char *memory(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(at != MAP_FAILED);
    (void)madvise(at, bytes, MADV_HUGEPAGE); /* else most of the time goes into small pages */
    return at;
}

static void stamp(unsigned char *data, unsigned message, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += STEP)
        data[i] = check_byte(message, i);
}

static bool stamped(const unsigned char *data, unsigned message, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += STEP)
        if (data[i] != check_byte(message, i))
            return false;
    return true;
}

/* Some memory that is seen again and again. No chunk is as long, so what comes to a wrong place is seen. */
static unsigned char *repeated(uint64_t bytes)
{
    int fd = memfd_create("repeated", 0);
    unsigned char *at = memory(bytes + PERIOD);
    CHECK(fd >= 0 && ftruncate(fd, PERIOD) == 0);
    for (uint64_t from = 0; from < bytes; from += PERIOD)
        CHECK(mmap(at + from, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    close(fd);
    return at;
}

static void three_gib(int rank)
{
    uint64_t bytes = (3ull << 30) + 12345;
    struct msg_result result;
    unsigned char *data = rank == 0 ? repeated(bytes) : memory(bytes);
    if (rank == 0) {
        for (uint64_t i = 0; i < PERIOD; i++)
            data[i] = check_byte(3, i);
        CHECK_EQUAL(vmsg_send(world, 1, 1, data, bytes), OK);
    } else {
        CHECK_EQUAL(vmsg_recv(world, 0, 1, data, bytes, &result), OK);
        CHECK_EQUAL(result.bytes, bytes);
        uint64_t i = 0;
        while (i < bytes && data[i] == check_byte(3, i % PERIOD))
            i += STEP;
        CHECK(i >= bytes);
    }
    munmap(data, bytes);
}

static void both_ways(int rank)
{
    uint64_t bytes = 64u << 20;
    struct msg_where where = {world, 1 - rank, 1};
    for (int d = -1; d <= 1; d++) {
        struct type_buffer from = {.base = memory(bytes + 1), .count = bytes + (uint64_t)d};
        struct type_buffer to = {.base = memory(bytes + 1), .count = bytes + (uint64_t)d};
        struct msg_request send = {0}, receive = {0};
        stamp(from.base, (unsigned)rank, from.count);
        CHECK_EQUAL(vmsg_send_start(&send, &where, &from, MSG_STANDARD), OK);
        CHECK_EQUAL(vmsg_recv_start(&receive, &where, &to), OK);
        CHECK_EQUAL(vmsg_wait(&send), OK);
        CHECK_EQUAL(vmsg_wait(&receive), OK);
        CHECK(stamped(to.base, (unsigned)(1 - rank), to.count));
        munmap(from.base, bytes + 1);
        munmap(to.base, bytes + 1);
    }
}

int main(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES);
    if (pages >= 0 && (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) < 4ull << 30) {
        printf("less than 4 GiB of memory is free\n");
        return 77;
    }
    harness_run(2, both_ways);
    harness_run(2, three_gib);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, both_ways);
    harness_run(2, three_gib);
    return check_done();
}
