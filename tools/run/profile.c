/* The pages of this host's ranks: made before the first rank, sampled while they run, read when they have ended. A
 * helper sends what it has read to the launcher that called it, and so on up to the head, which writes the files. What
 * ranks have written is theirs: numbers are taken as they are, indices are bounded, texts are escaped. */
#include "run/profile.h"
#include "run/job.h"
#include "run/preload.h"
#include "vi/shm/segment.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#define EVENTS_ALL   (1u << 20) /* of a job: a viewer that must hold more is slow */
#define EVENTS_MOST  16384      /* of a rank */
#define EVENTS_LEAST 256
#define FIRST_GAP_NS (SECOND_NS / 4)

static const char *const names[] = {
#define ONE(Name, ...) "MPI_" #Name,
#define TWO(Name, ...) "MPI_" #Name, "MPI_" #Name "_c",
#define CALL           ONE
#define CALL_C         TWO
#define BUFFER         ONE
#define BUFFER_C       TWO
#define OWN            ONE
#define OWN_C          TWO
#define OLD(...)
#include "mpi/calls.def"
};
_Static_assert(ARRAY_LENGTH(names) == PROFILE_CALLS, "a name for each call");

const char *profile_call_name(uint64_t call)
{
    return call < PROFILE_CALLS ? names[call] : "?";
}

static const struct profile_page *page_of(const struct run_profile *profile, int seat)
{
    return (const void *)(profile->map + sysconf(_SC_PAGESIZE) + (size_t)seat * profile->header->page_size);
}

/* ---- before the ranks -------------------------------------------------------------------------------------------- */

static uint32_t room_for_events(const struct run_job *job)
{
    uint32_t room = EVENTS_ALL / (uint32_t)job->size;
    return !job->options.report_trace ? 0
           : room > EVENTS_MOST       ? EVENTS_MOST
           : room < EVENTS_LEAST      ? EVENTS_LEAST
                                      : room;
}

static int file_make(struct run_profile *profile, const struct profile_header *header, size_t length)
{
    int error = vbase_memory_make("viaduct-profile", length, F_SEAL_SEAL, &profile->fd);
    if (error)
        return error;
    if (pwrite(profile->fd, header, sizeof *header, 0) != (ssize_t)sizeof *header)
        return vbase_fail_errno(ERR_SYSTEM, "shared memory for --report");
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, profile->fd, 0);
    if (map == MAP_FAILED)
        return vbase_fail_errno(ERR_LIMIT, "mapping %zu bytes for --report", length);
    profile->map = map;
    profile->length = length;
    profile->header = map;
    return OK;
}

int profile_open(struct run_job *job)
{
    struct run_profile *profile = &job->profile;
    char path[PATH_MAX];
    struct timespec real;
    profile->fd = -1;
    if (!job->options.report_page && !job->options.report_trace)
        return OK;
    int error = preload_find(PROFILE_LIBRARY, path);
    if (error)
        return error;
    profile->preload = strdup(path);
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);
    struct profile_header header = {
        PROFILE_MAGIC,       PROFILE_CALLS,        (uint32_t)(job->local > 0 ? job->local : 1),
        (uint32_t)job->size, room_for_events(job), 0, vbase_clock_ticks_of_ns(1ull << 32)};
    size_t each = sizeof(struct profile_page) + header.room * sizeof(struct profile_event);
    header.page_size = (each + unit - 1) / unit * unit;
    clock_gettime(CLOCK_REALTIME, &real);
    profile->started_ticks = clock_ticks();
    profile->started_ns = vbase_clock_ns();
    profile->real_ns = (uint64_t)real.tv_sec * SECOND_NS + (uint64_t)real.tv_nsec;
    profile->every_ns = FIRST_GAP_NS;
    profile->next_ns = profile->started_ns;
    return file_make(profile, &header, unit + header.seats * header.page_size);
}

void profile_variable(const struct run_job *job, int rank, char *text, size_t size)
{
    snprintf(text, size, PROFILE_VARIABLE "=%d,%d,%d", job->profile.fd, job->rank[rank].seat, rank);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* The counters of all ranks of this host, in the order of their seats; free it. NULL: there is no segment. */
static void *counters_read(const struct run_job *job)
{
    off_t at;
    size_t length = (size_t)job->local * BASE_COUNTERS_SIZE;
    if (job->node_fd < 0 || job->local == 0 || shm_segment_counters(job->node_fd, 0, &at) != OK)
        return NULL;
    void *all = calloc(1, length);
    if (all && pread(job->node_fd, all, length, at) == (ssize_t)length)
        return all;
    free(all);
    return NULL;
}

static uint32_t slices_of(const struct profile_page *page)
{
    return page->slices < PROFILE_SLICES ? page->slices : PROFILE_SLICES;
}

static void traffic_sum(struct profile_traffic *sum, const struct profile_traffic *more)
{
    sum->messages += more->messages;
    sum->bytes += more->bytes;
}

static struct profile_traffic sent_of(const struct profile_slice *slice)
{
    struct profile_traffic sent = {0, 0};
    for (int i = 0; i < PROFILE_SIZES; i++)
        traffic_sum(&sent, &slice->size[i]);
    return sent;
}

static void slice_sum(struct profile_slice *sum, const struct profile_slice *more)
{
    sum->ticks += more->ticks;
    for (int i = 0; i < PROFILE_CALLS; i++) {
        sum->call[i].count += atomic_load_explicit(&more->call[i].count, memory_order_relaxed);
        sum->call[i].ticks += more->call[i].ticks;
        if (more->call[i].most > sum->call[i].most)
            sum->call[i].most = more->call[i].most;
    }
    for (int i = 0; i < PROFILE_SIZES; i++)
        traffic_sum(&sum->size[i], &more->size[i]);
    for (int i = 0; i < PROFILE_BLOCKS; i++)
        traffic_sum(&sum->to[i], &more->to[i]);
}

static const struct base_counters *counters_of(const void *all, int seat)
{
    return (const void *)((const char *)all + (size_t)seat * BASE_COUNTERS_SIZE);
}

static void sample_add(struct run_job *job, uint64_t now_ns)
{
    struct run_profile *profile = &job->profile;
    struct profile_sample now = {.at_ns = profile->real_ns + (now_ns - profile->started_ns)};
    void *counters = counters_read(job);
    for (int i = 0; i < job->local; i++) {
        const struct profile_page *page = page_of(profile, i);
        for (uint32_t slice = 0; slice < slices_of(page); slice++) {
            struct profile_traffic sent = sent_of(&page->slice[slice]);
            now.mpi_ns += vbase_clock_ns_of_ticks(page->slice[slice].ticks);
            now.messages += sent.messages;
            now.bytes += sent.bytes;
        }
        for (int card = 0; counters && card < COUNT_CARDS; card++)
            now.card[card] += (&counters_of(counters, i)->card0)[card];
    }
    free(counters);
    if (profile->samples == PROFILE_SAMPLES) {
        for (int i = 0; i < PROFILE_SAMPLES / 2; i++)
            profile->sample[i] = profile->sample[2 * i];
        profile->samples = PROFILE_SAMPLES / 2;
        profile->every_ns *= 2;
    }
    profile->sample[profile->samples++] = now;
}

void profile_tick(struct run_job *job, uint64_t now_ns)
{
    struct run_profile *profile = &job->profile;
    if (profile->fd < 0 || !loop_due(&job->loop, profile->next_ns, now_ns))
        return;
    sample_add(job, now_ns);
    profile->next_ns = now_ns + profile->every_ns;
    (void)loop_due(&job->loop, profile->next_ns, now_ns);
}

/* ---- at the end -------------------------------------------------------------------------------------------------- */

static uint64_t ns_between(uint64_t from, uint64_t to)
{
    return to > from ? vbase_clock_ns_of_ticks(to - from) : 0;
}

static void sums_add(struct run_bytes *part, const struct profile_slice *slice, struct profile_rank *rank)
{
    for (uint64_t call = 0; call < PROFILE_CALLS; call++) {
        const struct profile_sum *sum = &slice->call[call];
        struct profile_call_sum one = {call, atomic_load_explicit(&sum->count, memory_order_relaxed),
                                       vbase_clock_ns_of_ticks(sum->ticks), vbase_clock_ns_of_ticks(sum->most)};
        if (!one.count)
            continue;
        bytes_add(part, &one, sizeof one);
        rank->sums++;
        rank->calls += one.count;
    }
}

static void traffics_add(struct run_bytes *part, const struct profile_slice *slice, struct profile_rank *rank)
{
    for (uint64_t block = 0; block < PROFILE_BLOCKS; block++) {
        struct profile_to one = {block, slice->to[block]};
        if (!one.traffic.messages)
            continue;
        bytes_add(part, &one, sizeof one);
        rank->traffics++;
    }
}

static void events_add(const struct run_profile *profile, struct run_bytes *part, const struct profile_page *page,
                       struct profile_rank *rank)
{
    uint32_t events = page->events < profile->header->room ? page->events : profile->header->room;
    for (uint32_t i = 0; i < events; i++) {
        const struct profile_event *event = &page->event[i];
        struct profile_moment one = {profile->real_ns + ns_between(profile->started_ticks, event->start),
                                     vbase_clock_ns_of_ticks(event->ticks), event->call};
        bytes_add(part, &one, sizeof one);
        rank->events++;
    }
}

static void part_keep(struct run_job *job, const void *part, size_t length)
{
    struct run_profile *profile = &job->profile;
    if (job->head.fd >= 0) {
        frame_send(job, &job->sink[0], FRAME_REPORT, part, length);
        return;
    }
    uint64_t room = (length + 7) / 8 * 8; /* the next one is aligned, too */
    bytes_add(&profile->got, &room, sizeof room);
    bytes_add(&profile->got, part, length);
    bytes_add(&profile->got, "\0\0\0\0\0\0\0", room - length);
}

static void rank_part(struct run_job *job, const struct run_rank *of, const void *counters, struct run_bytes *part)
{
    const struct profile_page *page = page_of(&job->profile, of->seat);
    struct profile_slice all = {.ticks = 0}; /* threads */
    for (uint32_t i = 0; i < slices_of(page); i++)
        slice_sum(&all, &page->slice[i]);
    struct profile_rank rank = {.rank = of->rank,
                                .pid = (int32_t)page->pid,
                                .ended = page->ended != 0,
                                .no_messages = page->no_messages != 0,
                                .mpi_ns = vbase_clock_ns_of_ticks(all.ticks),
                                .shortest_ns = vbase_clock_ns_of_ticks(page->shortest),
                                .sent = sent_of(&all),
                                .ran_ns = ns_between(page->begun, page->ended ? page->ended : clock_ticks())};
    if (!page->pid) /* it never called MPI */
        return;
    snprintf(rank.host, sizeof rank.host, "%.63s", job->host);
    memcpy(rank.summary, page->summary, sizeof rank.summary - 1);
    memcpy(rank.size, all.size, sizeof rank.size);
    if (counters && counters_of(counters, of->seat)->pid == page->pid)
        rank.counters = *counters_of(counters, of->seat);
    part->length = 0;
    bytes_add(part, &rank, sizeof rank);
    sums_add(part, &all, &rank);
    traffics_add(part, &all, &rank);
    events_add(&job->profile, part, page, &rank);
    memcpy(part->data, &rank, sizeof rank);
    part_keep(job, part->data, part->length);
}

static void host_part(struct run_job *job, struct run_bytes *part)
{
    struct profile_host host = {.rank = -1, .samples = job->profile.samples, .ranks = job->local};
    snprintf(host.host, sizeof host.host, "%.63s", job->host);
    part->length = 0;
    bytes_add(part, &host, sizeof host);
    bytes_add(part, job->profile.sample, (size_t)host.samples * sizeof *job->profile.sample);
    part_keep(job, part->data, part->length);
}

/* A helper passes it on. */
void profile_heard(struct run_job *job, const char *part, size_t length)
{
    if (job->profile.fd >= 0)
        part_keep(job, part, length);
}

static void file_write(struct run_job *job, const char *path, const struct profile_job *all,
                       void (*print)(FILE *file, const struct profile_job *all))
{
    FILE *file = fopen(path, "we");
    bool written = file != NULL;
    if (file) {
        print(file, all);
        written = fflush(file) == 0 && !ferror(file);
    }
    int why = errno;
    if (file)
        fclose(file);
    if (!written)
        output_line(job, "the report %s could not be written: %s", path, strerror(why));
    if (file && !written)
        (void)!truncate(path, 0); /* a part of it is none */
}

void profile_finish(struct run_job *job, int status)
{
    struct run_profile *profile = &job->profile;
    struct run_bytes part = {0};
    struct profile_job all;
    if (profile->fd < 0)
        return;
    sample_add(job, vbase_clock_ns());
    void *counters = counters_read(job);
    host_part(job, &part);
    for (int i = 0; i < job->size; i++)
        if (job->rank[i].host == job->here)
            rank_part(job, &job->rank[i], counters, &part);
    free(counters);
    free(part.data);
    if (job->head.fd < 0 && profile_job_make(&all, job, status) == OK) {
        if (job->options.report_page)
            file_write(job, job->options.report_page, &all, profile_page_write);
        if (job->options.report_trace)
            file_write(job, job->options.report_trace, &all, profile_trace_write);
        profile_job_free(&all);
    }
    free(profile->got.data);
    free(profile->preload);
    munmap(profile->map, profile->length);
    close(profile->fd);
    profile->fd = -1;
}
