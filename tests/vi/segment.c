/* The segment: places do not overlap, seals hold, and what is not a segment of ours is refused. */
#include "inside.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void plan(uint32_t ranks)
{
    struct shm_segment s;

    shm_segment_plan(&s, ranks, 2ull << 20);
    CHECK(s.words * 64 >= ranks && s.words * 64 < ranks + 64);
    s.base = NULL;
    CHECK((uintptr_t)shm_bell_of(&s, 0) >= sizeof(struct shm_header));
    CHECK((char *)(shm_bits_of(&s, ranks - 1) + s.words) <= (char *)shm_identity_of(&s, ranks - 1));
    if (ranks > 1)
        CHECK((char *)(shm_identity_of(&s, 0) + 1) == (char *)shm_bell_of(&s, 1));
    CHECK((char *)(shm_identity_of(&s, ranks - 1) + 1) <= (char *)shm_counters_of(&s, 0));
    CHECK((char *)shm_counters_of(&s, ranks - 1) + BASE_COUNTERS_SIZE <= (char *)shm_credit_of(&s, 0, 0));
    CHECK((char *)(shm_credit_of(&s, ranks - 1, ranks - 1) + 1) <= (char *)shm_lane_of(&s, 0, 0));
    CHECK((char *)(shm_lane_of(&s, ranks - 1, ranks - 1) + SHM_LINES) <= shm_heap_of(&s, 0));
    CHECK((uintptr_t)shm_heap_of(&s, ranks - 1) + SHM_HEAP_SIZE <= s.shared);
    CHECK((uintptr_t)shm_lane_of(&s, 0, 0) % SHM_PAGE == 0 && s.shared % (2u << 20) == 0);
    CHECK_EQUAL(s.size, s.shared + ranks * (2ull << 20));
}

static void seals(void)
{
    struct shm_segment s;
    int fd, other;
    struct stat st;

    CHECK_EQUAL(shm_segment_create(4, &fd), OK);
    CHECK_EQUAL(fstat(fd, &st), 0);
    CHECK(ftruncate(fd, 4096) != 0);
    CHECK(ftruncate(fd, st.st_size * 2) != 0);
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0);
    CHECK(st.st_blocks < 64); /* nothing is touched but the head */
    CHECK_EQUAL(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK_EQUAL(shm_segment_open(fd, 4, &s), OK);
    shm_segment_close(&s);
    CHECK_EQUAL(shm_segment_open(fd, 5, &s), ERR_PROTOCOL);

    uint64_t word = 0x1234567;
    CHECK_EQUAL(pwrite(fd, &word, 8, 8), 8); /* another build */
    CHECK_EQUAL(shm_segment_open(fd, 4, &s), ERR_MISMATCH);
    CHECK_EQUAL(pwrite(fd, &word, 8, 0), 8); /* no magic */
    CHECK_EQUAL(shm_segment_open(fd, 4, &s), ERR_PROTOCOL);
    close(fd);

    other = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK_EQUAL(ftruncate(other, 1 << 20), 0);
    CHECK_EQUAL(shm_segment_open(other, 4, &s), ERR_PROTOCOL); /* its owner could shrink it under us */
    close(other);
    CHECK_EQUAL(shm_segment_open(-1, 4, &s), ERR_PROTOCOL);
    CHECK_EQUAL(shm_segment_create(0, &fd), ERR_LIMIT);
    CHECK_EQUAL(shm_segment_create(100000, &fd), ERR_LIMIT);
}

static void file_limit(void)
{
    struct rlimit old, small;
    struct vi_region region;
    int fd;

    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 64 << 10;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_EQUAL(shm_segment_create(4, &fd), ERR_LIMIT); /* said, not killed by SIGXFSZ */
    CHECK(strstr(vbase_error_detail(), "ulimit -f") != NULL);
    small.rlim_cur = 128 << 20;
    setrlimit(RLIMIT_FSIZE, &small);
    inside_start(2);
    inside_open(0);
    CHECK_EQUAL(vi_reg(inside.nic[0], NULL, 16 << 20, &region), OK);
    vi_dereg(&region);
    CHECK_EQUAL(vi_reg(inside.nic[0], NULL, 120 << 20, &region), ERR_LIMIT);
    inside_stop();
    setrlimit(RLIMIT_FSIZE, &old);
}

static void counters(void)
{
    struct base_counters seen;
    struct shm_segment other;
    off_t at;

    inside_start(7);
    inside_open(5);
    vi_counters_share(inside.fd, 5);
    COUNT_ADD(send_bytes, 4711);
    CHECK_EQUAL(shm_segment_counters(inside.fd, 5, &at), OK);
    CHECK_EQUAL(pread(inside.fd, &seen, sizeof seen, at), sizeof seen);
    CHECK_EQUAL(seen.send_bytes, 4711);
    CHECK_EQUAL(seen.pid, getpid());
    COUNT(send_bytes);
    CHECK_EQUAL(pread(inside.fd, &seen, sizeof seen, at), sizeof seen);
    CHECK_EQUAL(seen.send_bytes, 4712);
    CHECK_EQUAL(shm_segment_counters(inside.fd, 7, &at), ERR_ARGUMENT);
    CHECK_EQUAL(shm_segment_counters(inside.fd, -1, &at), ERR_ARGUMENT);
    CHECK_EQUAL(shm_segment_open(inside.fd, 6, &other), ERR_PROTOCOL);
    inside_stop();
    vi_counters_keep();
    CHECK_EQUAL(vbase_counters->send_bytes, 4712); /* moved back */
}

/* A place serves one life: lanes remember positions that a second life would not know. */
static void one_life(void)
{
    struct vi_nic *first;
    int ranks[] = {0, 1};
    struct vi_setup setup = {.rank = 0, .ranks = 2, .local_count = 2, .local_ranks = ranks, .node_fd = -1};

    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &first), ERR_UNSUPPORTED);
    inside_start(2);
    inside_open(0);
    setup.node_fd = inside.fd;
    struct vi_sink sink = inside.nic[0]->sink;
    setup.sink = &sink;
    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &first), ERR_STATE);
    vi_nic_close(inside.nic[0]);
    inside.nic[0] = NULL;
    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &first), ERR_STATE);
    setup.local_index = 2;
    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &first), ERR_ARGUMENT);
    inside_stop();
}

int main(void)
{
    static const uint32_t ranks[] = {1, 2, 3, 63, 64, 65, 256, 511, 512, 513, 1000, 4096};

    CHECK_EQUAL(vbase_settings_read(), OK);
    for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++)
        plan(ranks[i]);
    seals();
    file_limit();
    counters();
    one_life();
    return check_done();
}
