/* viaduct top: what the ranks of one job on this host send and receive, second by second: the differences of their
 * counters, which lie in the node's segment anyway. Nothing is asked of the ranks. */
#include "run/state.h"
#include "verbs.h"
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>

#define MB 1e6

struct sample {
    struct state_job job;
    struct base_counters *counters; /* of each, in the same order */
    uint64_t at_ns;
};

struct options {
    bool batch, json;
    long count; /* of samples; 0: until the job ends */
    const char *word;
};

static void sample_free(struct sample *sample)
{
    state_free(&sample->job);
    free(sample->counters);
    sample->counters = NULL;
}

/* While the rank begins or ends a waiting another look is made, a few times: else its time could be seen twice. */
static bool counters_read(int segment, off_t at, struct base_counters *out)
{
    off_t at_turn = at + (off_t)offsetof(struct base_counters, waiting.turn);
    for (int try = 0; try < 100; try++) {
        uint32_t turn;
        if (pread(segment, out, sizeof *out, at) != (ssize_t)sizeof *out ||
            pread(segment, &turn, sizeof turn, at_turn) != (ssize_t)sizeof turn)
            return false;
        if (turn % 2 == 0 && turn == out->waiting.turn)
            return true;
    }
    out->waiting.kind = WAITS_NOT;
    return true;
}

/* Of this rank, or nothing: another one may have come to its place. */
static void counters_of(int segment, const struct state_rank *rank, struct base_counters *out)
{
    if (!counters_read(segment, (off_t)rank->counters, out) || out->pid != (uint32_t)rank->pid)
        *out = (struct base_counters){.pid = 0};
}

static int sample_take(int segment, struct sample *sample)
{
    int error = state_read(segment, &sample->job);
    sample->counters = error ? NULL : calloc((size_t)sample->job.count + 1, sizeof *sample->counters);
    sample->at_ns = vbase_clock_ns();
    if (!error && !sample->counters)
        error = vbase_fail(ERR_MEMORY, "no memory for the counters of %d ranks", sample->job.count);
    for (int i = 0; !error && i < sample->job.count; i++)
        counters_of(segment, &sample->job.rank[i], &sample->counters[i]);
    return error;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

struct rates { /* a second */
    double sent, received, sent_bytes, received_bytes, empty, sleeps, cpu;
    double waited; /* percent of the time */
    uint64_t unexpected, lost;
    struct card_rates {
        double bytes, frames;
        uint64_t lost;
        bool used; /* since the start of the job */
    } card[COUNT_CARDS];
};

static double rate(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

/* Nanoseconds until AT, those of a waiting that goes on, too. */
static uint64_t waited_until(const struct base_counters *counters, uint64_t at)
{
    bool waits = counters->waiting.kind != WAITS_NOT && counters->waiting.since_ns < at;
    return counters->waited + (waits ? at - counters->waiting.since_ns : 0);
}

static double waited_share(const struct sample *before, const struct sample *now, int i)
{
    uint64_t earlier = waited_until(&before->counters[i], before->at_ns);
    uint64_t later = waited_until(&now->counters[i], now->at_ns);
    double share = 100 * rate(earlier, later, (double)(now->at_ns - before->at_ns));
    return !now->job.rank[i].alive ? 0 : share < 100 ? share : 100;
}

static struct rates rates_of(const struct sample *before, const struct sample *now, int i, double seconds)
{
    const struct base_counters *b = &before->counters[i], *n = &now->counters[i];
    struct rates r = {.sent = rate(b->send_eager + b->send_rendezvous, n->send_eager + n->send_rendezvous, seconds),
                      .received = rate(b->recv_messages, n->recv_messages, seconds),
                      .sent_bytes = rate(b->send_bytes, n->send_bytes, seconds),
                      .received_bytes = rate(b->recv_bytes, n->recv_bytes, seconds),
                      .empty = rate(b->window_empty, n->window_empty, seconds),
                      .sleeps = rate(b->sleeps, n->sleeps, seconds),
                      .cpu = rate(before->job.rank[i].cpu_us, now->job.rank[i].cpu_us, seconds) / 1e4,
                      .waited = waited_share(before, now, i),
                      .unexpected = n->unexpected_now,
                      .lost = n->rails_lost};
    for (int card = 0; card < COUNT_CARDS; card++)
        r.card[card] = (struct card_rates){rate((&b->card0)[card], (&n->card0)[card], seconds),
                                           rate((&b->frames0)[card], (&n->frames0)[card], seconds),
                                           (&n->lost0)[card], (&n->card0)[card] || (&n->lost0)[card]};
    return r;
}

static void rates_add(struct rates *sum, const struct rates *more)
{
    sum->sent += more->sent, sum->received += more->received;
    sum->sent_bytes += more->sent_bytes, sum->received_bytes += more->received_bytes;
    sum->empty += more->empty, sum->sleeps += more->sleeps, sum->cpu += more->cpu, sum->waited += more->waited;
    sum->unexpected += more->unexpected, sum->lost += more->lost;
    for (int card = 0; card < COUNT_CARDS; card++) {
        sum->card[card].bytes += more->card[card].bytes;
        sum->card[card].frames += more->card[card].frames;
        sum->card[card].lost += more->card[card].lost;
        sum->card[card].used |= more->card[card].used;
    }
}

static double waited_mean(const struct rates *sum, const struct sample *now)
{
    return now->job.count ? sum->waited / now->job.count : 0;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* A line that does not go beyond the terminal. */
PRINTF_LIKE(2, 3) static void line_print(int columns, const char *format, ...)
{
    char line[400];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    printf("%.*s\n", columns, line);
}

static void header_print(int columns)
{
    line_print(columns, "%6s %8s %5s %5s %10s %10s %9s %9s %7s %7s %7s %5s  %s", "RANK", "PID", "CPU%", "WAIT%",
               "SENT/s", "RECV/s", "SENT MB/s", "RECV MB/s", "UNEXP", "EMPTY/s", "SLEEP/s", "LOST", "DOES");
}

static void row_print(const char *rank, const char *pid, const struct rates *r, const char *does, int columns)
{
    line_print(columns, "%6s %8s %5.0f %5.0f %10.0f %10.0f %9.1f %9.1f %7llu %7.0f %7.0f %5llu  %s", rank, pid, r->cpu,
               r->waited, r->sent, r->received, r->sent_bytes / MB, r->received_bytes / MB,
               (unsigned long long)r->unexpected, r->empty, r->sleeps, (unsigned long long)r->lost, does);
}

static int cards_used(const struct rates *sum)
{
    int used = 0;
    for (int card = 0; card < COUNT_CARDS; card++)
        used += sum->card[card].used;
    return used;
}

static void cards_print(const struct rates *sum, int columns)
{
    if (cards_used(sum))
        line_print(columns, "%6s %10s %9s %5s", "CARD", "FRAMES/s", "SENT MB/s", "LOST");
    for (int card = 0; card < COUNT_CARDS; card++) {
        const struct card_rates *r = &sum->card[card];
        if (r->used)
            line_print(columns, "%6d %10.0f %9.1f %5llu", card, r->frames, r->bytes / MB, (unsigned long long)r->lost);
    }
}

/* Behind a line for all ranks, or their objects. */
static void cards_batch(const struct rates *sum, bool json)
{
    bool first = true;
    for (int card = 0; card < COUNT_CARDS; card++) {
        const struct card_rates *r = &sum->card[card];
        unsigned long long lost = r->lost;
        if (r->used && json)
            printf("%s{\"card\":%d,\"frames\":%.0f,\"bytes\":%.0f,\"lost\":%llu}", first ? ",\"cards\":[" : ",",
                   card, r->frames, r->bytes, lost);
        else if (r->used)
            printf("; card %d: %.0f frames/s, %.1f MB/s, %llu lost", card, r->frames, r->bytes / MB, lost);
        first &= !r->used;
    }
    fputs(json && cards_used(sum) ? "]" : "", stdout);
}

static void table_print(const struct sample *before, const struct sample *now, double seconds, bool clear)
{
    struct winsize size = {.ws_col = 0};
    int columns = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 400;
    struct rates sum = {.sent = 0};
    for (int i = 0; i < now->job.count; i++) {
        struct rates r = rates_of(before, now, i, seconds);
        rates_add(&sum, &r);
    }
    int cards = cards_used(&sum), others = cards ? 5 + cards : 4; /* lines that are no rank's, and the last one */
    int rows = clear && size.ws_row > others + 1 ? size.ws_row - others : clear && size.ws_row ? 1 : now->job.count;
    if (clear)
        fputs("\033[H\033[2J", stdout);
    header_print(columns);
    for (int i = 0; i < now->job.count; i++) {
        const struct state_rank *rank = &now->job.rank[i];
        struct rates r = rates_of(before, now, i, seconds);
        char number[16], pid[16], does[200];
        snprintf(number, sizeof number, "%d", rank->rank);
        snprintf(pid, sizeof pid, "%d", (int)rank->pid);
        state_describe(rank, does, sizeof does);
        if (i < rows)
            row_print(number, pid, &r, does, columns);
    }
    if (rows < now->job.count)
        line_print(columns, "%6s and %d more ranks", "...", now->job.count - rows);
    sum.waited = waited_mean(&sum, now);
    row_print("all", "", &sum, "", columns);
    cards_print(&sum, columns);
}

static void batch_print(const struct sample *before, const struct sample *now, double seconds, bool json)
{
    struct rates sum = {.sent = 0};
    for (int i = 0; i < now->job.count; i++) {
        struct rates r = rates_of(before, now, i, seconds);
        rates_add(&sum, &r);
        if (json) {
            printf("%s{\"rank\":%d,\"pid\":%d,\"cpu\":%.1f,\"waited\":%.1f,\"sent\":%.0f,\"received\":%.0f,"
                   "\"sent_bytes\":%.0f,\"received_bytes\":%.0f,\"unexpected\":%llu,\"windows_empty\":%.0f,"
                   "\"sleeps\":%.0f,\"rails_lost\":%llu,\"card_bytes\":[",
                   i ? "," : "{\"ranks\":[", now->job.rank[i].rank, (int)now->job.rank[i].pid, r.cpu, r.waited,
                   r.sent, r.received, r.sent_bytes, r.received_bytes, (unsigned long long)r.unexpected, r.empty,
                   r.sleeps, (unsigned long long)r.lost);
            for (int card = 0; card < COUNT_CARDS; card++)
                printf("%s%.0f", card ? "," : "", r.card[card].bytes);
            fputs("]}", stdout);
        }
    }
    if (json)
        printf("%s]", now->job.count ? "" : "{\"ranks\":[");
    else
        printf("%d ranks: %.0f%% of processors, %.0f%% of their time in waits, %.0f messages/s sent, %.1f MB/s, "
               "%.0f received, %.1f MB/s, %llu unexpected, %.0f windows empty/s, %.0f sleeps/s, %llu links lost",
               now->job.count, sum.cpu, waited_mean(&sum, now), sum.sent, sum.sent_bytes / MB, sum.received,
               sum.received_bytes / MB, (unsigned long long)sum.unexpected, sum.empty, sum.sleeps,
               (unsigned long long)sum.lost);
    cards_batch(&sum, json);
    puts(json ? "}" : "");
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static bool is_over(const struct sample *sample, pid_t holder)
{
    bool held = kill(holder, 0) == 0 || errno != ESRCH;
    for (int i = 0; i < sample->job.count; i++)
        if (sample->job.rank[i].alive && (held || sample->job.rank[i].process != PROCESS_ELSEWHERE))
            return false;
    return sample->job.count > 0 || !held;
}

/* Ranks may come between two looks: only what both have can be compared. */
static bool comparable(const struct sample *before, const struct sample *now)
{
    bool same = before->job.count == now->job.count;
    for (int i = 0; same && i < now->job.count; i++)
        same = before->job.rank[i].pid == now->job.rank[i].pid;
    return same;
}

static int watch(int segment, pid_t holder, const struct options *options)
{
    struct sample before, now;
    bool live = !options->batch && !options->json && isatty(1);
    int error = sample_take(segment, &before);
    for (long n = 0; !error && (n < options->count || !options->count) && !is_over(&before, holder); n++) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        error = sample_take(segment, &now);
        double seconds = error ? 1 : (double)(now.at_ns - before.at_ns) / 1e9;
        if (error || !comparable(&before, &now))
            n--;
        else if (options->batch || options->json)
            batch_print(&before, &now, seconds, options->json);
        else
            table_print(&before, &now, seconds, live);
        fflush(stdout);
        sample_free(&before);
        before = now;
        if (ferror(stdout))
            break;
    }
    sample_free(&before);
    if (error)
        fprintf(stderr, "viaduct top: %s\n", vbase_error_detail());
    return error ? 1 : 0;
}

static int usage(void)
{
    puts("usage: viaduct top [-b | --json] [-n COUNT] [PID]\n\n"
         "What the ranks of a job on this host send and receive, second by second, until it ends. PID: of the\n"
         "launcher or of a rank; not needed where one job runs. WAIT%: of its time, in which a rank waits inside\n"
         "MPI for messages or other ranks. Where the job has used network cards, there is a row for each of them;\n"
         "viaduct info --net names them.\n"
         "  -b        a line a second for all ranks together\n"
         "  --json    a line a second, one object with all ranks\n"
         "  -n COUNT  so many seconds");
    return 0;
}

/* 0: go on; else the exit status and one more. */
static int options_read(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
            return 1 + usage();
        if (!strcmp(argv[i], "-b"))
            options->batch = true;
        else if (!strcmp(argv[i], "--json"))
            options->json = true;
        else if (!strcmp(argv[i], "-n") && i + 1 < argc)
            options->count = strtol(argv[++i], &end, 10);
        else if (argv[i][0] != '-' && !options->word)
            options->word = argv[i];
        else
            end = argv[i];
        if (end && (*end || options->count <= 0)) {
            fprintf(stderr, "viaduct top: %s is not an option or its value; viaduct top --help lists them\n", argv[i]);
            return 3;
        }
    }
    return 0;
}

int verb_top(int argc, char **argv)
{
    struct options options = {.count = 0};
    int stop = options_read(argc, argv, &options);
    if (stop)
        return stop - 1;
    pid_t holder;
    int segment = job_segment("top", options.word, &holder);
    if (segment < 0)
        return 2;
    int status = watch(segment, holder, &options);
    close(segment);
    return status;
}
