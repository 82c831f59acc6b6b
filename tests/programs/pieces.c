/* pieces SECONDS: two ranks on two hosts of two links send each other packed messages on three channels, over all cards and
 * over each, and call each other, blocks of all lengths; every byte is checked. First the channels that are bound to a card show that
 * they use it alone. "all right, N rounds" at the end. */
#include "../check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <viaduct.h>

#define CHANNELS 3
#define LONGEST 400000
#define ALONE (8 << 20)

static vd_channel *channel[CHANNELS];
static unsigned char *out[CHANNELS], *in;
static int rank;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ok(int code)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, vd_error_text(code));
    exit(1);
}

/* Bytes that this host has sent over a card. */
static long sent_over(const char *card)
{
    char line[400];
    long bytes = -1;
    FILE *file = fopen("/proc/net/dev", "r");
    while (file && fgets(line, sizeof line, file)) {
        char *name = line + strspn(line, " "), *numbers = strchr(line, ':');
        if (numbers && (size_t)(numbers - name) == strlen(card) && strncmp(name, card, strlen(card)) == 0)
            sscanf(numbers + 1, "%*d %*d %*d %*d %*d %*d %*d %*d %ld", &bytes);
    }
    if (file)
        fclose(file);
    return bytes;
}

static size_t length_of(unsigned round, unsigned which) { return (round * 7919u + which * 104729u) % (round % 4 ? 5000u : LONGEST); }
static void fill_name(unsigned char *data, unsigned name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        data[i] = check_byte(name, i);
}
static void check_name(const unsigned char *data, unsigned name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] != check_byte(name, i)) {
            fprintf(stderr, "rank %d: byte %zu of %zu of message %u is wrong\n", rank, i, length, name);
            exit(1);
        }
}

static vd_connection *send_start(int c, unsigned name, size_t length)
{
    vd_connection *to = vd_begin_packing(channel[c], !rank);
    if (!to)
        ok(vd_error());
    fill_name(out[c], name, length);
    ok(vd_pack(to, &length, sizeof length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS));
    ok(vd_pack(to, out[c], length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    ok(vd_end_packing_start(to));
    return to;
}

static size_t take(int c, unsigned name)
{
    size_t length;
    vd_connection *from = vd_begin_unpacking(channel[c]);
    if (!from)
        ok(vd_error());
    ok(vd_unpack(from, &length, sizeof length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS));
    ok(vd_unpack(from, in, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    ok(vd_end_unpacking(from));
    check_name(in, name, length);
    return length;
}

/* The reply is the argument, which says how long it is. */
static void echo(vd_call *call, void *context)
{
    static unsigned char data[LONGEST];
    size_t length;
    (void)context;
    ok(vd_unpack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    ok(vd_unpack(vd_rpc_arguments(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    ok(vd_pack(vd_rpc_reply(call), data, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
}

static void call_echo(unsigned name, size_t length)
{
    vd_connection *reply;
    vd_call *call = vd_rpc_begin(!rank, "echo", 0);
    if (!call)
        ok(vd_error());
    fill_name(in, name, length);
    ok(vd_pack(vd_rpc_arguments(call), &length, sizeof length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    ok(vd_pack(vd_rpc_arguments(call), in, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    ok(vd_rpc_send(call));
    memset(in, 0, length);
    ok(vd_rpc_wait(call, &reply));
    ok(vd_unpack(reply, in, length, VD_SEND_CHEAPER, VD_RECEIVE_CHEAPER));
    ok(vd_rpc_end(call));
    check_name(in, name, length);
}

static void alone(int c, const char *mine, const char *other)
{
    long used = sent_over(mine), left = sent_over(other);
    if (rank == 0)
        ok(vd_wait(send_start(c, 1, ALONE)));
    else
        take(c, 1);
    used = sent_over(mine) - used;
    left = sent_over(other) - left;
    if (rank == 0 && (used < ALONE || left > ALONE / 20)) {
        fprintf(stderr, "%d bytes on the channel of %s: %ld went over it, %ld over %s\n", ALONE, mine, used, left, other);
        exit(1);
    }
}

/* Rank 0 says when it is the last. */
static int round_of_all(unsigned round, double end)
{
    vd_connection *to[CHANNELS];
    int last = rank == 0 && now() > end;
    for (int c = 0; c < CHANNELS; c++)
        to[c] = send_start(c, round * 8 + (unsigned)(c * 2 + rank), c == 0 && last ? 0 : 1 + length_of(round, (unsigned)c));
    for (int c = CHANNELS - 1; c >= 0; c--)
        if (take(c, round * 8 + (unsigned)(c * 2 + !rank)) == 0)
            last = 1;
    for (int c = 0; c < CHANNELS; c++)
        ok(vd_wait(to[c]));
    call_echo(round, length_of(round, 99));
    return last;
}

int main(int argc, char **argv)
{
    static const char *const network[CHANNELS] = {NULL, "eth0", "eth1"};
    vd_channel *none;
    unsigned rounds = 0;
    ok(vd_init());
    rank = vd_rank();
    ok(vd_rpc_start(0));
    ok(vd_rpc_register("echo", echo, NULL, VD_AT_ONCE));
    in = malloc(ALONE);
    for (int c = 0; c < CHANNELS; c++) {
        ok(vd_channel_open("pieces", network[c], &channel[c]));
        out[c] = malloc(ALONE);
    }
    if (vd_channel_open("none", "shm", &none) != VD_UNREACHABLE)
        return 3;
    alone(1, "eth0", "eth1");
    alone(2, "eth1", "eth0");
    if (rank == 0) {
        puts("each over its card");
        fflush(stdout);
    }
    for (double end = now() + (argc > 1 ? atof(argv[1]) : 5); !round_of_all(rounds, end);)
        rounds++;
    ok(vd_finalize());
    if (rank == 0)
        printf("all right, %u rounds\n", rounds);
    return 0;
}
