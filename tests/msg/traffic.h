/* Everybody sends to everybody, sizes mixed over all ways a message can take, and receives by wildcards in each
 * sender's order. */
#ifndef TESTS_MSG_TRAFFIC_H
#define TESTS_MSG_TRAFFIC_H

#include "harness.h"

#define TRAFFIC_RANKS   5
#define TRAFFIC_EACH    300
#define TRAFFIC_LONGEST 40000

static inline size_t traffic_size(int from, int number)
{
    static const size_t sizes[] = {0, 8, 48, 49, 300, 1500, 9000, 16384, 16385, TRAFFIC_LONGEST};
    return sizes[(unsigned)(from * 7 + number * 3 + number / 10) % ARRAY_LENGTH(sizes)];
}

static inline unsigned traffic_name(int from, int to, int number)
{
    return (unsigned)((from * TRAFFIC_RANKS + to) * TRAFFIC_EACH + number);
}

static inline void traffic_send_all(int rank, struct msg_request *send, unsigned char *data)
{
    for (int n = 0; n < TRAFFIC_EACH; n++)
        for (int to = 0; to < TRAFFIC_RANKS; to++) {
            int i = n * TRAFFIC_RANKS + to;
            struct type_buffer from = {.base = data + (size_t)i * TRAFFIC_LONGEST, .count = traffic_size(rank, n)};
            struct msg_where where = {world, to, n};
            fill(from.base, traffic_name(rank, to, n), from.count);
            CHECK_EQUAL(vmsg_send_start(&send[i], &where, &from, n % 11 ? MSG_STANDARD : MSG_SYNCHRONOUS), OK);
        }
}

static inline void traffic_everybody(int rank)
{
    static unsigned char in[TRAFFIC_LONGEST];
    static struct msg_request send[TRAFFIC_EACH * TRAFFIC_RANKS];
    unsigned char *data = malloc((size_t)TRAFFIC_EACH * TRAFFIC_RANKS * TRAFFIC_LONGEST);
    int next[TRAFFIC_RANKS] = {0};
    traffic_send_all(rank, send, data);
    for (int i = 0; i < TRAFFIC_EACH * TRAFFIC_RANKS; i++) {
        struct msg_result result;
        CHECK_EQUAL(vmsg_recv(world, MSG_ANY_SOURCE, MSG_ANY_TAG, in, sizeof in, &result), OK);
        CHECK_EQUAL(result.tag, next[result.source]);
        next[result.source]++;
        CHECK_EQUAL(result.bytes, traffic_size(result.source, result.tag));
        CHECK_EQUAL(first_wrong(in, traffic_name(result.source, rank, result.tag), result.bytes), result.bytes);
    }
    for (int i = 0; i < TRAFFIC_EACH * TRAFFIC_RANKS; i++)
        CHECK_EQUAL(vmsg_wait(&send[i]), OK);
    free(data);
}

#endif
