/* Large messages by each mover of a node: whole, whichever side does how much of it; from a sender that computes
 * meanwhile; with puts and gets that are told later; between a rank with one thread and a rank with several; and when the
 * kernel begins to refuse one side in the middle of the job. takes: 5 timeout: 120 */
#include "msg/transfer.h"
#include "harness.h"
#include "base/counters.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define MOST (64u << 20)
static unsigned char *data;

/* A message whose bytes need not be computed one by one: a word's place and the message's number. */
static void stamp(unsigned message, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word = (i + 1) * 0x9E3779B97F4A7C15ull ^ message;
        memcpy(data + i, &word, 8);
    }
    for (size_t i = bytes & ~(size_t)7; i < bytes; i++)
        data[i] = check_byte(message, i);
}

static bool stamped(unsigned message, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word = (i + 1) * 0x9E3779B97F4A7C15ull ^ message, found;
        memcpy(&found, data + i, 8);
        if (found != word)
            return false;
    }
    for (size_t i = bytes & ~(size_t)7; i < bytes; i++)
        if (data[i] != check_byte(message, i))
            return false;
    return true;
}

static _Atomic int *received; /* seen by both ranks, without the engine */
static uint64_t *copied;      /* the same: bytes copied once, by both */
static bool in_frames(void) { return strcmp(getenv("VIADUCT_SINGLE_FROM"), "1") != 0; }

static void one(int rank, unsigned message, size_t bytes, size_t room)
{
    struct msg_result result;
    if (rank == 0) {
        stamp(message, bytes);
        CHECK_EQUAL(vmsg_send(world, 1, 1, data, bytes), OK);
        memset(data, 0xDD, bytes < 4096 ? bytes : 4096); /* ours again: a late read of it would be seen */
    } else {
        size_t want = bytes < room ? bytes : room;
        memset(data, 0, want + 1);
        CHECK_EQUAL(vmsg_recv(world, 0, 1, data, room, &result), room < bytes ? ERR_TRUNCATED : OK);
        CHECK_EQUAL(result.bytes, want);
        CHECK(stamped(message, want & ~(size_t)7));
        CHECK_EQUAL(data[want], 0);
    }
}

/* Both parts, wherever they meet. */
static void parts(int rank)
{
    unsigned message = 0;
    data = malloc((1u << 20) + 2);
    for (unsigned odd = 1; odd < 256; odd += 6)
        for (size_t bytes = 16385 + odd; bytes <= 1u << 20; bytes = bytes * 3 - odd)
            one(rank, ++message, bytes, (1u << 20) + 1);
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(data);
}

static void sizes(int rank)
{
    unsigned message = 0;
    data = malloc(MOST + 64);
    vmsg_slots.generation = UINT32_MAX - 100; /* they come round */
    for (size_t bytes = 65535; bytes <= MOST + 1; bytes = bytes * 2 - 1)
        for (size_t d = 0; d < 3; d++)
            one(rank, ++message, bytes + d, MOST + 32);
    for (int i = 0; i < 200; i++)
        one(rank, ++message, 300000 + (size_t)i * 4099, i % 3 ? MOST : 200001);
    if (!getenv("FAULT") && !in_frames())
        CHECK(vbase_counters->copy_single > 0); /* at both ranks: neither leaves it all to the other */
    if (in_frames() && rank == 1)
        CHECK(vbase_counters->copy_pipelined > 0);
    if (rank == 1)
        CHECK(vmsg_slots.generation < 1000);
    free(data);
}

/* Of the two ranks one has several threads: the other one chooses the length of the chunks that both claim. */
static int threaded_rank;
static void threaded(int rank)
{
    const size_t most = 5 * TUNED(CHUNK);
    unsigned message = 0;
    data = malloc(most + 2);
    vmsg_threads(rank == threaded_rank);
    for (size_t bytes = TUNED(CHUNK_THREADS); bytes <= most; bytes += TUNED(CHUNK_THREADS) / 2 + 1)
        one(rank, ++message, bytes, most + 1);
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(data);
}

/* The sender is away: the receiver does it alone, and the sender finds it done. */
static void away(int rank)
{
    enum { BYTES = 4 << 20 };
    data = malloc(BYTES + 1);
    struct msg_request send = {0};
    struct msg_where to = {world, 1, 2};
    struct type_buffer buffer = {.base = data, .count = BYTES};
    for (unsigned i = 0; i < 3; i++) {
        if (rank == 0) {
            stamp(i, BYTES);
            CHECK_EQUAL(vmsg_send_start(&send, &to, &buffer, MSG_STANDARD), OK);
            struct timespec moment = {0, 1000000};
            while (*received <= (int)i)
                nanosleep(&moment, NULL);
            CHECK_EQUAL(vmsg_wait(&send), OK);
        } else {
            CHECK_EQUAL(vmsg_recv(world, 0, 2, data, BYTES, NULL), OK);
            CHECK(stamped(i, BYTES));
            ++*received;
        }
    }
    if (rank == 0)
        CHECK_EQUAL(vbase_counters->copy_single, 0);
    free(data);
}

/* The same with more messages than there are slots: when the sender comes back, most are in other hands. NO_SLOTS: nor
 * can it look. */
static bool no_slots;
static void behind(int rank)
{
    enum { BYTES = 70000, MOST_BEHIND = 100, ANSWERED = -1 };
    static struct msg_request send[MOST_BEHIND];
    const int count = no_slots ? 5 : MOST_BEHIND; /* 5: it answers for all of them in one round */
    data = malloc(MOST_BEHIND * BYTES);
    struct msg_where to = {world, 1, 5};
    struct timespec moment = {0, 1000000};
    unsigned char *all = data;
    memset(send, 0, sizeof send);
    one(rank, 0, BYTES, BYTES + 1); /* they know each other */
    if (rank == 0 && no_slots)
        vmsg_engine.peer[1]->slots = NULL;
    for (int i = 0; i < count; i++) {
        struct type_buffer buffer = {.base = data = all + i * BYTES, .count = BYTES};
        if (rank == 0) {
            stamp((unsigned)i, BYTES);
            CHECK_EQUAL(vmsg_send_start(&send[i], &to, &buffer, MSG_STANDARD), OK);
        } else {
            CHECK_EQUAL(vmsg_recv(world, 0, 5, data, BYTES, NULL), OK);
            CHECK(stamped((unsigned)i, BYTES));
            ++*received;
        }
    }
    while (rank == 0 && *received != count)
        nanosleep(&moment, NULL);
    while (rank == 0 && vmsg_progress())
        ; /* it answers */
    if (rank == 0)
        *received = ANSWERED;
    while (rank == 1 && *received != ANSWERED) /* the sender answers when our last one is over */
        nanosleep(&moment, NULL);
    for (int i = 0; i < count && rank == 0; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    data = all;
    for (unsigned i = 0; i < 20; i++) /* the sender is here again */
        one(rank, i, 2 * BYTES + i, MOST_BEHIND * BYTES - 1);
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(all);
}

/* COUNT pieces of PIECE bytes, the last one first, with gaps between them. */
#define GAP 72
#define SHORT_PIECES 1100
static struct type_layout *backwards(uint64_t count, uint64_t piece)
{
    struct type_layout *bytes, *layout;
    uint64_t block[SHORT_PIECES];
    int64_t place[SHORT_PIECES];
    for (uint64_t i = 0; i < count; i++) {
        block[i] = piece;
        place[i] = (int64_t)((count - 1 - i) * (piece + GAP));
    }
    CHECK_EQUAL(vtype_layout_bytes(1, 1, &bytes), OK);
    CHECK_EQUAL(vtype_layout_indexed(count, block, place, bytes, &layout), OK);
    vtype_layout_drop(bytes);
    return layout;
}

/* Few long pieces on each side, cut at different places; now and then there is room for less. */
static void scattered(int rank, unsigned message, uint64_t ours, uint64_t theirs, uint64_t bytes)
{
    uint64_t count = rank == 0 ? ours : theirs, want = message % 5 ? bytes : bytes - bytes / theirs;
    struct type_layout *layout = backwards(rank == 0 ? ours : want * theirs / bytes, bytes / count);
    unsigned char *spread = malloc(bytes + count * GAP);
    struct type_buffer buffer = {.base = spread, .count = 1, .layout = layout};
    struct type_cursor cursor;
    struct msg_where where = {world, 1 - rank, 4};
    struct msg_request request = {0};
    vtype_cursor_start(&cursor, &buffer);
    if (rank == 0) {
        stamp(message, bytes);
        CHECK_EQUAL(vtype_unpack(&cursor, data, bytes), bytes);
        CHECK_EQUAL(vmsg_send_start(&request, &where, &buffer, MSG_STANDARD), OK);
        CHECK_EQUAL(vmsg_wait(&request), OK);
    } else {
        memset(spread, 0x5A, bytes + count * GAP);
        CHECK_EQUAL(vmsg_recv_start(&request, &where, &buffer), OK);
        CHECK_EQUAL(vmsg_wait(&request), want < bytes ? ERR_TRUNCATED : OK);
        CHECK_EQUAL(vtype_pack(&cursor, data, want), want);
        CHECK(stamped(message, want));
        for (uint64_t i = 0; i < GAP; i++)
            for (uint64_t k = 1; k <= want * count / bytes; k++)
                CHECK_EQUAL(spread[k * (bytes / count) + (k - 1) * GAP + i], 0x5A);
    }
    free(spread);
    vtype_layout_drop(layout);
}

static void pieces(int rank)
{
    enum { UNIT = 3 * 5 * 7 * 8 * 8192 };
    unsigned message = 0;
    data = malloc(UNIT);
    for (uint64_t ours = 1; ours <= 40; ours += ours < 8 ? 1 : 32)
        for (uint64_t theirs = 1; theirs <= 8; theirs++)
            scattered(rank, ++message, ours, theirs, UNIT / 2);
    __atomic_fetch_add(copied, vbase_counters->copy_single, __ATOMIC_RELAXED);
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(data);
}

/* From one piece into many short ones: a long message is got, a shorter one is sent. */
static void short_pieces(int rank)
{
    const uint64_t piece = 2 * TUNED(PIECE_LEAST), many = 2 * vbase_settings.single_from / piece;
    CHECK(many <= SHORT_PIECES);
    data = malloc(many * piece);
    for (unsigned message = 1; message <= 40; message++) {
        uint64_t pieces = message % 2 ? many : many / 3;
        scattered(rank, message, 1, pieces, pieces * piece);
    }
    if (rank == 1)
        CHECK(vbase_counters->copy_single > 0 && vbase_counters->copy_pipelined > 0);
    free(data);
}

/* From now on the kernel refuses this call. */
static bool forbid(int call)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LENGTH(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int forbidden_rank;
static void forbidden(int rank)
{
    data = malloc(MOST);
    for (unsigned i = 0; i < 60; i++) {
        if (i == 20 && rank == forbidden_rank && !forbid(rank == 0 ? SYS_process_vm_writev : SYS_process_vm_readv))
            fprintf(stderr, "no seccomp here: nothing is refused\n");
        one(rank, i, (1u << 20) + i * 1000, MOST - 1);
    }
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(data);
}

/* In frames, the sender is late, so the receiver fetches; the kernel refuses; the sender must send that chunk, too. */
static void stranded(int rank)
{
    enum { BYTES = 3 << 20 };
    data = malloc(BYTES + 1);
    struct msg_where to = {world, 1, 3};
    struct type_buffer buffer = {.base = data, .count = BYTES};
    struct timespec moment = {0, 3000000};
    for (unsigned i = 0; i < 20; i++) {
        if (rank == 1 && i == 5 && !forbid(SYS_process_vm_readv))
            fprintf(stderr, "no seccomp here: nothing is refused\n");
        if (rank == 0) {
            struct msg_request send = {0};
            stamp(i, BYTES);
            CHECK_EQUAL(vmsg_send_start(&send, &to, &buffer, MSG_STANDARD), OK);
            if (i % 2)
                nanosleep(&moment, NULL);
            CHECK_EQUAL(vmsg_wait(&send), OK);
            memset(data, 0xDD, 4096);
        } else {
            CHECK_EQUAL(vmsg_recv(world, 0, 3, data, BYTES, NULL), OK);
            CHECK(stamped(i, BYTES));
        }
    }
    CHECK_EQUAL(vbase_counters->refused, 0);
    free(data);
}

static void all(const char *single_from)
{
    setenv("VIADUCT_SINGLE_FROM", single_from, 1);
    unsetenv("FAULT");
    *received = 0;
    harness_run(2, sizes);
    harness_run(2, parts);
    *copied = 0;
    harness_run(2, pieces);
    CHECK(*copied > 0 || in_frames()); /* by whom is the scheduler's choice */
    harness_run(2, away);
    for (int i = 0; i < 2; i++) {
        no_slots = i;
        *received = 0;
        harness_run(2, behind);
    }
    harness_run(2, stranded);
    for (forbidden_rank = 0; forbidden_rank < 2; forbidden_rank++)
        harness_run(2, forbidden);
    for (threaded_rank = 0; threaded_rank < 2; threaded_rank++)
        harness_run(2, threaded);
    setenv("FAULT", "late-put", 1);
    harness_run(2, sizes);
    harness_run(2, parts);
    harness_run(2, pieces);
    harness_run(2, stranded);
    for (forbidden_rank = 0; forbidden_rank < 2; forbidden_rank++)
        harness_run(2, forbidden);
}

int main(void)
{
    received = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    copied = (uint64_t *)(received + 8);
    all("1");  /* by puts and gets */
    all("4G"); /* in frames */
    unsetenv("VIADUCT_SINGLE_FROM");
    setenv("VIADUCT_SINGLE_FROM", "200000", 1);
    harness_run(2, short_pieces);
    unsetenv("VIADUCT_SINGLE_FROM");
    unsetenv("FAULT");
    setenv("VIADUCT_SINGLE_FROM", "200000", 1);
    harness_run(2, short_pieces);
    unsetenv("VIADUCT_SINGLE_FROM");
    return check_done();
}
