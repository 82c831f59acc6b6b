/* mixed SECONDS [SEED [MOST [THREADS]]]: everybody sends to everybody, for so long: sizes from 0 to MOST bytes (4 MiB), by Send, Isend,
 * Issend and Sendrecv; received by Irecv before or after, by Mprobe, with and without wildcards; collectives now and then.
 *
 * Each round has a plan that all ranks draw alike from the seed: so each knows what must come, from whom, in which order, and sees
 * what is lost (it waits for ever), comes twice, out of order or with a wrong byte. A kind of receive has a communicator of its own,
 * or a wildcard would take what a plain receive waits for. A round ends with a collective that nobody leaves before
 * all have entered, so that no message of the next round can be taken in this one.
 *
 * Each of THREADS threads (1) does all this with communicators of its own, at the same time.
 *
 * Rank 0 prints "all right: ..." at the end, and on standard error what went wrong comes with seed, round and message. */
#include "../check.h"
#include <mpi.h>
#include <pthread.h>

#define MESSAGES 48
#define TAGS 3

enum kind { PLAIN, ANY_SOURCE, ANY_TAG, ANY_BOTH, KINDS };
enum how { ISEND, ISSEND, SEND, HOWS };
struct message {
    int from, to, tag;
    enum kind kind;
    enum how how;
    int early;  /* its receive is posted before its rank sends */
    int probed; /* ... or, when it is late, looked for and then received */
    int seen;
    size_t size;
    unsigned id;
};
static _Thread_local struct message plan[MESSAGES];
static int rank, ranks;
static unsigned long most = 4 << 20;
static double end;
static _Thread_local unsigned long seed, dice, messages;
static _Thread_local double bytes;
static _Thread_local unsigned round_number;
static _Thread_local MPI_Comm world, comm[KINDS];

static unsigned long draw(void) /* the same numbers on every rank: splitmix64 */
{
    unsigned long z = dice += 0x9E3779B97F4A7C15ul;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ul;
    z = (z ^ z >> 27) * 0x94D049BB133111EBul;
    return z ^ z >> 31;
}

static size_t draw_size(void) /* as many of some bytes as of some MiB */
{
    unsigned bits = (unsigned)(draw() % 24);
    size_t size = bits ? (1ul << (bits - 1)) + draw() % (1ul << (bits - 1)) : 0;
    return size < most ? size : most;
}

static void draw_plan(void)
{
    dice = seed * 1000003 + round_number;
    unsigned long early = draw(); /* all of a kind to a rank, or a late one takes the receive that a blocking send waits for */
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &plan[i];
        m->from = (int)(draw() % (unsigned)ranks);
        m->to = (int)((unsigned)(m->from + 1) + draw() % (unsigned)(ranks - 1)) % ranks;
        m->tag = (int)(draw() % TAGS);
        m->kind = (enum kind)(draw() % KINDS);
        m->early = (int)(early >> (m->to * KINDS + (int)m->kind) % 64 & 1);
        m->probed = draw() % 2 == 0;
        m->how = (enum how)(draw() % HOWS);
        if (m->how == SEND && !m->early)
            m->how = ISEND; /* a late receive may stand behind a blocking send of its rank */
        m->size = draw_size();
        m->id = (unsigned)draw();
        m->seen = 0;
    }
}

static void wrong(const struct message *m, const char *what, size_t at)
{
    fprintf(stderr, "rank %d: seed %lu round %u message %d (from %d to %d tag %d kind %d size %zu): %s (%zu)\n", rank, seed, round_number,
            (int)(m - plan), m->from, m->to, m->tag, (int)m->kind, m->size, what, at);
    if (++check_failed > 5)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The message of the plan that a receive of KIND from there must now be: the first not seen yet. */
static struct message *expected(enum kind kind, int from, int tag)
{
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &plan[i];
        if (m->to == rank && m->kind == kind && !m->seen && m->from == from && (kind >= ANY_TAG || m->tag == tag))
            return m;
    }
    return NULL;
}

static void arrived(struct message *slot, const unsigned char *data, const MPI_Status *status)
{
    struct message *m = expected(slot->kind, status->MPI_SOURCE, status->MPI_TAG);
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    if (!m) {
        wrong(slot, "a message came that nobody sent, its tag", (size_t)status->MPI_TAG);
        return;
    }
    m->seen = 1;
    if (status->MPI_TAG != m->tag)
        wrong(m, "the tag is another", (size_t)status->MPI_TAG);
    if ((size_t)count != m->size) {
        wrong(m, "the size is another", (size_t)count);
        return;
    }
    for (size_t i = 0; i < m->size; i++)
        if (data[i] != check_byte(m->id, i)) {
            const char *what = "a byte is wrong";
            for (int k = 0; k < MESSAGES && i == 0; k++)
                if (&plan[k] != m && plan[k].size >= 8 && m->size >= 8 && data[0] == check_byte(plan[k].id, 0) &&
                    data[5] == check_byte(plan[k].id, 5) && data[7] == check_byte(plan[k].id, 7))
                    what = "it is another message of the plan";
            wrong(m, what, i);
            break;
        }
    messages++;
    bytes += (double)m->size;
}

static int source_of(const struct message *m)
{
    return m->kind == ANY_SOURCE || m->kind == ANY_BOTH ? MPI_ANY_SOURCE : m->from;
}

static int tag_of(const struct message *m)
{
    return m->kind == ANY_TAG || m->kind == ANY_BOTH ? MPI_ANY_TAG : m->tag;
}

struct box { /* a receive or a send under way */
    struct message *message;
    unsigned char *data;
    MPI_Request request;
};

static void post(struct box *box, struct message *m)
{
    *box = (struct box){m, malloc(most + 1), MPI_REQUEST_NULL}; /* any of them may come */
    MPI_Irecv(box->data, (int)most, MPI_BYTE, source_of(m), tag_of(m), comm[m->kind], &box->request);
}

/* Receives of one kind are waited for in the order in which they were posted: that is the order in which they match. */
static void collect(struct box *box, int count)
{
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        MPI_Wait(&box[i].request, &status);
        arrived(box[i].message, box[i].data, &status);
        free(box[i].data);
    }
}

static void take_probed(struct message *m)
{
    MPI_Message handle;
    MPI_Status status;
    int count;

    MPI_Mprobe(source_of(m), tag_of(m), comm[m->kind], &handle, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    unsigned char *data = malloc((size_t)count + 1);
    MPI_Mrecv(data, count, MPI_BYTE, &handle, &status);
    arrived(m, data, &status);
    free(data);
}

static void send(struct box *box, struct message *m)
{
    *box = (struct box){m, malloc(m->size + 1), MPI_REQUEST_NULL};
    for (size_t i = 0; i < m->size; i++)
        box->data[i] = check_byte(m->id, i);
    if (m->how == SEND)
        MPI_Send(box->data, (int)m->size, MPI_BYTE, m->to, m->tag, comm[m->kind]);
    else if (m->how == ISSEND)
        MPI_Issend(box->data, (int)m->size, MPI_BYTE, m->to, m->tag, comm[m->kind], &box->request);
    else
        MPI_Isend(box->data, (int)m->size, MPI_BYTE, m->to, m->tag, comm[m->kind], &box->request);
}

static void shift(size_t size, int distance)
{
    int to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
    unsigned char *out = malloc(size + 1), *in = malloc(size + 1);

    for (size_t i = 0; i < size; i++)
        out[i] = check_byte(round_number + (unsigned)rank, i);
    MPI_Sendrecv(out, (int)size, MPI_BYTE, to, TAGS, in, (int)size, MPI_BYTE, from, TAGS, comm[PLAIN], MPI_STATUS_IGNORE);
    for (size_t i = 0; i < size; i++)
        if (in[i] != check_byte(round_number + (unsigned)from, i)) {
            fprintf(stderr, "rank %d: seed %lu round %u: byte %zu of %zu from %d by Sendrecv is wrong\n", rank, seed, round_number, i, size, from);
            check_failed++;
            break;
        }
    free(in);
    free(out);
}

static void together(void)
{
    int count = (int)(draw() % 5000) + 1, root = (int)(draw() % (unsigned)ranks);
    int *out = malloc((size_t)(count * ranks) * sizeof *out), *in = malloc((size_t)(count * ranks) * sizeof *in);

    for (int i = 0; i < count * ranks; i++)
        out[i] = rank * 31 + i;
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, world);
    for (int i = 0; i < count * ranks; i++)
        if (in[i] != i / count * 31 + rank * count + i % count) {
            CHECK_EQUAL(in[i], i / count * 31 + rank * count + i % count);
            break;
        }
    for (int i = 0; i < count; i++)
        in[i] = rank == root ? (int)round_number + i : -1;
    MPI_Bcast(in, count, MPI_INT, root, world);
    for (int i = 0; i < count; i++)
        if (in[i] != (int)round_number + i) {
            CHECK_EQUAL(in[i], (int)round_number + i);
            break;
        }
    free(in);
    free(out);
}

static void one_round(void)
{
    static _Thread_local struct box received[MESSAGES], late[MESSAGES], sent[MESSAGES];
    int receives = 0, lates = 0, sends = 0;

    draw_plan();
    for (int i = 0; i < MESSAGES; i++)
        if (plan[i].to == rank && plan[i].early)
            post(&received[receives++], &plan[i]);
    for (int i = 0; i < MESSAGES; i++)
        if (plan[i].from == rank)
            send(&sent[sends++], &plan[i]);
    shift(draw_size() / 4, 1 + (int)(draw() % (unsigned)(ranks - 1)));
    collect(received, receives);
    for (int i = 0; i < MESSAGES; i++)
        if (plan[i].to == rank && !plan[i].early && !plan[i].probed)
            post(&late[lates++], &plan[i]);
    collect(late, lates);
    for (int i = 0; i < MESSAGES; i++)
        if (plan[i].to == rank && !plan[i].early && plan[i].probed)
            take_probed(&plan[i]);
    for (int i = 0; i < sends; i++) {
        MPI_Wait(&sent[i].request, MPI_STATUS_IGNORE);
        free(sent[i].data);
    }
    if (round_number % 4 == 0)
        together();
}

struct job { /* of one thread */
    MPI_Comm world;
    unsigned long seed;
    double sums[3]; /* rounds, messages, bytes */
};

static void *work(void *context)
{
    struct job *job = context;
    int more = 1;

    world = job->world;
    seed = job->seed;
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Comm_dup(world, &comm[kind]);
    while (more) {
        int alone = rank == 0 && MPI_Wtime() < end;
        one_round();
        round_number++;
        MPI_Allreduce(&alone, &more, 1, MPI_INT, MPI_SUM, world);
    }
    for (int kind = 0; kind < KINDS; kind++)
        MPI_Comm_free(&comm[kind]);
    job->sums[0] = rank == 0 ? round_number : 0;
    job->sums[1] = (double)messages;
    job->sums[2] = bytes;
    return NULL;
}

int main(int argc, char **argv)
{
    static struct job job[64];
    int threads = argc > 4 ? atoi(argv[4]) : 1, level, bad = 0;
    double mine[3] = {0}, all[3] = {0};
    pthread_t thread[64];

    CHECK(threads > 0 && threads <= 64);
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 5);
    most = argc > 3 ? strtoul(argv[3], NULL, 0) : most;
    for (int i = 0; i < threads; i++) {
        job[i].seed = (argc > 2 ? strtoul(argv[2], NULL, 0) : 1) + (unsigned)i;
        MPI_Comm_dup(MPI_COMM_WORLD, &job[i].world);
    }
    for (int i = 1; i < threads; i++)
        CHECK_EQUAL(pthread_create(&thread[i], NULL, work, &job[i]), 0);
    work(&job[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(thread[i], NULL);
        MPI_Comm_free(&job[i].world);
        for (int k = 0; k < 3; k++)
            mine[k] += job[i].sums[k];
    }
    MPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&check_failed, &bad, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && !bad)
        printf("all right: %.0f rounds, %.0f messages, %.0f MB\n", all[0], all[1], all[2] / 1e6);
    MPI_Finalize();
    return check_done();
}
