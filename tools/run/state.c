/* Reads what the ranks of this host do: see state.h. What a rank wrote is hostile: lengths are bounded, and letters
 * that would command a terminal are replaced. */
#include "run/state.h"
#include "msg/msg.h"
#include "vi/shm/segment.h"
#include <time.h>

static void printable(const char *from, size_t most, char *to)
{
    size_t i = 0;
    for (; i < most && from[i]; i++)
        to[i] = from[i] < ' ' || from[i] > '~' ? '?' : from[i];
    to[i] = 0;
}

/* The state, the processor time and the memory of a process; false: there is none such. */
static bool process_read(pid_t pid, struct state_rank *rank)
{
    char path[64], text[512];
    unsigned long user = 0, system = 0;
    long threads = 1, pages = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    const char *behind = strrchr(text, ')'); /* its name may hold anything */
    if (!behind ||
        sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %ld %*d %*u %*u %ld",
               &rank->process, &user, &system, &threads, &pages) < 5)
        return false;
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &used) == 0)
        rank->cpu_us = (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
    else /* in ticks, mostly of 10 ms */
        rank->cpu_us = (user + system) * 1000000 / (unsigned long)sysconf(_SC_CLK_TCK);
    rank->threads = (uint64_t)threads;
    rank->memory_kib = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    return rank->process != 'Z' && rank->process != 'X';
}

bool state_is_stopped(pid_t pid)
{
    struct state_rank process;
    return process_read(pid, &process) && (process.process == 'T' || process.process == 't');
}

/* While the rank writes it another look is made, a few times. */
static void wait_read(int segment, off_t at, struct base_waiting *wait)
{
    for (int try = 0; try < 100; try++) {
        struct base_waiting once, again;
        if (pread(segment, &once, sizeof once, at) != (ssize_t)sizeof once ||
            pread(segment, &again, sizeof again, at) != (ssize_t)sizeof again)
            break;
        if (once.turn % 2 == 0 && memcmp(&once, &again, sizeof once) == 0) {
            *wait = once;
            return;
        }
    }
    *wait = (struct base_waiting){.kind = WAITS_NOT};
}

/* Some members may be missing only where all rows are used. */
static bool members_valid(const struct base_members *members, uint32_t ranks)
{
    uint64_t known = 0;
    bool full = true;
    for (int i = 0; i < BASE_MEMBER_ROWS; i++) {
        known += members->row[i].count;
        full = full && members->row[i].count > 0;
    }
    return (known == members->size || (full && known < members->size)) &&
           members->size <= 2 * (uint64_t)ranks; /* two groups may share ranks */
}

static int by_rank(const void *a, const void *b)
{
    const struct state_rank *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool rank_read(int segment, off_t at, struct state_job *job, struct state_rank *rank)
{
    struct base_counters page;
    if (pread(segment, &page, sizeof page, at) != (ssize_t)sizeof page || page.pid == 0 || page.rank >= page.ranks ||
        page.ranks > INT_MAX)
        return false;
    *rank =
        (struct state_rank){.rank = (int)page.rank, .pid = (pid_t)page.pid, .process = '?', .counters = (int64_t)at};
    job->ranks = (int)page.ranks;
    for (int card = 0; card < COUNT_CARDS; card++)
        rank->sent += (&page.card0)[card];
    printable(page.last_call, sizeof page.last_call, rank->call);
    wait_read(segment, at + (off_t)offsetof(struct base_counters, waiting), &rank->wait);
    if (rank->wait.kind > WAITS_ELSE || !members_valid(&rank->wait.members, page.ranks))
        rank->wait.kind = WAITS_NOT;
    if (page.pid_space != vbase_pid_space()) {
        rank->process = PROCESS_ELSEWHERE;
        rank->alive = true;
    } else {
        rank->alive = process_read(rank->pid, rank);
    }
    uint64_t still = 1 + page.parked + page.helpers;
    rank->others = rank->wait.several && rank->threads > still;
    uint64_t now = vbase_clock_ns();
    rank->waits_ms = now > rank->wait.since_ns ? (now - rank->wait.since_ns) / 1000000 : 0;
    return true;
}

int state_read(int segment, struct state_job *job)
{
    off_t at;
    int room = 0, error;
    *job = (struct state_job){.ranks = 0};
    for (int i = 0; (error = shm_segment_counters(segment, i, &at)) == OK; i++) {
        if (job->count == room) {
            room = room ? 2 * room : 64;
            struct state_rank *more = realloc(job->rank, (size_t)room * sizeof *more);
            if (!more) {
                state_free(job);
                return vbase_fail(ERR_MEMORY, "no memory for the states of %d ranks", room);
            }
            job->rank = more;
        }
        job->count += rank_read(segment, at, job, &job->rank[job->count]);
    }
    state_sort(job);
    return error == ERR_ARGUMENT ? OK : error; /* there is no rank after the last */
}

void state_sort(struct state_job *job)
{
    if (job->count)
        qsort(job->rank, (size_t)job->count, sizeof *job->rank, by_rank);
}

const char state_nothing[] = "no rank tells what it does: either none has called MPI_Init, or the program uses another "
                             "MPI library or another build of Viaduct than its mpiexec (compare with ldd PROGRAM)";

void state_free(struct state_job *job)
{
    free(job->rank);
    job->rank = NULL;
    job->count = 0;
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

const char *state_communicator(uint32_t context, char *room, size_t size)
{
    static const char *const first[] = {"MPI_COMM_WORLD", "MPI_COMM_SELF", "all ranks of the job"}; /* mpi/context.h */
    uint32_t number = context / MSG_CONTEXTS_COMM;
    if (number < sizeof first / sizeof *first)
        return first[number];
    if (context >= MSG_CONTEXT_MPLITE)
        return "MP_Lite";
    if (context >= MSG_CONTEXT_PACK)
        return "a channel";
    snprintf(room, size, "communicator %u", number);
    return room;
}

int state_member(const struct base_members *members, int rank)
{
    int64_t before = 0;
    for (const struct base_member_row *row = members->row; row < members->row + BASE_MEMBER_ROWS; row++) {
        int64_t apart = (int64_t)rank - row->first, place = row->stride ? apart / row->stride : 0;
        if (place >= 0 && place < row->count && apart == place * row->stride)
            return (int)(before + place);
        before += row->count;
    }
    return -1;
}

/* "from rank 3 with tag 7", or any of either. */
static void message_describe(const struct base_message *message, const char *before, char *text, size_t size)
{
    char peer[32] = "any rank", tag[32] = "any tag";
    if (message->peer >= 0)
        snprintf(peer, sizeof peer, "rank %d", message->peer);
    if (message->tag >= 0)
        snprintf(tag, sizeof tag, "tag %d", message->tag);
    snprintf(text, size, "%s %s with %s", before, peer, tag);
}

static void wait_describe(const struct base_waiting *wait, char *text, size_t size)
{
    char room[40], message[96], where[40] = "";
    int place;
    const char *communicator = state_communicator(wait->message.context, room, sizeof room);
    switch (wait->kind) {
    case WAITS_RECEIVE:
        message_describe(&wait->message, "for a message from", message, sizeof message);
        place = state_member(&wait->members, wait->message.peer);
        if (place >= 0 && place != wait->message.peer)
            snprintf(where, sizeof where, ", where it is rank %d", place);
        snprintf(text, size, "%s on %s%s", message, communicator, where);
        break;
    case WAITS_SEND:
        snprintf(text, size, "until rank %d takes a message of %llu bytes with tag %d on %s", wait->message.peer,
                 (unsigned long long)wait->message.bytes, wait->message.tag, communicator);
        break;
    case WAITS_COLLECTIVE:
        snprintf(text, size, "for the others on %s", communicator);
        break;
    case WAITS_GROUP:
        if (wait->message.tag >= 0)
            snprintf(text, size, "until all of its group call it with tag %d on %s", wait->message.tag, communicator);
        else
            snprintf(text, size, "until all of its group call it with the same string tag");
        break;
    case WAITS_FENCE:
        snprintf(text, size, "for all other ranks");
        break;
    default:
        snprintf(text, size, "for something to happen");
    }
}

static const char *process_word(const struct state_rank *rank)
{
    return !rank->alive                                   ? "has ended"
           : rank->process == 'T' || rank->process == 't' ? "is stopped"
           : rank->process == 'R'                         ? "computes"
           : rank->process == PROCESS_ELSEWHERE           ? "waits for nothing inside MPI"
           : rank->process == 'D'                         ? "is in the kernel and cannot be interrupted"
                                                          : "sleeps outside of MPI";
}

void state_describe(const struct state_rank *rank, char *text, size_t size)
{
    char wait[160];
    double seconds = (double)rank->waits_ms / 1e3;
    bool stopped = rank->alive && (rank->process == 'T' || rank->process == 't');
    if (rank->alive && rank->wait.kind != WAITS_NOT) {
        wait_describe(&rank->wait, wait, sizeof wait);
        snprintf(text, size, "%swaits %.1f s in %s %s", stopped ? "is stopped, and " : "", seconds,
                 *rank->call ? rank->call : "the library", wait);
    } else if (*rank->call) {
        snprintf(text, size, "%s; its last call is %s", process_word(rank), rank->call);
    } else {
        snprintf(text, size, "%s", process_word(rank));
    }
}

void state_list(const struct state_job *job, state_line *line, void *to)
{
    for (int i = 0; i < job->count; i++) {
        const struct state_rank *rank = &job->rank[i];
        char what[256], used[64] = "in another PID namespace", text[450];
        state_describe(rank, what, sizeof what);
        if (rank->process != PROCESS_ELSEWHERE)
            snprintf(used, sizeof used, "%.1f s of processor time, %.1f MiB", (double)rank->cpu_us / 1e6,
                     (double)rank->memory_kib / 1024);
        snprintf(text, sizeof text, "rank %d (pid %d%s%.31s, %s): %s", rank->rank, (int)rank->pid,
                 *rank->host ? " on " : "", rank->host, used, what);
        line(to, text);
    }
}
