/* The promises of order and of bounded memory, between ranks:
 *   10,000 started sends of tag 1, then one of tag 2 that is received first: the receiver keeps no more than the window;
 *   everybody sends to everybody, sizes mixed over all ways a message can take, received by wildcards in sender's order. */
#include "harness.h"
#include "base/counters.h"

#define FLOOD 10000
#define BYTES 1000

static void flood_send(void)
{
    struct msg_request *send = calloc(FLOOD, sizeof *send);
    unsigned char *data = malloc((size_t)FLOOD * BYTES);
    struct msg_where to = {world, 1, 1};
    for (unsigned i = 0; i < FLOOD; i++) {
        struct type_buffer from = {.base = data + (size_t)i * BYTES, .count = BYTES};
        fill(from.base, i, BYTES);
        CHECK_EQUAL(vmsg_send_start(&send[i], &to, &from, MSG_STANDARD), OK);
    }
    CHECK_EQUAL(vmsg_send(world, 1, 2, "two", 4), OK);
    for (int i = 0; i < FLOOD; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    CHECK(vbase_counters->window_empty > 0);
    CHECK(vbase_counters->send_eager >= 200);
    free(data);
    free(send);
}

static void flood_receive(void)
{
    char two[4] = "", in[BYTES];
    CHECK_EQUAL(vmsg_recv(world, 0, 2, two, 4, NULL), OK);
    CHECK_TEXT(two, "two");
    CHECK_EQUAL(vbase_counters->unexpected_now, FLOOD);
    CHECK(vbase_counters->unexpected_bytes <= 256 * 1024);
    CHECK(vbase_counters->unexpected_bytes > 100 * 1024);
    for (unsigned i = 0; i < FLOOD; i++) {
        CHECK_EQUAL(vmsg_recv(world, i % 2 ? 0 : MSG_ANY_SOURCE, 1, in, BYTES, NULL), OK);
        CHECK_EQUAL(first_wrong(in, i, BYTES), BYTES);
    }
    CHECK_EQUAL(vbase_counters->unexpected_bytes, 0);
}

static void flood(int rank)
{
    if (rank == 0)
        flood_send();
    else
        flood_receive();
}

#define RANKS 5
#define EACH 300
#define LONGEST 40000

static size_t size_of(int from, int number)
{
    static const size_t sizes[] = {0, 8, 48, 49, 300, 1500, 9000, 16384, 16385, LONGEST};
    return sizes[(unsigned)(from * 7 + number * 3 + number / 10) % ARRAY_LENGTH(sizes)];
}

static unsigned name_of(int from, int to, int number) { return (unsigned)((from * RANKS + to) * EACH + number); }

static void send_all(int rank, struct msg_request *send, unsigned char *data)
{
    for (int n = 0; n < EACH; n++)
        for (int to = 0; to < RANKS; to++) {
            int i = n * RANKS + to;
            struct type_buffer from = {.base = data + (size_t)i * LONGEST, .count = size_of(rank, n)};
            struct msg_where where = {world, to, n};
            fill(from.base, name_of(rank, to, n), from.count);
            CHECK_EQUAL(vmsg_send_start(&send[i], &where, &from, n % 11 ? MSG_STANDARD : MSG_SYNCHRONOUS), OK);
        }
}

static void everybody(int rank)
{
    static unsigned char in[LONGEST];
    static struct msg_request send[EACH * RANKS];
    unsigned char *data = malloc((size_t)EACH * RANKS * LONGEST);
    int next[RANKS] = {0};
    send_all(rank, send, data);
    for (int i = 0; i < EACH * RANKS; i++) {
        struct msg_result result;
        CHECK_EQUAL(vmsg_recv(world, MSG_ANY_SOURCE, MSG_ANY_TAG, in, sizeof in, &result), OK);
        CHECK_EQUAL(result.tag, next[result.source]);
        next[result.source]++;
        CHECK_EQUAL(result.bytes, size_of(result.source, result.tag));
        CHECK_EQUAL(first_wrong(in, name_of(result.source, rank, result.tag), result.bytes), result.bytes);
    }
    for (int i = 0; i < EACH * RANKS; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    free(data);
}

int main(void)
{
    harness_run(2, flood);
    harness_run(RANKS, everybody);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    harness_run(2, flood);
    harness_run(RANKS, everybody);
    return check_done();
}
