/* Remote calls that do nothing: the round trip beside two messages, and how many one server answers.
 *
 *   cc -O2 -o calls calls.c -lviaduct && mpiexec -n 2 ./calls, mpiexec -n 9 ./calls SECONDS UNDER_WAY
 *
 * Without arguments two ranks: "call ROUND_TRIP_US messages TWO_MESSAGES_US RATIO", medians of interleaved rounds; others are silent. Else rank 0
 * serves, the others call, each with UNDER_WAY calls at a time: "rate CALLS_A_SECOND". */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <viaduct.h>

#define ROUNDS 9
#define MOST 32

static vd_channel *channel;
static int stopped;

static void check(int code)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "calls: %s\n", vd_error_text(code));
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value)
{
    qsort(value, ROUNDS, sizeof *value, by_value);
    return value[ROUNDS / 2];
}

static void nothing(vd_call *call, void *context) { (void)call, (void)context; }
static void stop(vd_call *call, void *context) { (void)call, (void)context, stopped++; }
static int enough(void *count) { return stopped >= *(int *)count; }

static void send_number(int to, int number)
{
    vd_connection *message = vd_begin_packing(channel, to);
    check(vd_pack(message, &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_end_packing(message));
}

static void take_number(void)
{
    int number;
    vd_connection *message = vd_begin_unpacking(channel);
    check(vd_unpack(message, &number, sizeof number, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_end_unpacking(message));
}

static vd_call *start(const char *name, uint64_t ns)
{
    vd_call *call = vd_rpc_begin(0, name, ns);
    check(call ? vd_rpc_send(call) : vd_error());
    return call;
}

static void finish(vd_call *call)
{
    check(vd_rpc_wait(call, NULL));
    check(vd_rpc_end(call));
}

/* Microseconds a round trip. */
static double messages(int rank, int n)
{
    double began = now();
    for (int i = 0; i < n; i++) {
        if (rank == 1)
            send_number(0, i);
        take_number();
        if (rank == 0)
            send_number(1, i);
    }
    return (now() - began) / n * 1e6;
}

static double calls(int rank, int n, int *rounds)
{
    double began = now();
    ++*rounds;
    if (rank == 0)
        check(vd_rpc_serve(enough, rounds));
    for (int i = 0; i < n && rank == 1; i++)
        finish(start("nothing", 0));
    if (rank == 1)
        start("stop", VD_ONE_WAY);
    return (now() - began) / n * 1e6;
}

static void pair(int rank, int n)
{
    double call[ROUNDS], message[ROUNDS], ratio[ROUNDS];
    int rounds = 0;
    for (int i = -1; i < ROUNDS; i++) {
        int at = i < 0 ? 0 : i;
        message[at] = messages(rank, n);
        call[at] = calls(rank, n, &rounds);
        ratio[at] = call[at] / message[at];
    }
    if (rank == 1)
        printf("call %.3f messages %.3f %.3f\n", median(call), median(message), median(ratio));
}

static void crowd(int rank, double seconds, int under_way)
{
    vd_call *out[MOST];
    int clients = vd_size() - 1;
    long count = 0;
    if (rank == 0) {
        double began = now();
        check(vd_rpc_serve(enough, &clients));
        for (int i = 0; i < clients; i++) {
            vd_connection *message = vd_begin_unpacking(channel);
            long his;
            check(vd_unpack(message, &his, sizeof his, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
            check(vd_end_unpacking(message));
            count += his;
        }
        printf("rate %.0f\n", (double)count / (now() - began));
        return;
    }
    for (int i = 0; i < under_way; i++)
        out[i] = start("nothing", 0);
    for (double end = now() + seconds; now() < end; count += under_way)
        for (int i = 0; i < under_way; i++) {
            finish(out[i]);
            out[i] = start("nothing", 0);
        }
    for (int i = 0; i < under_way; i++)
        finish(out[i]);
    start("stop", VD_ONE_WAY);
    vd_connection *message = vd_begin_packing(channel, 0);
    check(vd_pack(message, &count, sizeof count, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS));
    check(vd_end_packing(message));
}

int main(int argc, char **argv)
{
    check(vd_init());
    check(vd_rpc_start(0));
    check(vd_rpc_register("nothing", nothing, NULL, VD_AT_ONCE));
    check(vd_rpc_register("stop", stop, NULL, VD_AT_ONCE));
    check(vd_channel_open("bench", NULL, &channel));
    int under_way = argc > 2 ? atoi(argv[2]) : 1;
    if (argc < 2 && vd_rank() < 2)
        pair(vd_rank(), 2000);
    else if (argc > 1)
        crowd(vd_rank(), atof(argv[1]), under_way < 1 ? 1 : under_way > MOST ? MOST : under_way);
    check(vd_finalize());
    return 0;
}
