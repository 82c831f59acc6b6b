/* The drawings of the page of mpiexec --report: SVG within the page. Colours are classes of its style sheet, so that
 * they fit a dark screen and paper. */
#include "run/job.h"

#define LEVELS      8
#define WIDTH       720.0
#define HOSTS_DRAWN 8 /* of those with ranks, by the second */

void print_escaped(FILE *file, const char *text, size_t most)
{
    char *plain = strndup(text, most);
    if (!plain)
        return;
    vbase_plain(plain, strlen(plain)); /* a trace with other letters than UTF-8 is no JSON */
    for (const char *letter = plain; *letter; letter++)
        if (strchr("<>&\"'\\", *letter))
            fprintf(file, "&#%d;", *letter);
        else
            putc(*letter, file);
    free(plain);
}

const char *print_bytes(double bytes, char text[32])
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t i = 0;
    for (; bytes >= 1000 && i + 1 < ARRAY_LENGTH(unit); i++)
        bytes /= 1000;
    snprintf(text, 32, i && bytes < 100 ? "%.2f %s" : "%.0f %s", bytes, unit[i]);
    return text;
}

const char *print_seconds(double ns, char text[32])
{
    snprintf(text, 32,
             ns < 1e3   ? "%.0f ns"
             : ns < 1e6 ? "%.2f us"
             : ns < 1e9 ? "%.2f ms"
                        : "%.2f s",
             ns < 1e3   ? ns
             : ns < 1e6 ? ns / 1e3
             : ns < 1e9 ? ns / 1e6
                        : ns / 1e9);
    return text;
}

/* ---- time in MPI by rank ----------------------------------------------------------------------------------------- */

static uint64_t sum_of(const struct profile_rank *rank, int call)
{
    for (uint32_t i = 0; i < rank->sums; i++)
        if (profile_sums(rank)[i].call == (uint64_t)call)
            return profile_sums(rank)[i].ns;
    return 0;
}

/* The mean share of its time that a rank of BLOCK was in CALL; -1: in any. */
static double share_of(const struct profile_job *all, uint32_t block, int call)
{
    double share = 0;
    int ranks = 0;
    for (int i = 0; i < all->job->size; i++) {
        const struct profile_rank *rank = all->rank[i];
        if (!rank || !rank->ran_ns || profile_block((uint32_t)i, (uint32_t)all->job->size) != block)
            continue;
        share += (double)(call < 0 ? rank->mpi_ns : sum_of(rank, call)) / (double)rank->ran_ns;
        ranks++;
    }
    return ranks ? share / ranks : 0;
}

/* A bar for each block of ranks, of the CALLS that take most; the rest of its time in MPI above them. */
void draw_ranks(FILE *file, const struct profile_job *all, const int *call, int calls)
{
    double width = WIDTH / all->blocks, height = 160;
    fprintf(file, "<svg class='ranks' viewBox='0 0 %.0f 180' role='img'><title>time in MPI by rank</title>\n", WIDTH);
    for (uint32_t block = 0; block < all->blocks; block++) {
        double at = height, rest = share_of(all, block, -1);
        for (int i = 0; i <= calls; i++) {
            double share = i < calls ? share_of(all, block, call[i]) : rest;
            if (i < calls)
                rest -= share;
            if (share < 0.001)
                continue;
            at -= share * height;
            fprintf(file, "<rect class='c%d' x='%.2f' y='%.1f' width='%.2f' height='%.1f'/>", i, block * width, at,
                    width * 0.9, share * height);
        }
    }
    fprintf(file,
            "\n<path class='axis' d='M0 %.0fH%.0f'/><text x='0' y='176'>rank 0</text>"
            "<text x='%.0f' y='176' class='end'>%d</text></svg>\n<p>",
            height, WIDTH, WIDTH, all->job->size - 1);
    for (int i = 0; i <= calls; i++)
        fprintf(file, "<span class='key c%d'></span>%s ", i,
                i < calls ? profile_call_name((uint64_t)call[i]) : "others");
    fputs("</p>\n", file);
}

/* ---- who sends to whom ------------------------------------------------------------------------------------------- */

static unsigned level_of(uint64_t bytes, double most)
{
    double least = 1, at = (double)(bytes ? bytes : 1);
    unsigned level = 1;
    if (most > least) /* the largest is the last level; each one is a quarter of the next */
        for (double border = most / 4; level < LEVELS && at < border; border /= 4)
            level++;
    return LEVELS + 1 - level;
}

/* The cells of one level as one path: a run of neighbours is one piece of it. */
static void draw_level(FILE *file, const struct profile_job *all, unsigned level, double most)
{
    bool begun = false;
    for (uint32_t from = 0; from < all->blocks; from++)
        for (uint32_t to = 0, end; to < all->blocks; to = end + 1) {
            const struct profile_traffic *row = &all->to[(size_t)from * all->blocks];
            for (end = to; end < all->blocks && row[end].messages && level_of(row[end].bytes, most) == level;)
                end++;
            if (end == to)
                continue;
            fprintf(file, "%sM%u %uh%uv1h-%uz", begun ? "" : "<path class='l' d='", to, from, end - to, end - to);
            begun = true;
        }
    if (begun)
        fprintf(file, "' fill-opacity='%.2f'/>\n", level / (double)LEVELS);
}

void draw_map(FILE *file, const struct profile_job *all)
{
    double most = 0;
    for (size_t i = 0; i < (size_t)all->blocks * all->blocks; i++)
        if ((double)all->to[i].bytes > most)
            most = (double)all->to[i].bytes;
    fprintf(file,
            "<svg class='map' viewBox='0 0 %u %u' shape-rendering='crispEdges' role='img'>"
            "<title>who sends to whom</title><rect class='ground' width='%u' height='%u'/>\n",
            all->blocks, all->blocks, all->blocks, all->blocks);
    for (unsigned level = 1; level <= LEVELS; level++)
        draw_level(file, all, level, most);
    fputs("</svg>\n", file);
}

/* ---- by the second ----------------------------------------------------------------------------------------------- */

struct line {
    const char *name, *class;
    size_t at;    /* of its number in a sample */
    bool is_time; /* of all ranks of a host: a share, not a rate */
};

static double rate_of(const struct profile_host *host, int i, const struct line *line)
{
    const struct profile_sample *before = &profile_samples(host)[i - 1], *now = before + 1;
    double seconds = (double)(now->at_ns - before->at_ns) / 1e9;
    uint64_t a, b;
    memcpy(&a, (const char *)before + line->at, sizeof a);
    memcpy(&b, (const char *)now + line->at, sizeof b);
    double rate = seconds > 0 && b > a ? (double)(b - a) / seconds : 0;
    return line->is_time ? rate / 1e9 / (host->ranks > 0 ? host->ranks : 1) : rate;
}

static void draw_line(FILE *file, const struct profile_host *host, const struct line *line, uint64_t from, uint64_t to)
{
    double most = line->is_time ? 1 : 0;
    char text[32];
    for (int i = 1; i < host->samples; i++)
        if (rate_of(host, i, line) > most)
            most = rate_of(host, i, line);
    if (most <= 0 || to <= from)
        return;
    fprintf(file, "<h3>%s, ", line->name);
    print_escaped(file, host->host, sizeof host->host);
    if (line->is_time)
        fputs("</h3>", file);
    else if (line->at == offsetof(struct profile_sample, messages))
        fprintf(file, ": at most %.0f a second</h3>", most);
    else
        fprintf(file, ": at most %s a second</h3>", print_bytes(most, text));
    fprintf(file, "<svg class='time' viewBox='0 0 %.0f 60' role='img'><path class='%s' d='", WIDTH, line->class);
    for (int i = 1; i < host->samples; i++) {
        double scale = WIDTH / (double)(to - from), y = 58 - 56 * rate_of(host, i, line) / most;
        if (i == 1)
            fprintf(file, "M%.1f %.1f", (double)(profile_samples(host)->at_ns - from) * scale, y);
        fprintf(file, "V%.1fH%.1f", y, (double)(profile_samples(host)[i].at_ns - from) * scale);
    }
    fprintf(file, "'/><path class='axis' d='M0 59H%.0f'/></svg>\n", WIDTH);
}

void draw_time(FILE *file, const struct profile_job *all)
{
    static const struct line lines[] = {
        {"share of the time in MPI", "share", offsetof(struct profile_sample, mpi_ns), true},
        {"messages", "rate", offsetof(struct profile_sample, messages), false},
        {"payload of messages", "rate", offsetof(struct profile_sample, bytes), false},
    };
    uint64_t from = UINT64_MAX, to = 0;
    int drawn = 0;
    for (int i = 0; i < all->hosts; i++) {
        const struct profile_sample *sample = profile_samples(all->host[i]);
        int last = all->host[i]->samples - 1;
        if (last >= 0 && sample[0].at_ns < from)
            from = sample[0].at_ns;
        if (last >= 0 && sample[last].at_ns > to)
            to = sample[last].at_ns;
    }
    for (int i = 0; i < all->hosts; i++) {
        if (all->host[i]->ranks == 0 || drawn++ >= HOSTS_DRAWN)
            continue;
        for (size_t k = 0; k < ARRAY_LENGTH(lines); k++)
            draw_line(file, all->host[i], &lines[k], from, to);
        for (size_t card = 0; card < COUNT_CARDS; card++) {
            char name[32];
            snprintf(name, sizeof name, "card %zu", card);
            draw_line(
                file, all->host[i],
                &(struct line){name, "rate", offsetof(struct profile_sample, card) + card * sizeof(uint64_t), false},
                from, to);
        }
    }
    if (drawn > HOSTS_DRAWN)
        fprintf(file, "<p class='note'>and %d more hosts</p>\n", drawn - HOSTS_DRAWN);
}
