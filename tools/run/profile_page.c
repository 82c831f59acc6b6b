/* The page of mpiexec --report: one file of HTML that needs nothing from outside and runs no script. */
#include "run/job.h"
#include <ctype.h>
#include <time.h>

#define DRAWN_CALLS 6
#define NAMED_RANKS 8
#define NAMED_PAIRS 16

static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--ink:#1b1f24;--soft:#667;--line:#ccd;--c0:#2563a8;--c1:#d9822b;"
    "--c2:#3a8f5c;--c3:#a23b72;--c4:#7a6ccf;--c5:#b8a02a;--c6:#99a}\n"
    "@media(prefers-color-scheme:dark){:root{--ground:#14171b;--ink:#e4e7eb;--soft:#9aa3ad;--line:#3a4048;"
    "--c0:#5b9be0;--c1:#eda65a;--c2:#66bd8a;--c3:#d673a7;--c4:#a99df0;--c5:#dcc65a;--c6:#6a7078}}\n"
    "@media print{:root{--ground:#fff;--ink:#000;--soft:#444;--line:#999}section{break-inside:avoid}}\n"
    "body{background:var(--ground);color:var(--ink);font:15px/1.45 system-ui,sans-serif;max-width:56em;margin:2em auto;"
    "padding:0 1em}\nh1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}h3{font-size:.9em;font-weight:600;"
    "margin:1em 0 0}\ntable{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.15em .7em;"
    "text-align:right;border-bottom:1px solid var(--line)}\ntd{white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left;padding-left:0}td.text{text-align:left;white-space:normal}p.note,"
    "caption{color:var(--soft);text-align:left}\n"
    "code{overflow-wrap:anywhere}svg{width:100%;max-width:46em;display:block}svg.map{max-width:30em;"
    "border:1px solid var(--line)}\n.ground{fill:var(--ground)}.l{fill:var(--c0)}.axis{stroke:var(--soft);fill:none}"
    ".share,.rate{fill:none;stroke:var(--c0);stroke-width:1.5}.rate{stroke:var(--c2)}\nsvg text{fill:var(--soft);"
    "font-size:12px}.end{text-anchor:end}.key{display:inline-block;width:.8em;height:.8em;margin-right:.3em}\n"
    "rect.c0{fill:var(--c0)}rect.c1{fill:var(--c1)}rect.c2{fill:var(--c2)}rect.c3{fill:var(--c3)}rect.c4{fill:var(--c4)"
    "}"
    "rect.c5{fill:var(--c5)}rect.c6{fill:var(--c6)}\n.key.c0{background:var(--c0)}.key.c1{background:var(--c1)}"
    ".key.c2{background:var(--c2)}.key.c3{background:var(--c3)}.key.c4{background:var(--c4)}.key.c5{background:"
    "var(--c5)}.key.c6{background:var(--c6)}\n";

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Of the time of all ranks together. */
static double time_of_all(const struct profile_job *all)
{
    double ns = 0;
    for (int i = 0; i < all->job->size; i++)
        ns += all->rank[i] ? (double)all->rank[i]->ran_ns : 0;
    return ns;
}

static void command_print(FILE *file, const struct profile_job *all)
{
    fputs("<code>", file);
    for (int i = 0; i < all->job->argc; i++) {
        fputs(i ? " " : "", file);
        print_escaped(file, i ? all->job->argv[i] : basename(all->job->argv[0]), SIZE_MAX);
    }
    fputs("</code>", file);
}

static void head_print(FILE *file, const struct profile_job *all)
{
    const struct run_job *job = all->job;
    char seconds[32], bytes[32], date[64] = "";
    time_t began = (time_t)(job->profile.real_ns / SECOND_NS);
    struct tm when;
    if (localtime_r(&began, &when))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &when);
    fprintf(file,
            "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
            "<meta name='viewport' content='width=device-width'><title>Report of a job of %d ranks</title>\n"
            "<style>\n%s</style></head><body>\n<h1>Report of a job of %d ranks</h1>\n<p>",
            job->size, style, job->size);
    command_print(file, all);
    fprintf(file,
            "</p>\n<table id='job'><tr><td>began<td>%s\n<tr><td>ranks in this report<td>%d of %d\n"
            "<tr><td>hosts<td>%d\n<tr><td>from MPI_Init to MPI_Finalize<td>%s\n<tr><td>exit status<td>%d\n"
            "<tr><td>time in MPI<td>%.1f %%\n<tr><td>calls<td>%llu\n"
            "<tr><td>messages between two ranks<td>%llu\n<tr><td>their payload<td>%s</table>\n",
            date, all->ranks, job->size, all->hosts, print_seconds((double)all->ran_ns, seconds), all->status,
            percent((double)all->mpi_ns, time_of_all(all)), (unsigned long long)all->calls,
            (unsigned long long)all->sent.messages, print_bytes((double)all->sent.bytes, bytes));
    if (all->ranks < job->size)
        fputs("<p class='note'>The other ranks did not call MPI, or their hosts were lost.</p>\n", file);
    if (all->no_messages)
        fputs("<p class='note'>Messages are not counted: the program was built with another MPI library, whose handles "
              "differ from Viaduct's. Build it with Viaduct's mpicc to count them. Calls and times are complete.</p>\n",
              file);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static const struct profile_job *sorted; /* qsort has no context */

static int by_time(const void *a, const void *b)
{
    uint64_t x = sorted->call[*(const int *)a].ns, y = sorted->call[*(const int *)b].ns;
    return x < y ? 1 : -(x > y);
}

/* The calls that were made, the longest sum first; their number. */
static int calls_sort(const struct profile_job *all, int order[PROFILE_CALLS])
{
    int count = 0;
    for (int i = 0; i < PROFILE_CALLS; i++)
        if (all->call[i].count)
            order[count++] = i;
    sorted = all;
    qsort(order, (size_t)count, sizeof *order, by_time);
    return count;
}

static void calls_print(FILE *file, const struct profile_job *all)
{
    int order[PROFILE_CALLS], count = calls_sort(all, order);
    char text[4][32];
    fputs("<section><h2>Time in MPI by call</h2>\n<table id='calls'><tr><th>call<th>calls<th>time of all ranks"
          "<th>share<th>each<th>longest<th>by rank<th>most in rank<th>its time\n",
          file);
    for (int i = 0; i < count; i++) {
        const struct profile_mean *mean = &all->call[order[i]];
        fprintf(file, "<tr><td>%s<td>%llu<td>%s<td>%.1f %%<td>%s<td>%s<td>%d<td>%d<td>%s\n",
                profile_call_name((uint64_t)order[i]), (unsigned long long)mean->count,
                print_seconds((double)mean->ns, text[0]), percent((double)mean->ns, time_of_all(all)),
                print_seconds((double)mean->ns / (double)mean->count, text[1]),
                print_seconds((double)mean->most_ns, text[2]), mean->most_rank, mean->slowest,
                print_seconds((double)mean->slowest_ns, text[3]));
    }
    fputs("</table>", file);
    if (!all->job->profile.header->room)
        fprintf(file,
                "<p class='note'>All calls are counted. Of calls that do not wait, such as MPI_Isend or MPI_Test, a "
                "rank times the first %d of each kind and then one in %d, chosen at random: their time is an "
                "estimate, and their longest one may be missed. With a trace (<code>--report FILE.json</code>) all "
                "calls are timed.\n",
                PROFILE_TIMED_FIRST, PROFILE_TIMED_ONE);
    fputs("</section>\n<section><h2>Time in MPI by rank</h2>\n"
          "<p class='note'>The height of a bar is the share of its time that a rank was in MPI. A rank that is there "
          "less than the others keeps them waiting.</p>\n",
          file);
    draw_ranks(file, all, order, count < DRAWN_CALLS ? count : DRAWN_CALLS);
}

static double share_in_mpi(const struct profile_rank *rank)
{
    return percent((double)rank->mpi_ns, (double)rank->ran_ns);
}

static int by_share(const void *a, const void *b)
{
    double x = share_in_mpi(*(const struct profile_rank *const *)a);
    double y = share_in_mpi(*(const struct profile_rank *const *)b);
    return x < y ? -1 : x > y;
}

static void rank_print(FILE *file, const struct profile_rank *rank)
{
    char text[2][32];
    fprintf(file, "<tr><td>%d<td>", rank->rank);
    print_escaped(file, rank->host, sizeof rank->host);
    fprintf(file, "<td>%d<td>%s<td>%.1f %%<td>%llu<td>%s<td>%llu<td>%s", rank->pid,
            print_seconds((double)rank->mpi_ns, text[0]), share_in_mpi(rank), (unsigned long long)rank->sent.messages,
            print_bytes((double)rank->sent.bytes, text[1]), (unsigned long long)rank->counters.sleeps,
            rank->ended ? "\n" : "did not end MPI; last call ");
    if (rank->ended)
        return;
    print_escaped(file, rank->counters.last_call, sizeof rank->counters.last_call);
    putc('\n', file);
}

/* Those that are in MPI least and most. */
static void slowest_print(FILE *file, const struct profile_job *all)
{
    const struct profile_rank **list = calloc((size_t)all->ranks + 1, sizeof *list);
    int count = 0;
    for (int i = 0; list && i < all->job->size; i++)
        if (all->rank[i])
            list[count++] = all->rank[i];
    if (list)
        qsort(list, (size_t)count, sizeof *list, by_share);
    fputs("<table id='ranks'><caption>Those that are least in MPI, for which others wait, and those that are most"
          "</caption><tr><th>rank<th>host<th>pid<th>in MPI<th>share<th>messages<th>payload<th>sleeps<th>\n",
          file);
    for (int i = 0; i < count; i++)
        if (i < NAMED_RANKS || i >= count - NAMED_RANKS)
            rank_print(file, list[i]);
    fputs("</table></section>\n", file);
    free(list);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    const struct profile_traffic *x = &sorted->to[*(const size_t *)a], *y = &sorted->to[*(const size_t *)b];
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->messages < y->messages ? 1 : -(x->messages > y->messages);
}

/* "12", or "12-15" of a block. */
static const char *block_name(const struct profile_job *all, size_t block, char text[32])
{
    size_t ranks = (size_t)all->job->size, first = (block * ranks + all->blocks - 1) / all->blocks;
    size_t end = ((block + 1) * ranks + all->blocks - 1) / all->blocks;
    snprintf(text, 32, end - first > 1 ? "%zu-%zu" : "%zu", first, end - 1);
    return text;
}

static void pairs_print(FILE *file, const struct profile_job *all)
{
    size_t cells = (size_t)all->blocks * all->blocks, count = 0;
    size_t *order = calloc(cells, sizeof *order);
    char text[3][32];
    for (size_t i = 0; order && i < cells; i++)
        if (all->to[i].messages)
            order[count++] = i;
    sorted = all;
    if (order)
        qsort(order, count, sizeof *order, by_bytes);
    fprintf(file,
            "<table id='pairs'><caption>%zu pairs; the first by payload</caption><tr><th>from<th>to<th>messages"
            "<th>payload\n",
            count);
    for (size_t i = 0; i < count && i < NAMED_PAIRS; i++)
        fprintf(file, "<tr><td>%s<td>%s<td>%llu<td>%s\n", block_name(all, order[i] / all->blocks, text[0]),
                block_name(all, order[i] % all->blocks, text[1]), (unsigned long long)all->to[order[i]].messages,
                print_bytes((double)all->to[order[i]].bytes, text[2]));
    fputs("</table></section>\n", file);
    free(order);
}

static void messages_print(FILE *file, const struct profile_job *all)
{
    char text[32];
    fprintf(file,
            "<section><h2>Who sends to whom</h2>\n<p class='note'>A row for each sender, a column for each receiver, "
            "from rank 0 at the upper left%s; each step of shade is four times the bytes. Messages between two "
            "ranks are counted; what collectives send is not.</p>\n",
            (uint32_t)all->job->size > all->blocks ? ", in blocks of ranks" : "");
    draw_map(file, all);
    pairs_print(file, all);
    fputs("<section><h2>Sizes of messages</h2>\n<table id='sizes'><tr><th>bytes<th>messages<th>share<th>payload\n",
          file);
    for (int i = 0; i < PROFILE_SIZES; i++) {
        const struct profile_traffic *size = &all->size[i];
        uint64_t least = i ? 1ull << (i - 1) : 0;
        if (!size->messages)
            continue;
        if (i < 2)
            fprintf(file, "<tr><td>%llu", (unsigned long long)least);
        else
            fprintf(file, "<tr><td>%llu-%llu", (unsigned long long)least, (unsigned long long)(2 * least - 1));
        fprintf(file, "<td>%llu<td>%.1f %%<td>%s\n", (unsigned long long)size->messages,
                percent((double)size->messages, (double)all->sent.messages), print_bytes((double)size->bytes, text));
    }
    fputs("</table></section>\n", file);
}

/* ---- counters, settings ------------------------------------------------------------------------------------------ */

static uint64_t counter_of(const struct profile_rank *rank, size_t counter)
{
    uint64_t value;
    memcpy(&value, (const char *)&rank->counters + vbase_counter_table[counter].offset, sizeof value);
    return value;
}

static void counters_print(FILE *file, const struct profile_job *all)
{
    fputs("<section><h2>Waits, queues and connections</h2>\n"
          "<table id='counters'><tr><th>counter<th>all ranks<th>most<th>in rank<th>what it counts\n",
          file);
    for (size_t i = 0; i < vbase_counter_count; i++) {
        uint64_t sum = 0, most = 0;
        int in = 0;
        for (int k = 0; k < all->job->size; k++) {
            uint64_t value = all->rank[k] ? counter_of(all->rank[k], i) : 0;
            sum += value;
            if (value > most) {
                most = value;
                in = k;
            }
        }
        if (sum)
            fprintf(file, "<tr><td>%s<td>%llu<td>%llu<td>%d<td class='text'>%s\n", vbase_counter_table[i].name,
                    (unsigned long long)sum, (unsigned long long)most, in, vbase_counter_table[i].help);
    }
    fputs("</table></section>\n", file);
}

/* Settings that the environment of the launcher or the command line has. */
static void settings_print(FILE *file, const struct profile_job *all)
{
    fputs("<section><h2>What was chosen</h2>\n<p>", file);
    print_escaped(file, *all->summary ? all->summary : "Rank 0 has not said how the ranks reach each other.", SIZE_MAX);
    fputs("</p>\n<table id='settings'><tr><th>setting<th>value\n", file);
    for (size_t i = 0; i < vbase_setting_count; i++) {
        char name[64] = "VIADUCT_";
        for (size_t k = 0; vbase_setting_table[i].name[k] && k < sizeof name - 10; k++)
            name[8 + k] = (char)toupper((unsigned char)vbase_setting_table[i].name[k]);
        const char *value = vbase_environment(name);
        if (!value || !*value)
            continue;
        fprintf(file, "<tr><td>%s<td class='text'>", name);
        print_escaped(file, value, SIZE_MAX);
    }
    fprintf(file,
            "\n</table><p class='note'>All other settings have the values of <code>viaduct info --settings</code>. "
            "Which way a message or a collective goes by its size: <code>viaduct info --shm</code>, "
            "<code>--coll</code>.</p>\n<p>Viaduct %s, build %.16s</p></section>\n",
            VIADUCT_VERSION, vbase_build_id);
}

void profile_page_write(FILE *file, const struct profile_job *all)
{
    head_print(file, all);
    calls_print(file, all);
    slowest_print(file, all);
    messages_print(file, all);
    fputs("<section><h2>By the second</h2>\n", file);
    draw_time(file, all);
    fputs("</section>\n", file);
    counters_print(file, all);
    settings_print(file, all);
    fputs("</body></html>\n", file);
}
