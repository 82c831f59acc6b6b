/* Single copy from inside: transfers longer than one system call takes, memory with holes, a pid that is somebody else,
 * and shared allocations that come and go. */
#define CALL_MOST 1000
#include "inside.h"

#include <sys/uio.h>

/* Every call names as many bytes of the peer's as of ours: a kernel looks up and holds whatever is named. */
static size_t sum(const struct iovec *piece, unsigned long pieces)
{
    size_t bytes = 0;
    for (unsigned long i = 0; i < pieces; i++)
        bytes += piece[i].iov_len;
    return bytes;
}
static bool gone; /* as if the process were */
static ssize_t checked_readv(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there,
                             unsigned long m, unsigned long flags)
{
    if (gone) {
        errno = ESRCH;
        return -1;
    }
    CHECK(sum(there, m) <= sum(here, n));
    return process_vm_readv(pid, here, n, there, m, flags);
}
static ssize_t checked_writev(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there,
                              unsigned long m, unsigned long flags)
{
    CHECK(sum(there, m) <= sum(here, n));
    return process_vm_writev(pid, here, n, there, m, flags);
}
#define process_vm_readv  checked_readv
#define process_vm_writev checked_writev
#include "../../src/vi/shm/copy.c"

#include <sys/mman.h>

static struct vi *pair(void)
{
    inside_start(2);
    inside_open(0);
    inside_open(1);
    return inside_connect(0, 1);
}

/* Pieces of any size against calls of a thousand bytes: every cut falls somewhere else. */
static void long_transfer(void)
{
    static unsigned char there[50000], here[50000];
    struct iovec piece[200];
    struct vi_region region;
    struct vi *vi = pair();
    struct vi_transfer transfer = {.local = piece, .offset = 3};
    size_t length = 0;

    for (size_t i = 0; i < sizeof(there); i++)
        there[i] = check_byte(1, i);
    CHECK_EQUAL(vi_reg(inside.nic[1], there, sizeof(there), &region), OK);
    for (; transfer.pieces < 200; transfer.pieces++) {
        size_t n = (size_t)transfer.pieces * 7919 % 2500 % (transfer.pieces % 5 ? 60 : 2500);
        if (length + n > sizeof(there) - 3)
            break;
        piece[transfer.pieces] = (struct iovec){here + length, n};
        length += n;
    }
    CHECK(length > 30000);
    transfer.key = region.key;
    CHECK_EQUAL(vi_get(vi, &transfer), VI_COMPLETE);
    for (size_t i = 0; i < sizeof(here); i++)
        CHECK_EQUAL(here[i], i < length ? check_byte(1, i + 3) : 0);
    for (size_t i = 0; i < length; i++)
        here[i] = check_byte(2, i);
    CHECK_EQUAL(vi_put(vi, &transfer), VI_COMPLETE);
    for (size_t i = 0; i < sizeof(there); i++)
        CHECK_EQUAL(there[i], i >= 3 && i < length + 3 ? check_byte(2, i - 3) : check_byte(1, i));
    inside_stop();
}

/* Memory that is not all there: this transfer cannot be done so, others can. */
static void hole(void)
{
    static char here[3 * 4096];
    char *there = mmap(NULL, sizeof(here), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct iovec piece = {here, sizeof(here)};
    struct vi_region region;
    struct vi_state state;
    struct vi *vi = pair();

    CHECK_EQUAL(munmap(there + 4096, 4096), 0);
    CHECK_EQUAL(vi_reg(inside.nic[1], there, sizeof(here), &region), OK);
    struct vi_transfer transfer = {.local = &piece, .pieces = 1, .key = region.key};
    CHECK_EQUAL(vi_get(vi, &transfer), ERR_UNSUPPORTED);
    CHECK_EQUAL(vi_query(vi, &state), OK);
    CHECK(state.get && state.put);
    piece.iov_len = 4096;
    CHECK_EQUAL(vi_get(vi, &transfer), VI_COMPLETE);
    inside_stop();
}

/* In another pid namespace the same number is another process: its memory must not be taken for the peer's. */
static void somebody_else(void)
{
    static char here[8], there[8];
    struct iovec piece = {here, sizeof(here)};
    struct vi_region region;
    struct vi_state state;
    struct shm_segment s;
    struct vi *vi = pair();

    CHECK_EQUAL(shm_segment_open(inside.fd, 2, &s), OK);
    shm_identity_of(&s, 1)->cookie[1] ^= 1;
    CHECK_EQUAL(vi_reg(inside.nic[1], there, sizeof(there), &region), OK);
    struct vi_transfer transfer = {.local = &piece, .pieces = 1, .key = region.key};
    CHECK_EQUAL(vi_get(vi, &transfer), ERR_UNSUPPORTED);
    CHECK_EQUAL(vi_put(vi, &transfer), ERR_UNSUPPORTED);
    CHECK_EQUAL(vi_query(vi, &state), OK);
    CHECK(!state.get && !state.put && state.usable);
    shm_segment_close(&s);
    inside_stop();
}

/* Its owner has ended: that is what is told, each time. */
static void dead(void)
{
    static char here[8], there[8];
    struct iovec piece = {here, sizeof(here)};
    struct vi_region region;
    struct vi *vi = pair();

    CHECK_EQUAL(vi_reg(inside.nic[1], there, sizeof(there), &region), OK);
    struct vi_transfer transfer = {.local = &piece, .pieces = 1, .key = region.key};
    CHECK_EQUAL(vi_get(vi, &transfer), VI_COMPLETE);
    gone = true;
    CHECK_EQUAL(vi_get(vi, &transfer), ERR_PEER_DEAD);
    CHECK_EQUAL(vi_get(vi, &transfer), ERR_PEER_DEAD);
    gone = false;
    inside_stop();
}

/* A setting forbids it; shared allocations are not concerned. */
static void forbidden(void)
{
    static char here[8], there[8];
    struct iovec piece = {here, sizeof(here)};
    struct vi_region own, shared;
    struct vi *vi;

    vbase_settings.single_copy = false;
    vi = pair();
    CHECK_EQUAL(inside.nic[0]->caps.get, 0);
    CHECK_EQUAL(vi_reg(inside.nic[1], there, sizeof(there), &own), OK);
    CHECK_EQUAL(vi_reg(inside.nic[1], NULL, sizeof(there), &shared), OK);
    struct vi_transfer transfer = {.local = &piece, .pieces = 1, .key = own.key};
    CHECK_EQUAL(vi_get(vi, &transfer), ERR_UNSUPPORTED);
    transfer.key = shared.key;
    CHECK_EQUAL(vi_get(vi, &transfer), VI_COMPLETE);
    vi_dereg(&shared);
    inside_stop();
    vbase_settings.single_copy = true;
}

/* Allocations never overlap, whatever the order in which they come and go. */
static void allocations(void)
{
    enum { MOST = 20 };
    struct vi_region region[MOST] = {{0}};
    unsigned random = 1;

    (void)pair();
    for (int n = 0; n < 500; n++) {
        random = random * 1103515245u + 12345u;
        struct vi_region *at = &region[(random >> 16) % MOST];
        if (at->length) {
            unsigned char *bytes = at->address;
            for (uint64_t i = 0; i < at->length; i += 512)
                CHECK_EQUAL(bytes[i], (unsigned char)(at - region + 1));
            vi_dereg(at);
            at->length = 0;
            continue;
        }
        CHECK_EQUAL(vi_reg(inside.nic[0], NULL, 1 + (random >> 8) % 30000, at), OK);
        for (uint64_t i = 0; i < at->length; i++)
            CHECK_EQUAL(((unsigned char *)at->address)[i], 0);
        memset(at->address, (int)(at - region + 1), at->length);
    }
    for (int i = 0; i < MOST; i++) /* first fit: low places are used again */
        CHECK((region[i].key.word[0] & ~SHM_SHARED_KEY) < 2 * MOST * 32768);
    inside_stop();
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    long_transfer();
    hole();
    somebody_else();
    dead();
    forbidden();
    allocations();
    return check_done();
}
