/* The trace of mpiexec --report: JSON in the trace event format, which chrome://tracing and Perfetto show. A process
 * for each rank, with its calls; and counters for each host. Times are microseconds since the job began. */
#include "run/job.h"

static double since(const struct profile_job *all, uint64_t ns)
{
    uint64_t began = all->job->profile.real_ns;
    return ns > began ? (double)(ns - began) / 1e3 : 0;
}

static void text_print(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == '"' || c == '\\' || c == '<' || c > '~')
            fprintf(file, "\\u%04x", c < 0x80 ? c : '?');
        else
            putc(c, file);
    }
    putc('"', file);
}

static void rank_print(FILE *file, const struct profile_job *all, const struct profile_rank *rank)
{
    char name[128];
    snprintf(name, sizeof name, "rank %d on %.63s", rank->rank, rank->host);
    fprintf(file, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":", rank->rank);
    text_print(file, name);
    fprintf(file, "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":%d}}",
            rank->rank, rank->rank);
    for (uint32_t i = 0; i < rank->events; i++) {
        const struct profile_moment *one = &profile_moments(rank)[i];
        fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":0,\"ts\":%.3f,\"dur\":%.3f}",
                profile_call_name(one->call), rank->rank, since(all, one->start_ns), (double)one->ns / 1e3);
    }
}

static void host_print(FILE *file, const struct profile_job *all, const struct profile_host *host, int number)
{
    for (int i = 1; i < host->samples; i++) {
        const struct profile_sample *before = &profile_samples(host)[i - 1], *now = before + 1;
        double seconds = (double)(now->at_ns - before->at_ns) / 1e9;
        uint64_t sent = 0;
        for (int card = 0; card < COUNT_CARDS; card++)
            sent += now->card[card] - before->card[card];
        if (seconds <= 0)
            continue;
        fprintf(file,
                ",\n{\"ph\":\"C\",\"name\":\"host %d\",\"pid\":%d,\"ts\":%.3f,\"args\":{\"messages per second\":%.0f,"
                "\"MB per second\":%.3f,\"MB per second over cards\":%.3f}}",
                number, all->job->size + number, since(all, before->at_ns),
                (double)(now->messages - before->messages) / seconds,
                (double)(now->bytes - before->bytes) / 1e6 / seconds, (double)sent / 1e6 / seconds);
    }
}

void profile_trace_write(FILE *file, const struct profile_job *all)
{
    uint64_t shortest = 0;
    for (int i = 0; i < all->job->size; i++)
        if (all->rank[i] && all->rank[i]->shortest_ns > shortest)
            shortest = all->rank[i]->shortest_ns;
    fprintf(file,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"version\":\"Viaduct %s\",\"ranks\":%d,\"status\":%d,"
            "\"calls\":%llu,\"calls shorter than so many ns may be left out\":%llu},\n\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"hosts\"}}",
            VIADUCT_VERSION, all->job->size, all->status, (unsigned long long)all->calls, (unsigned long long)shortest,
            all->job->size);
    for (int i = 0; i < all->job->size; i++)
        if (all->rank[i])
            rank_print(file, all, all->rank[i]);
    for (int i = 0; i < all->hosts; i++)
        host_print(file, all, all->host[i], i);
    fputs("\n]}\n", file);
}
