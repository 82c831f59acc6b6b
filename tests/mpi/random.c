/* Random programs against a serial model. All ranks make the same program from a seed: communicators (duplicates, splits with
 * random keys), and a list of messages with random ends, tags, sizes, layouts on either side and ways of sending and
 * receiving. The model: a receive gets the first message, in the order of sending, of those from its sender that fit it and
 * are not taken yet; and its buffer holds that message where the layout says, and is untouched elsewhere. Then the same by
 * two threads a rank, on communicators of their own and on one that they share.
 * takes: 8 everywhere: 1 2 3 5 8
 * timeout: 120 */
#include "mpi_check.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define RANKS 8
#define COMMS 3
#define MESSAGES 60
#define TAGS 4
#define LAYOUTS 7
#define MARK 0x5a

struct random {
    uint64_t state;
};
static unsigned pick(struct random *random, unsigned below)
{
    uint64_t x = random->state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return (unsigned)((x ^ x >> 31) >> 16) % below;
}

/* ---- layouts of N ints, with a model of their own ------------------------------------------------------------------ */

/* Where int K of N lies, in ints. */
static int place(unsigned layout, int n, int k)
{
    switch (layout) {
    case 1: return 2 * k;                                     /* a vector */
    case 2: return k / 4 * 7 + k % 4;                         /* of blocks */
    case 3: return k < n / 3 ? k + 2 * n : k - n / 3;         /* indexed, the first part behind the other */
    case 4: return k < n / 3 ? k : k + 5;                     /* a struct with a gap */
    case 5: return k / 3 * 5 + k % 3;                         /* resized */
    case 6: return k / 6 * 10 + 2 + k % 6;                    /* columns of a matrix */
    default: return k;
    }
}
static size_t room_of(int n) { return (size_t)(4 * n + 20) * sizeof(int); }

/* As many of *TYPE as are told are N ints. */
static int layout_make(unsigned layout, int n, MPI_Datatype *type)
{
    MPI_Datatype three;
    int count = 1;
    switch (layout) {
    case 1: MPI_Type_vector(n, 1, 2, MPI_INT, type); break;
    case 2: MPI_Type_vector(n / 4, 4, 7, MPI_INT, type); break;
    case 3: MPI_Type_indexed(2, (int[]){n / 3, n - n / 3}, (int[]){2 * n, 0}, MPI_INT, type); break;
    case 4:
        MPI_Type_create_struct(2, (int[]){n / 3, n - n / 3}, (MPI_Aint[]){0, (n / 3 + 5) * (MPI_Aint)sizeof(int)},
                               (MPI_Datatype[]){MPI_INT, MPI_INT}, type);
        break;
    case 5:
        MPI_Type_contiguous(3, MPI_INT, &three);
        MPI_Type_create_resized(three, 0, 5 * sizeof(int), type);
        MPI_Type_free(&three);
        count = n / 3;
        break;
    case 6:
        MPI_Type_create_subarray(2, (int[]){n / 6, 10}, (int[]){n / 6, 6}, (int[]){0, 2}, MPI_ORDER_C, MPI_INT, type);
        break;
    default:
        MPI_Type_dup(MPI_INT, type);
        count = n;
    }
    MPI_Type_commit(type);
    return count;
}

/* The model: message ID of N ints in a buffer for MOST. Its first int is its number. */
static void *image(unsigned layout, unsigned seed, int id, int n, int most)
{
    int *buffer = malloc(room_of(most));
    memset(buffer, MARK, room_of(most));
    for (int k = 0; k < n; k++) {
        int value = k ? (int)((unsigned)k * 2654435761u ^ (unsigned)id * 40503u ^ seed) : id;
        memcpy(&buffer[place(layout, most, k)], &value, sizeof value);
    }
    return buffer;
}

/* ---- programs ------------------------------------------------------------------------------------------------------ */

enum reach { ONE_BY_ONE, ANY_SOURCE_OF_TAG, ANY_TAG_OF_SOURCE, ANYTHING, REACHES };
struct message {
    int comm, from, to, tag, n; /* ends: ranks in the base */
    unsigned layout, way;
    bool taken;
};
struct receive {
    int comm, source, tag, most, id; /* source: in the base, or MPI_ANY_SOURCE; ID: what came */
    unsigned layout, way;
    MPI_Datatype type;
    int count;
    int *buffer;
    MPI_Status status;
};
struct program {
    struct random random;
    unsigned seed;
    MPI_Comm base, comm[COMMS];
    int me, ranks, tag_first;
    bool shared;                     /* another thread uses the first of them, too: with tags of its own */
    int color[COMMS][RANKS], local[COMMS][RANKS]; /* by rank in the base */
    bool early[COMMS][RANKS];        /* the receives of that rank are posted before anything is sent */
    enum reach reach[COMMS][RANKS];
    struct message message[MESSAGES];
    void *sent[MESSAGES];            /* buffers of mine */
    MPI_Request send[MESSAGES], pending[MESSAGES];
    struct receive receive[MESSAGES];
    int sends, receives;
};

static void make_comms(struct program *p)
{
    int key[RANKS];
    p->comm[0] = p->shared ? MPI_COMM_WORLD : p->base;
    MPI_Comm_dup(p->base, &p->comm[1]);
    for (int c = 0; c < COMMS; c++)
        for (int r = 0; r < p->ranks; r++) {
            p->color[c][r] = c < 2 ? 0 : (int)pick(&p->random, 2);
            key[r] = c < 2 ? r : (int)pick(&p->random, 100);
            p->early[c][r] = pick(&p->random, 2);
            p->reach[c][r] = pick(&p->random, p->shared && c == 0 ? ANY_TAG_OF_SOURCE : REACHES);
        }
    for (int c = 0; c < COMMS; c++)
        for (int r = 0; r < p->ranks; r++) {
            p->local[c][r] = c < 2 ? r : 0;
            for (int o = 0; o < p->ranks && c == 2; o++)
                p->local[c][r] += p->color[c][o] == p->color[c][r] && (key[o] < key[r] || (key[o] == key[r] && o < r));
        }
    MPI_Comm_split(p->base, p->color[2][p->me], key[p->me], &p->comm[2]);
    MPI_Comm_rank(p->comm[2], &key[0]);
    CHECK_EQUAL(key[0], p->local[2][p->me]);
}

static void make_messages(struct program *p)
{
    static const int sizes[] = {12, 24, 120, 1200, 6000, 18000};
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &p->message[i];
        *m = (struct message){.comm = (int)pick(&p->random, COMMS), .from = (int)pick(&p->random, (unsigned)p->ranks),
                              .tag = p->tag_first + (int)pick(&p->random, TAGS), .n = sizes[pick(&p->random, 6)],
                              .layout = pick(&p->random, LAYOUTS), .way = pick(&p->random, 12)};
        do
            m->to = (int)pick(&p->random, (unsigned)p->ranks);
        while (p->color[m->comm][m->to] != p->color[m->comm][m->from]);
    }
}

/* For each message to me a receive, as wide as this rank receives on that communicator. */
static void make_receives(struct program *p)
{
    struct random mine = {p->random.state + (unsigned)p->me};
    for (int i = 0; i < MESSAGES; i++) {
        const struct message *m = &p->message[i];
        if (m->to != p->me)
            continue;
        enum reach reach = p->reach[m->comm][p->me];
        struct receive *r = &p->receive[p->receives++];
        *r = (struct receive){.comm = m->comm, .most = 18000, .layout = pick(&mine, LAYOUTS), .way = pick(&mine, 6)};
        r->source = reach == ANY_SOURCE_OF_TAG || reach == ANYTHING ? MPI_ANY_SOURCE : m->from;
        r->tag = reach == ANY_TAG_OF_SOURCE || reach == ANYTHING ? MPI_ANY_TAG : m->tag;
        r->count = layout_make(r->layout, r->most, &r->type);
        r->buffer = malloc(room_of(r->most));
        memset(r->buffer, MARK, room_of(r->most));
    }
    for (int i = p->receives - 1; i > 0; i--) { /* in any order */
        int o = (int)pick(&mine, (unsigned)i + 1);
        struct receive swap = p->receive[i];
        p->receive[i] = p->receive[o];
        p->receive[o] = swap;
    }
}

static void receive_one(struct program *p, int i)
{
    struct receive *r = &p->receive[i];
    MPI_Comm comm = p->comm[r->comm];
    int source = r->source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : p->local[r->comm][r->source], flag = 0;
    bool early = p->early[r->comm][p->me];
    MPI_Message message;
    if (early ? r->way < 3 : r->way == 0) {
        MPI_Irecv(r->buffer, r->count, r->type, source, r->tag, comm, &p->pending[i]);
    } else if (early || r->way == 1) {
        MPI_Recv_init_c(r->buffer, r->count, r->type, source, r->tag, comm, &p->pending[i]);
        MPI_Start(&p->pending[i]);
    } else if (r->way == 2) {
        MPI_Recv(r->buffer, r->count, r->type, source, r->tag, comm, &r->status);
    } else if (r->way == 3) {
        MPI_Mprobe(source, r->tag, comm, &message, &r->status);
        MPI_Mrecv(r->buffer, r->count, r->type, &message, &r->status);
    } else if (r->way == 4) {
        while (!flag)
            MPI_Improbe(source, r->tag, comm, &flag, &message, &r->status);
        MPI_Imrecv(r->buffer, r->count, r->type, &message, &p->pending[i]);
    } else if (p->shared && r->comm == 0) { /* between a probe and its receive another thread would be let in */
        MPI_Recv(r->buffer, r->count, r->type, source, r->tag, comm, &r->status);
    } else {
        MPI_Probe(source, r->tag, comm, &r->status);
        MPI_Recv(r->buffer, r->count, r->type, r->status.MPI_SOURCE, r->status.MPI_TAG, comm, &r->status);
    }
}

static void send_one(struct program *p, int i)
{
    const struct message *m = &p->message[i];
    MPI_Comm comm = p->comm[m->comm];
    int to = p->local[m->comm][m->to];
    bool early = p->early[m->comm][m->to];
    unsigned way = early ? m->way : m->way % 8; /* what may wait for its receive, or needs it, only where it is there */
    MPI_Datatype type;
    int count = layout_make(m->layout, m->n, &type);
    void *data = p->sent[i] = image(m->layout, p->seed, i, m->n, m->n);
    MPI_Request *request = &p->send[i];
    switch (way) {
    case 0: MPI_Isend(data, count, type, to, m->tag, comm, request); break;
    case 1: MPI_Issend(data, count, type, to, m->tag, comm, request); break;
    case 2: MPI_Ibsend(data, count, type, to, m->tag, comm, request); break;
    case 3: MPI_Bsend(data, count, type, to, m->tag, comm); break;
    case 4: MPI_Send_init(data, count, type, to, m->tag, comm, request); break;
    case 5: MPI_Ssend_init(data, count, type, to, m->tag, comm, request); break;
    case 6: MPI_Bsend_init(data, count, type, to, m->tag, comm, request); break;
    case 7: MPI_Isend_c(data, count, type, to, m->tag, comm, request); break;
    case 8: MPI_Send(data, count, type, to, m->tag, comm); break;
    case 9: MPI_Ssend(data, count, type, to, m->tag, comm); break;
    case 10: MPI_Rsend(data, count, type, to, m->tag, comm); break;
    default: MPI_Irsend(data, count, type, to, m->tag, comm, request);
    }
    if (way >= 4 && way <= 6)
        MPI_Start(request);
    if (way == 3)
        memset(data, 0, room_of(m->n));
    MPI_Type_free(&type);
}

/* Completes REQUESTS in one of the ways that there are; frees persistent ones. */
static void complete(struct random *random, MPI_Request *request, int count, MPI_Status *status)
{
    MPI_Request again[MESSAGES];
    int index[MESSAGES], at = 0, flag = 0;
    MPI_Status one, some[MESSAGES];
    memcpy(again, request, sizeof again);
    switch (pick(random, 5)) {
    case 0: MPI_Waitall(count, request, status); break;
    case 1:
        while (MPI_Waitany(count, request, &at, &one), at != MPI_UNDEFINED)
            status[at] = one;
        break;
    case 2:
        while (MPI_Waitsome(count, request, &at, index, some), at != MPI_UNDEFINED)
            while (at-- > 0)
                status[index[at]] = some[at];
        break;
    case 3:
        while (!flag)
            MPI_Testall(count, request, &flag, status);
        break;
    default:
        for (int i = count - 1; i >= 0; i--) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(request[i], &flag, &status[i]);
            MPI_Wait(&request[i], &status[i]);
        }
    }
    for (int i = 0; i < count; i++)
        if (request[i] != MPI_REQUEST_NULL) {
            CHECK(request[i] == again[i]);
            MPI_Request_free(&request[i]);
        }
}

/* Receives in the order of their posting: each must have the first message of its sender that fits it. */
static void check_receive(struct program *p, struct receive *r)
{
    int source = -1, n = 0, first = -1;
    MPI_Get_count(&r->status, MPI_INT, &n);
    for (int o = 0; o < p->ranks; o++)
        if (p->color[r->comm][o] == p->color[r->comm][p->me] && p->local[r->comm][o] == r->status.MPI_SOURCE)
            source = o;
    CHECK(source >= 0 && (r->source == MPI_ANY_SOURCE || r->source == source));
    for (int i = 0; i < MESSAGES && first < 0; i++) {
        const struct message *m = &p->message[i];
        if (!m->taken && m->comm == r->comm && m->from == source && m->to == p->me &&
            (r->tag == MPI_ANY_TAG || r->tag == m->tag))
            first = i;
    }
    CHECK(first >= 0);
    if (first < 0)
        return;
    struct message *m = &p->message[first];
    m->taken = true;
    CHECK_EQUAL(m->tag, r->status.MPI_TAG);
    CHECK_EQUAL(m->n, n);
    void *expected = image(r->layout, p->seed, first, m->n, r->most);
    CHECK(memcmp(expected, r->buffer, room_of(r->most)) == 0);
    free(expected);
}

static void run(struct program *p)
{
    MPI_Status ignored[MESSAGES], status[MESSAGES] = {0};
    make_comms(p);
    make_messages(p);
    make_receives(p);
    for (int i = 0; i < MESSAGES; i++)
        p->send[i] = p->pending[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < p->receives; i++)
        if (p->early[p->receive[i].comm][p->me])
            receive_one(p, i);
    MPI_Barrier(p->comm[1]); /* ready sends may begin */
    for (int i = 0; i < MESSAGES; i++)
        if (p->message[i].from == p->me)
            send_one(p, i);
    for (int i = 0; i < p->receives; i++)
        if (!p->early[p->receive[i].comm][p->me])
            receive_one(p, i);
    bool pending[MESSAGES];
    for (int i = 0; i < p->receives; i++)
        pending[i] = p->pending[i] != MPI_REQUEST_NULL;
    complete(&p->random, p->pending, p->receives, status);
    complete(&p->random, p->send, MESSAGES, ignored);
    MPI_Buffer_flush();
    for (int i = 0; i < p->receives; i++) {
        struct receive *r = &p->receive[i];
        if (pending[i])
            r->status = status[i];
        check_receive(p, r);
        MPI_Type_free(&r->type);
        free(r->buffer);
    }
    for (int i = 0; i < MESSAGES; i++) {
        CHECK(p->message[i].to != p->me || p->message[i].taken);
        if (p->message[i].from == p->me)
            free(p->sent[i]);
    }
    MPI_Comm_free(&p->comm[1]);
    MPI_Comm_free(&p->comm[2]);
}

/* ---- threads ------------------------------------------------------------------------------------------------------- */

struct worker {
    MPI_Comm base;
    unsigned first, programs;
    int tag_first;
    bool shared;
};

static void *work(void *argument)
{
    const struct worker *worker = argument;
    struct program *p = malloc(sizeof *p);
    for (unsigned i = 0; i < worker->programs; i++) {
        unsigned seed = worker->first + i;
        memset(p, 0, sizeof *p);
        p->random.state = p->seed = seed;
        p->base = worker->base;
        p->me = rank;
        p->ranks = size;
        p->tag_first = worker->tag_first;
        p->shared = worker->shared;
        int before = check_failed;
        run(p);
        if (check_failed != before)
            fprintf(stderr, "rank %d: that was the program of seed %u\n", rank, seed);
    }
    free(p);
    return NULL;
}

static void two_threads(unsigned first, unsigned few, bool shared)
{
    pthread_t thread;
    MPI_Comm base[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &base[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &base[1]);
    struct worker one = {base[0], first + 1000 + shared, few, 0, shared}, two = one;
    two.base = base[1];
    two.first += 1000;
    two.tag_first = TAGS;
    pthread_create(&thread, NULL, work, &two);
    work(&one);
    pthread_join(thread, NULL);
    MPI_Comm_free(&base[0]);
    MPI_Comm_free(&base[1]);
}

static unsigned number_of(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 0) : otherwise;
}

int main(void)
{
    int provided, bytes;
    void *buffer;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    /* RANDOM_PROGRAMS: more of them, for a long run; RANDOM_FIRST: the one that failed */
    unsigned first = number_of("RANDOM_FIRST", (unsigned)check_seed()), programs = number_of("RANDOM_PROGRAMS", 8);
    work(&(struct worker){MPI_COMM_WORLD, first, programs, 0, false});
    two_threads(first, (programs + 1) / 2, false);
    two_threads(first, (programs + 1) / 2, true);
    MPI_Buffer_detach(&buffer, &bytes);
    return check_finalize();
}
