/* viaduct doctor: can jobs run on these hosts, which ways lead there, and how good are they?
 *
 * For each host a job of two ranks is started by the launcher itself: rank 0 here, rank 1 there, both this program
 * (`viaduct examine`). So whatever keeps a host from being reached is told by the launcher, in its words. The two tell
 * in turn what they are and see, then meet over every pair of cards and measure. */
#include "verbs.h"
#include "boot/boot.h"
#include "vi/call/report.h"
#include "vi/vi.h"
#include <sched.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define SECOND_NS  1000000000ull
#define PATIENCE   (6 * SECOND_NS)       /* until the first way is there: a packet may be lost twice */
#define MORE_NS    (5 * SECOND_NS / 2)   /* for the other ways */
#define FLOOD_NS   (3 * SECOND_NS / 10)  /* of each */
#define BUSY_NS    (SECOND_NS / 100)     /* after a word the next is waited for without sleep */
#define PINGS      500
#define PIECE      65536
#define RAILS      16

enum word { ASK = 1, ANSWER, FLOOD, BYE };

extern char **environ;

static struct {
    struct call_seat *seat;
    struct vi_nic *nic; /* of the provider whose ways are looked at */
    struct vi *rail[RAILS];
    bool lost[RAILS];
    int rails, answers;
    uint64_t begun_ns, heard_ns; /* begun: by the doctor */
    struct vi *asker; /* questions of this rail */
    uint32_t asked;   /* are not answered yet */
    bool bye;
} patient;

/* ---- what is said between the two ---- */

static int word_send(struct vi *vi, enum word word, const void *data, size_t length)
{
    struct iovec piece = {(void *)(uintptr_t)data, length};
    return vi_send(vi, word, &piece, 1);
}

/* As many as the way takes; those left go when it is looked at again. */
static void answers_send(void)
{
    uint64_t word = ASK;
    while (patient.asked > 0 && word_send(patient.asker, ANSWER, &word, 1) == OK)
        patient.asked--;
}

static bool word_came(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    (void)data, (void)length;
    patient.heard_ns = vbase_clock_ns();
    patient.answers += header == ANSWER;
    patient.bye |= header == BYE;
    if (header == ASK) {
        patient.asked = count + (patient.asker == vi ? patient.asked : 0);
        patient.asker = vi;
    }
    answers_send();
    return false;
}

static void peer_called(struct vi_nic *nic, uint32_t peer)
{
    if (patient.rails < RAILS && vi_accept(nic, peer, NULL, &patient.rail[patient.rails]) == OK)
        patient.rails++;
}

static void rail_down(struct vi *vi, int cause)
{
    (void)cause;
    for (int i = 0; i < patient.rails; i++)
        patient.lost[i] |= patient.rail[i] == vi;
}

/* VI NULL: any. */
static bool rail_holds(const struct vi *vi)
{
    bool holds = false;
    for (int i = 0; i < patient.rails; i++)
        holds |= !patient.lost[i] && (!vi || patient.rail[i] == vi);
    return holds;
}

static void put_arrived(struct vi *vi, uint32_t immediate, uint64_t length) { (void)vi, (void)immediate, (void)length; }

static void transfer_done(struct vi *vi, void *cookie, int status) { (void)vi, (void)cookie, (void)status; }

/* The machine may have better things to do than to spin. */
static void network_poll(void)
{
    answers_send();
    if (vi_poll(patient.nic, 16) > 0)
        return;
    if (vbase_clock_ns() < patient.heard_ns + BUSY_NS)
        sched_yield();
    else
        usleep(500);
}

/* Until there is an answer; false: none comes. */
static bool answer_await(const struct vi *vi)
{
    uint64_t end = vbase_clock_ns() + PATIENCE;
    while (patient.answers == 0 && rail_holds(vi) && vbase_clock_ns() < end)
        network_poll();
    return patient.answers > 0;
}

/* ---- measuring ---- */

static int ascending(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The median of half a round trip in ns, 0: it broke. */
static uint64_t rail_ping(struct vi *vi)
{
    static uint64_t taken[PINGS];
    for (int i = 0; i < PINGS; i++) {
        uint64_t begun = vbase_clock_ns();
        patient.answers = 0;
        if (word_send(vi, ASK, &begun, sizeof begun) != OK || !answer_await(vi))
            return 0;
        taken[i] = vbase_clock_ns() - begun;
    }
    qsort(taken, PINGS, sizeof *taken, ascending);
    return taken[PINGS / 2] / 2;
}

/* Bytes a second, 0: it broke. */
static double rail_flood(struct vi *vi)
{
    static char piece[PIECE];
    uint64_t begun = vbase_clock_ns();
    double bytes = 0;
    int error = OK;
    patient.answers = 0;
    size_t length = vi_caps(vi)->max_send < PIECE ? vi_caps(vi)->max_send : PIECE;
    while ((error == OK || error == ERR_AGAIN) && rail_holds(vi) && vbase_clock_ns() < begun + FLOOD_NS) {
        error = word_send(vi, FLOOD, piece, length);
        bytes += error == OK ? (double)length : 0;
        network_poll();
    }
    while ((error = word_send(vi, ASK, piece, 1)) == ERR_AGAIN && rail_holds(vi))
        network_poll();
    return error == OK && answer_await(vi) ? bytes * 1e9 / (double)(vbase_clock_ns() - begun) : 0;
}

static void line_print_rejected(void *context, const char *text)
{
    const char *where = context;
    if (strstr(text, "not used") && !strstr(text, " fe80:") &&
        !strstr(text, " ::1/")) /* every interface has one of these */
        printf("  %-9s %s\n", where, text);
}

static void line_gives_hope(void *context, const char *text)
{
    *(bool *)context |= strstr(text, "not used") && !strstr(text, "shares its cards");
}

/* Whether another way may come up yet. */
static bool rails_may_come(void)
{
    bool hoped = false;
    call_report_peer(patient.nic, 1, &(struct call_reporter){line_gives_hope, &hoped});
    return hoped;
}

/* In the order of the pairs of cards, which is not that in which they came up. */
static int rails_compare(const void *left, const void *right)
{
    uint64_t a = (*(struct vi *const *)left)->name, b = (*(struct vi *const *)right)->name;
    return (a > b) - (a < b);
}

static bool rails_measure(void)
{
    uint64_t until = vbase_clock_ns() + MORE_NS;
    double sum = 0;
    while (vbase_clock_ns() < until && rails_may_come())
        network_poll();
    struct vi *rail[RAILS];
    int rails = patient.rails; /* one that comes now is too late */
    memcpy(rail, patient.rail, sizeof rail);
    qsort(rail, (size_t)rails, sizeof *rail, rails_compare);
    for (int i = 0; i < rails; i++) {
        uint64_t latency = rail_ping(rail[i]);
        double rate = latency ? rail_flood(rail[i]) : 0;
        sum += rate;
        struct vi_state state;
        const char *path = vi_query(rail[i], &state) == OK && state.path ? state.path : "?";
        if (rate > 0)
            printf("  way       %s: %.1f us one way, %.2f GB/s\n", path, (double)latency / 1e3, rate / 1e9);
        else
            printf("  way       %s: it broke while it was measured\n", path);
    }
    call_report_peer(patient.nic, 1, &(struct call_reporter){line_print_rejected, (void *)(uintptr_t) "no way"});
    printf("  together  %d way%s, %.2f GB/s one after the other\n", rails, rails == 1 ? "" : "s", sum / 1e9);
    return sum > 0;
}

/* ---- the two ranks ---- */

/* Rank 1: what it is. */
static int host_print(struct boot_job *job)
{
    (void)job;
    struct utsname system;
    if (uname(&system) < 0)
        return vbase_fail_errno(ERR_SYSTEM, "uname");
    printf("  host      %s, %s %s, %d processors, user %u\n", system.nodename, system.sysname, system.release,
           vbase_topology()->cpus, (unsigned)geteuid());
    return OK;
}

/* Rank 0: how the other was reached. */
static int road_print(struct boot_job *job)
{
    printf("  reached   in %.2f s, by the same build\n", (double)(vbase_clock_ns() - patient.begun_ns) / 1e9);
    printf("  node      %s\n", job->local_count == 2 ? "this one: ranks share memory; viaduct info --shm tells more"
                                                     : "another than this: ranks talk over the network");
    puts("  secret    by the launcher, over inherited descriptors and the agent's input; no other process has it");
    return OK;
}

/* Which of its cards are of no use. */
static int cards_print_unused(struct boot_job *job)
{
    struct call_reporter to = {line_print_rejected, (void *)(uintptr_t)(job->rank ? "there" : "here")};
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        if (provider->report && vi_provider_allowed(provider))
            provider->report(line_print_rejected, to.context);
    return call_report_host(&to);
}

/* What both tell comes in turn, for a fence lies between. */
static int turn_print(struct boot_job *job, int rank, int (*tell)(struct boot_job *job))
{
    if (job->rank == rank && tell(job) != OK)
        vboot_abort(job, 1, vbase_error_detail());
    fflush(stdout);
    return vboot_fence(job);
}

static int nic_open(struct boot_job *job, const struct vi_provider *provider)
{
    static const struct vi_sink sink = {NULL, word_came, put_arrived, transfer_done, peer_called, rail_down, NULL};
    struct vi_setup setup = {.rank = (uint32_t)job->rank,
                             .ranks = (uint32_t)job->size,
                             .secret = job->secret,
                             .node_fd = -1,
                             .seat_fd = job->seat_fd,
                             .seat = &patient.seat,
                             .local_count = (uint32_t)job->local_count,
                             .sink = &sink};
    return vi_nic_open(provider, &setup, &patient.nic);
}

static bool peer_examine(const char *card)
{
    struct vi_address to = {.peer = 1, .card = card};
    if (vi_connect(patient.nic, &to, NULL, &patient.rail[0]) != OK) {
        printf("  no way    %s\n", vbase_error_detail());
        return false;
    }
    patient.rails = 1;
    if (word_send(patient.rail[0], ASK, card, 1) != OK || !answer_await(patient.rail[0])) {
        call_report_peer(patient.nic, 1, &(struct call_reporter){line_print_rejected, (void *)(uintptr_t) "no way"});
        return false;
    }
    bool well = rails_measure(), told = false;
    for (int i = 0; i < patient.rails && !told; i++)
        told = word_send(patient.rail[i], BYE, card, 1) == OK;
    return told && well;
}

static void peer_answer(void)
{
    patient.heard_ns = vbase_clock_ns();
    while (!patient.bye && (patient.rails == 0 || rail_holds(NULL)) &&
           vbase_clock_ns() < patient.heard_ns + PATIENCE + MORE_NS)
        network_poll();
}

/* Each tells the other its card, and NONE if it has none. */
#define NONE "-"
static int cards_exchange(struct boot_job *job, const struct vi_provider *provider, char *card, size_t size)
{
    char key[64];
    snprintf(key, sizeof key, "doctor-%s-%d", provider->name, job->rank);
    int error = vboot_put(job, key, patient.nic ? patient.nic->card : NONE) ?: vboot_fence(job);
    snprintf(key, sizeof key, "doctor-%s-%d", provider->name, !job->rank);
    return error ?: vboot_get(job, !job->rank, key, card, size);
}

static void patient_leave(void)
{
    for (int i = 0; i < patient.rails; i++)
        vi_disconnect(patient.rail[i]);
    if (patient.nic)
        vi_nic_close(patient.nic);
    patient.nic = NULL;
    memset(patient.lost, 0, sizeof patient.lost);
    patient.rails = patient.answers = 0;
    patient.asked = 0;
    patient.bye = false;
}

/* The ways of one provider; *WELL: there are some. */
static int provider_examine(struct boot_job *job, const struct vi_provider *provider, bool *well)
{
    char card[1024];
    bool can = nic_open(job, provider) == OK;
    if (!can && job->rank == 0)
        printf("  no way    over %s: %s\n", provider->name, vbase_error_detail());
    int error = cards_exchange(job, provider, card, sizeof card);
    bool both = error == OK && can && strcmp(card, NONE) != 0;
    if (error == OK && can && !both && job->rank == 0)
        printf("  no way    over %s: it cannot be used there\n", provider->name);
    if (both && job->rank == 0)
        *well |= peer_examine(card);
    else if (both)
        peer_answer();
    fflush(stdout);
    error = error ?: vboot_fence(job);
    patient_leave();
    return error;
}

/* A rank of the job that the doctor has started. */
int verb_examine(int argc, char **argv)
{
    struct boot_job *job;
    int error = vbase_settings_read() ?: vi_settings_check() ?: vboot_open(&job);
    if (error != OK || job->size != 2 || argc != 2) {
        fprintf(stderr, "viaduct: %s\n", error ? vbase_error_detail() : "examine is for viaduct doctor alone");
        return 2;
    }
    patient.begun_ns = strtoull(argv[1], NULL, 10);
    bool apart = job->local_count == 1, well = !apart || job->rank != 0; /* rank 0 judges */
    error = turn_print(job, 1, host_print) ?: turn_print(job, 0, road_print);
    for (int rank = 1; rank >= 0 && apart && error == OK; rank--)
        error = turn_print(job, rank, cards_print_unused);
    for (const struct vi_provider *provider = vi_providers; provider->name && apart && error == OK; provider++)
        if (provider->cards && vi_provider_allowed(provider))
            error = provider_examine(job, provider, &well);
    vi_seat_close(patient.seat);
    vboot_close(job);
    return error != OK || !well;
}

/* ---- the doctor ---- */

/* Starts the two ranks for HOST; FLAGS go to the launcher. */
static int host_visit(char **flag, int flags, const char *host)
{
    char *self = (char *)(uintptr_t)vbase_self(), hosts[600], began[32];
    char *word[64];
    int count = 0, status = 1;
    pid_t pid;
    snprintf(hosts, sizeof hosts, "localhost:1,%.500s", host);
    snprintf(began, sizeof began, "%llu", (unsigned long long)vbase_clock_ns());
    word[count++] = self;
    word[count++] = (char *)(uintptr_t) "run";
    for (int i = 0; i < flags && count < 50; i++)
        word[count++] = flag[i];
    char *rest[] = {(char *)(uintptr_t) "-n", (char *)(uintptr_t) "2", (char *)(uintptr_t) "-host", hosts, self,
                    (char *)(uintptr_t) "examine", began, NULL};
    memcpy(word + count, rest, sizeof rest);
    printf("%s\n", host);
    fflush(stdout);
    if (posix_spawn(&pid, self, NULL, NULL, word, environ) != 0 || waitpid(pid, &status, 0) < 0)
        return 1;
    return status != 0;
}

int verb_doctor(int argc, char **argv)
{
    int first = 1, sick = 0;
    while (first < argc && argv[first][0] == '-' && strcmp(argv[first], "--help") != 0)
        first += strchr(argv[first], '=') ? 1 : 2; /* --agent COMMAND, --patience SECONDS: for the launcher */
    if (first >= argc || argv[first][0] == '-') {
        puts("usage: viaduct doctor [--agent COMMAND] [--patience SECONDS] HOST...\n"
             "Starts a rank on each host and tells: how it is reached, what it is, the way of each pair of cards with "
             "its\n"
             "latency and rate, and what is not used and why. Status 0: jobs can run on all of them.");
        return first >= argc ? 2 : 0;
    }
    for (int i = first; i < argc; i++)
        sick += host_visit(argv + 1, first - 1, argv[i]);
    return sick > 0;
}
