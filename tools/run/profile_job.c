/* The parts that came from all hosts as one job: which rank's is where, and sums. A part of another host is checked
 * here: what follows its head must be there. */
#include "run/job.h"

const struct profile_call_sum *profile_sums(const struct profile_rank *rank)
{
    return (const void *)(rank + 1);
}

const struct profile_to *profile_traffics(const struct profile_rank *rank)
{
    return (const void *)(profile_sums(rank) + rank->sums);
}

const struct profile_moment *profile_moments(const struct profile_rank *rank)
{
    return (const void *)(profile_traffics(rank) + rank->traffics);
}

const struct profile_sample *profile_samples(const struct profile_host *host)
{
    return (const void *)(host + 1);
}

static bool rank_is_whole(const struct profile_rank *rank, size_t length, int ranks)
{
    return length >= sizeof *rank && rank->rank < ranks && rank->sums <= PROFILE_CALLS &&
           rank->traffics <= PROFILE_BLOCKS && rank->events <= 1u << 20 && !rank->summary[sizeof rank->summary - 1] &&
           !rank->host[sizeof rank->host - 1] &&
           (size_t)((const char *)(profile_moments(rank) + rank->events) - (const char *)rank) <= length;
}

static bool host_is_whole(const struct profile_host *host, size_t length)
{
    return length >= sizeof *host && host->samples >= 0 && host->samples <= PROFILE_SAMPLES &&
           !host->host[sizeof host->host - 1] &&
           sizeof *host + (size_t)host->samples * sizeof(struct profile_sample) <= length;
}

static void traffic_sum(struct profile_traffic *sum, const struct profile_traffic *more)
{
    sum->messages += more->messages;
    sum->bytes += more->bytes;
}

static void mean_add(struct profile_mean *mean, const struct profile_call_sum *sum, int rank)
{
    if (!mean->count || sum->ns < mean->least_ns)
        mean->least_ns = sum->ns;
    if (sum->ns >= mean->slowest_ns) {
        mean->slowest_ns = sum->ns;
        mean->slowest = rank;
    }
    if (sum->most_ns >= mean->most_ns) {
        mean->most_ns = sum->most_ns;
        mean->most_rank = rank;
    }
    mean->count += sum->count;
    mean->ns += sum->ns;
}

static void rank_sum(struct profile_job *all, const struct profile_rank *rank)
{
    uint32_t from = profile_block((uint32_t)rank->rank, (uint32_t)all->job->size);
    for (uint32_t i = 0; i < rank->sums; i++)
        if (profile_sums(rank)[i].call < PROFILE_CALLS)
            mean_add(&all->call[profile_sums(rank)[i].call], &profile_sums(rank)[i], rank->rank);
    for (uint32_t i = 0; i < rank->traffics; i++)
        if (profile_traffics(rank)[i].block < all->blocks)
            traffic_sum(&all->to[from * all->blocks + profile_traffics(rank)[i].block],
                        &profile_traffics(rank)[i].traffic);
    for (int i = 0; i < PROFILE_SIZES; i++)
        traffic_sum(&all->size[i], &rank->size[i]);
    traffic_sum(&all->sent, &rank->sent);
    all->mpi_ns += rank->mpi_ns;
    all->calls += rank->calls;
    if (rank->ran_ns > all->ran_ns)
        all->ran_ns = rank->ran_ns;
    all->no_messages |= rank->no_messages;
    if (*rank->summary)
        all->summary = rank->summary;
    all->ranks++;
}

static void part_add(struct profile_job *all, const void *part, size_t length)
{
    const struct profile_rank *rank = part;
    const struct profile_host *host = part;
    if (length < sizeof(int32_t))
        return;
    if (host->rank < 0 && host_is_whole(host, length) && all->hosts < all->job->options.hosts + 1)
        all->host[all->hosts++] = host;
    else if (host->rank >= 0 && rank_is_whole(rank, length, all->job->size) && !all->rank[rank->rank]) {
        all->rank[rank->rank] = rank;
        rank_sum(all, rank);
    }
}

int profile_job_make(struct profile_job *out, const struct run_job *job, int status)
{
    const struct run_bytes *got = &job->profile.got;
    *out = (struct profile_job){.job = job, .status = status, .summary = ""};
    out->blocks = job->size < PROFILE_BLOCKS ? (uint32_t)job->size : PROFILE_BLOCKS;
    out->rank = calloc((size_t)job->size, sizeof *out->rank);
    out->host = calloc((size_t)job->options.hosts + 1, sizeof *out->host);
    out->to = calloc((size_t)out->blocks * out->blocks, sizeof *out->to);
    if (!out->rank || !out->host || !out->to) {
        profile_job_free(out);
        return vbase_fail(ERR_MEMORY, "no memory for the report of %d ranks", job->size);
    }
    for (size_t at = 0; at + sizeof(uint64_t) < got->length;) {
        uint64_t length;
        memcpy(&length, got->data + at, sizeof length);
        part_add(out, got->data + at + sizeof length, length);
        at += sizeof length + length;
    }
    return OK;
}

void profile_job_free(struct profile_job *all)
{
    free(all->rank);
    free(all->host);
    free(all->to);
}
