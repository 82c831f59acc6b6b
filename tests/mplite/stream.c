/* Receives as streams: any cutting of bytes into messages and receives, blocking and started ahead, from one source or
 * any; that receives go on inside whatever call the rank waits in; shifts, probes, tests. timeout: 60 */
#include "base/counters.h"
#include "msg/harness.h"
#include "mplite.h"

#include <unistd.h>

#define TOTAL 60000
#define PIECES 400

static uint64_t seed;
static uint64_t any(uint64_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
}

/* Cuts TOTAL bytes into messages, the same at both ends: small and empty ones, and some beyond every threshold. */
static int cut(unsigned round, long *piece)
{
    int count = 0;
    long left = TOTAL;
    for (seed = round; left; left -= piece[count++]) {
        long most = any(10) == 0 ? 40000 : any(3) ? 300 : 3000;
        piece[count] = any(8) == 0 || count == PIECES - 2 ? 0 : (long)any((uint64_t)most) + 1;
        if (piece[count] > left || count == PIECES - 2)
            piece[count] = left;
    }
    return count;
}

static void send_pieces(unsigned round, int dest, int tag)
{
    static unsigned char out[TOTAL];
    long piece[PIECES], at = 0;
    int count = cut(round, piece), id[PIECES];
    bool ahead = round % 2;
    fill(out, round, TOTAL);
    for (int i = 0; i < count; at += piece[i++])
        if (ahead)
            MP_ASend(out + at, piece[i], dest, tag, &id[i]);
        else
            MP_Send(out + at, piece[i], dest, tag);
    for (int i = 0; ahead && i < count; i++)
        MP_Wait(&id[i]);
}

/* Each receive takes one or several of the messages. */
static void receive_pieces(unsigned round, int source, int tag)
{
    static unsigned char in[TOTAL];
    long piece[PIECES], at = 0;
    int count = cut(round, piece), ids = 0, id[PIECES];
    bool ahead = round % 3;
    memset(in, 0, TOTAL);
    while (count && piece[count - 1] == 0) /* what ends with empty messages leaves them to the next round's receive */
        count--;
    for (int i = 0; i < count;) {
        long bytes = 0;
        for (uint64_t several = 1 + any(6); i < count && (several || bytes == 0); several -= several > 0)
            bytes += piece[i++];
        if (ahead)
            MP_ARecv(in + at, bytes, source, tag, &id[ids++]);
        else
            MP_Recv(in + at, bytes, source, tag);
        at += bytes;
    }
    for (int i = 0; i < ids; i++) {
        MP_Wait(&id[i]);
        CHECK_EQUAL(id[i], -1);
    }
    CHECK_EQUAL(at, TOTAL);
    CHECK_EQUAL(first_wrong(in, round, TOTAL), TOTAL);
}

static void pieces(int rank)
{
    MP_Init(NULL, NULL);
    for (unsigned round = 0; round < 30; round++) {
        if (rank == 0)
            send_pieces(round, 1, 5);
        else
            receive_pieces(round, round % 5 == 4 ? -1 : 0, round % 7 == 6 ? -1 : 5);
        MP_Sync();
    }
    MP_Finalize();
}

/* Two ranks send to the third at once: what a wildcard receive takes is all of one of them. */
static void two_sources(int rank)
{
    static unsigned char data[3000];
    int all = 0;
    MP_Init(NULL, NULL);
    for (unsigned round = 0; round < 200; round++) {
        if (rank) {
            fill(data, (unsigned)rank, sizeof data);
            for (int part = 0; part < 3; part++)
                MP_Send(data + 1000 * part, 1000, 0, rank);
            continue;
        }
        int seen = 0, id[2];
        for (int i = 0; i < 2; i++) {
            int source, tag, size;
            memset(data, 0, sizeof data);
            if (round % 2) {
                MP_Recv(data, sizeof data, -1, -1);
            } else {
                MP_ARecv(data, sizeof data, -1, -1, &id[i]);
                MP_Wait(&id[i]);
            }
            MP_Get_Last_Source(&source);
            MP_Get_Last_Tag(&tag);
            MP_Get_Last_Size(&size);
            CHECK_EQUAL(tag, source);
            CHECK_EQUAL(size, sizeof data);
            CHECK_EQUAL(first_wrong(data, (unsigned)source, sizeof data), sizeof data);
            seen += source;
        }
        all += seen;
    }
    CHECK_EQUAL(all, rank == 0 ? 600 : 0); /* as many of one as of the other */
    MP_Sync();
    MP_Finalize();
}

/* The first message of a stream from anyone tells whose it is: a receive from another may go on before it is full. */
static void source_is_told(int rank)
{
    static unsigned char data[2000], other[1000];
    int id, second;
    MP_Init(NULL, NULL);
    if (rank == 0) {
        uint64_t before = vbase_counters->recv_messages;
        MP_ARecv(data, sizeof data, -1, 1, &id);
        MP_ARecv(other, sizeof other, 2, 1, &second);
        while (vbase_counters->recv_messages == before)
            vmsg_progress();
        MP_Send(other, 1, 2, 9); /* it has the first message */
        MP_Wait(&second);
        CHECK_EQUAL(first_wrong(other, 2, sizeof other), sizeof other);
        MP_Send(other, 1, 1, 9);
        MP_Wait(&id);
        CHECK_EQUAL(first_wrong(data, 1, sizeof data), sizeof data);
    } else if (rank == 1) {
        fill(data, 1, sizeof data);
        MP_Send(data, 1000, 0, 1);
        MP_Recv(other, 1, 0, 9);
        MP_Send(data + 1000, 1000, 0, 1);
    } else {
        fill(other, 2, sizeof other);
        MP_Recv(data, 1, 0, 9);
        MP_Send(other, sizeof other, 0, 1);
    }
    MP_Finalize();
}

/* Receives that were started need no MP_Wait to go on: else these two would wait for each other. */
static void inside_other_calls(int rank)
{
    enum { HALF = 1 << 20 };
    unsigned char *first = malloc(2 * HALF), *second = malloc(HALF);
    int id;
    MP_Init(NULL, NULL);
    for (int way = 0; way < 2; way++) {
        if (rank == 0) {
            fill(second, 7, HALF);
            memset(first, 0, 2 * HALF);
            MP_ARecv(first, 2 * HALF, 1, 3, &id);
            if (way == 0)
                MP_Send(second, HALF, 1, 4);
            else
                MP_Sync();
            MP_Wait(&id);
            CHECK_EQUAL(first_wrong(first, 8, 2 * HALF), 2 * HALF);
        } else {
            fill(first, 8, 2 * HALF);
            MP_Send(first, HALF, 0, 3);
            MP_Send(first + HALF, HALF, 0, 3);
            if (way == 0) {
                MP_Recv(second, HALF, 0, 4);
                CHECK_EQUAL(first_wrong(second, 7, HALF), HALF);
            } else {
                MP_Sync();
            }
        }
    }
    MP_Finalize();
    free(first);
    free(second);
}

/* Receives of different tags do not wait for each other; of the same, the earlier gets the earlier bytes. */
static void order(int rank)
{
    int in[4] = {0}, id[4], flag;
    MP_Init(NULL, NULL);
    if (rank == 0) {
        MP_iARecv(&in[0], 1, 1, 1, &id[0]);
        MP_iARecv(&in[1], 1, 1, 2, &id[1]);
        MP_iARecv(&in[2], 1, -1, -1, &id[2]);
        MP_iARecv(&in[3], 1, 1, 2, &id[3]);
        MP_Test(&id[0], &flag);
        CHECK_EQUAL(flag, 0);
        MP_Sync();
        MP_Wait(&id[1]);
        CHECK_EQUAL(in[1], 20);
        while (!MP_Testall(4, id, &flag))
            ;
        CHECK(id[0] == -1 && id[3] == -1);
        CHECK_EQUAL(in[0], 10);
        CHECK_EQUAL(in[2], 21); /* after tag 1 and the first of tag 2 were given to those before it */
        CHECK_EQUAL(in[3], 22);
        MP_Wait(&id[0]); /* done already: nothing happens */
    } else {
        MP_Sync();
        for (int k = 20; k <= 22; k++)
            MP_iSend(&k, 1, 0, 2);
        MP_iSend(&(int){10}, 1, 0, 1);
    }
    MP_Finalize();
}

static void shifts_and_probes(int rank)
{
    enum { BYTES = 100000 };
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    int n, me, flag, size;
    MP_Init(NULL, NULL);
    MP_Nprocs(&n);
    MP_Myproc(&me);
    CHECK_EQUAL(me, rank);
    for (long bytes = 0; bytes <= BYTES; bytes = bytes * 10 + (bytes == 0)) {
        fill(out, (unsigned)me, (size_t)bytes);
        MP_SShift(out, (me + 1) % n, in, (me + n - 1) % n, bytes);
        CHECK_EQUAL(first_wrong(in, (unsigned)((me + n - 1) % n), (size_t)bytes), bytes);
    }
    MP_Sync();
    if (rank == 0) {
        MP_AProbe(-1, 1, 9, &flag);
        CHECK_EQUAL(flag, 0);
        MP_Sync();
        MP_Probe(-1, -1, 9);
        MP_Get_Last_Size(&size);
        CHECK_EQUAL(size, 3 * (int)sizeof(double));
        MP_AProbe(size - 1, 1, 9, &flag);
        CHECK_EQUAL(flag, 0);
        MP_AProbe(size, 1, 9, &flag);
        CHECK_EQUAL(flag, 1);
        double got[3] = {0};
        MP_dRecv(got, 3, 1, 9);
        CHECK(got[0] == 1.5 && got[1] == 2.5 && got[2] == 3.5);
        float f = 0;
        MP_fRecv(&f, 1, 1, 9);
        CHECK(f == 0.25f);
        MP_Recv(NULL, 0, 1, 10); /* an empty message is one, and is waited for */
        MP_Get_Last_Tag(&size);
        CHECK_EQUAL(size, 10);
    } else if (rank == 1) {
        MP_Sync();
        MP_dSend((double[]){1.5, 2.5, 3.5}, 3, 0, 9);
        MP_fSSend(&(float){0.25f}, 1, 0, 9);
        MP_Send(NULL, 0, 0, 10);
    } else {
        MP_Sync();
    }
    double start = MP_Time();
    CHECK(start > 0 && MP_Time() >= start);
    MP_Finalize();
    free(out);
    free(in);
}

int main(void)
{
    harness_run(2, pieces);
    harness_run(3, two_sources);
    harness_run(3, source_is_told);
    harness_run(2, inside_other_calls);
    harness_run(2, order);
    harness_run(3, shifts_and_probes);
    return check_done();
}
