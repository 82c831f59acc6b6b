/* What is shown before the ranks start: the hosts with their slots, which rank goes where, and on which processors.
 * Each host shows the processors of its own ranks, the head the rest. */
#include "run/bytes.h"
#include "run/job.h"

/* Hosts that are named; the one that none was named for offers nothing. */
static void hosts_show(struct run_job *job)
{
    for (int i = 0; i < job->options.hosts; i++) {
        int slots = 0;
        for (int j = 0; j < job->options.apps; j++)
            slots += hosts_offer(&job->options.app[j], i);
        output_line(job, "host %s: %d slots, %d ranks%s", job->options.host[i].name, slots, job->options.host[i].ranks,
                    job->options.host[i].here ? ", this host" : "");
    }
}

/* "0-3, 8" of the ranks of APP on HOST; nothing: it has none there. */
static struct run_bytes ranks_text(const struct run_job *job, const struct run_app *app, int host)
{
    struct run_bytes text = {0};
    for (int first = 0, end; first < job->size; first = end + 1) {
        char run[40];
        for (end = first; end < job->size && job->rank[end].host == host && job->rank[end].app == app;)
            end++;
        if (end > first)
            bytes_add(&text, run, (size_t)snprintf(run, sizeof run, end - first > 1 ? "%s%d-%d" : "%s%d",
                                                   text.length ? ", " : "", first, end - 1));
    }
    return text;
}

static void ranks_show(struct run_job *job)
{
    for (int i = 0; i < job->options.hosts; i++)
        for (int j = 0; j < job->options.apps; j++) {
            struct run_bytes text = ranks_text(job, &job->options.app[j], i);
            if (text.length)
                output_line(job, "map: host %s: ranks %.*s of %s", job->options.host[i].name, (int)text.length,
                            text.data, job->options.app[j].argv[0]);
            free(text.data);
        }
}

/* --report-bindings */
static void bindings_show(struct run_job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        if (job->rank[rank].host != job->here)
            continue;
        const cpu_set_t *set = binding_of(&job->binding, job->rank[rank].seat);
        char list[1024];
        size_t used = 0;
        list[0] = 0;
        for (int cpu = 0; set && cpu < CPU_SETSIZE && used < sizeof list - 32; cpu++) {
            int last = cpu;
            if (!CPU_ISSET(cpu, set))
                continue;
            while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
                last++;
            used += (size_t)snprintf(list + used, 32, last > cpu ? "%s%d-%d" : "%s%d", used ? "," : "", cpu, last);
            cpu = last;
        }
        if (set)
            output_line(job, "rank %d on %s is bound to processors %s", rank, job->host, list);
        else
            output_line(job, "rank %d on %s is not bound", rank, job->host);
    }
}

void map_report(struct run_job *job)
{
    bool head = job->head.fd < 0;
    if (job->options.show_hosts && head)
        hosts_show(job);
    if (job->options.show_map && head)
        ranks_show(job);
    if (job->options.report_bindings || (job->options.show_map && job->binding.count))
        bindings_show(job);
}
