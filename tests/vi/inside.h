/* Several shm nics in one process, over one segment: what happens when is then the test's decision alone. */
#ifndef TESTS_VI_INSIDE_H
#define TESTS_VI_INSIDE_H

#include "check.h"
#include "each.h"
#include "fault/fault.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/settings.h"
#include "vi/shm/segment.h"
#include "vi/shm/shm.h"

#include <unistd.h>

#define INSIDE_MOST 1000

static struct inside {
    int fd, ranks;
    struct vi_nic *nic[INSIDE_MOST];
    uint64_t got[INSIDE_MOST], header[INSIDE_MOST]; /* by receiver */
    uint32_t length[INSIDE_MOST], from[INSIDE_MOST];
    const void *data[INSIDE_MOST]; /* of the last message, where it lay */
    int down[INSIDE_MOST], cause;
    _Atomic int called;
} inside;

static unsigned random_state = 12345;
static inline unsigned random_below(unsigned n)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 8) % n;
}

static bool inside_one_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    uint32_t rank = vi->nic->rank;

    inside.got[rank]++;
    inside.header[rank] = header;
    inside.length[rank] = (uint32_t)length;
    inside.from[rank] = vi->peer;
    inside.data[rank] = data;
    return false;
}

static bool inside_received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(inside_one_received, vi, header, data, length, count);
}

static void inside_arrived(struct vi *vi, uint32_t immediate, uint64_t length) { (void)vi, (void)immediate, (void)length; }
static void inside_done(struct vi *vi, void *cookie, int status) { (void)vi, (void)cookie, (void)status; }
static void inside_down(struct vi *vi, int cause)
{
    inside.down[vi->nic->rank]++;
    inside.cause = cause;
}
static void inside_called(struct vi_nic *nic, uint32_t peer)
{
    struct vi *vi;

    inside.called++;
    CHECK_EQUAL(vi_accept(nic, peer, NULL, &vi), OK);
}

static void inside_open(int rank)
{
    static const struct vi_sink sink = {NULL, inside_received, inside_arrived, inside_done, inside_called, inside_down, NULL};
    static int ranks[INSIDE_MOST];
    struct vi_setup setup = {.rank = (uint32_t)rank, .ranks = (uint32_t)inside.ranks, .local_index = (uint32_t)rank,
                             .local_count = (uint32_t)inside.ranks, .local_ranks = ranks, .node_fd = inside.fd, .seat_fd = -1,
                             .direct_children = true, .sink = &sink};

    for (int i = 0; i < INSIDE_MOST; i++)
        ranks[i] = i;
    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &inside.nic[rank]), OK);
}

static void inside_start(int ranks)
{
    memset(&inside, 0, sizeof(inside));
    inside.ranks = ranks;
    CHECK_EQUAL(shm_segment_create(ranks, &inside.fd), OK);
}

static inline void inside_stop(void)
{
    for (int i = 0; i < inside.ranks; i++)
        if (inside.nic[i])
            vi_nic_close(inside.nic[i]);
    close(inside.fd);
}

static inline struct vi *inside_connect(int from, int to)
{
    struct vi_address address = {.peer = (uint32_t)to};
    struct vi *vi = NULL;

    CHECK_EQUAL(vi_connect(inside.nic[from], &address, NULL, &vi), OK);
    return vi;
}

static inline int inside_send(struct vi *vi, uint64_t header, size_t length)
{
    static char data[SHM_MAX_SEND];
    struct iovec piece = {data, length};

    return vi_send(vi, header, &piece, 1);
}

/* The number in this ROW, a scanf format, of a file of /proc; -1: it has none. */
static inline long inside_kib(const char *path, const char *row)
{
    char line[200];
    long kib = -1;
    FILE *file = fopen(path, "r");

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, row, &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}
/* Resident shared memory of this process in KiB. */
static inline long inside_resident(void) { return inside_kib("/proc/self/status", "RssShmem: %ld"); }

#endif
