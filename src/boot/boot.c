/* Start and end of a job, fences, and the key-value space of any launcher. */
#include "boot/inside.h"
#include <poll.h>
#include <sys/ioctl.h>

#define HEARD_MS          200
#define PART              190 /* bytes of a text in one value: every launcher takes that much */
#define TEXT_END          "!"

static struct boot_own *own_of(struct boot_job *job) { return (struct boot_own *)(void *)job; }

/* A rank that ends without vboot_close tells a foreign launcher, since few of them notice: the others would wait for
 * ever, or the job would end with status 0. Not by atexit: programs may end MPI there, in handlers registered before
 * ours. */
static struct boot_own *joined;
static pid_t joined_by;
static int exit_status;

static void status_note(int status, void *context)
{
    (void)context;
    exit_status = status;
}

__attribute__((destructor)) static void end_early(void)
{
    if (joined && joined_by == getpid())
        vboot_abort(&joined->job, exit_status ? exit_status : 1, "the program ended without MPI_Finalize");
}

static void end_watch(struct boot_own *own)
{
    if (own->job.kind != BOOT_PMI && own->job.kind != BOOT_PMIX)
        return;
    joined = own;
    joined_by = getpid();
    if (on_exit(status_note, NULL) != 0)
        LOG_DEBUG("the launcher will not know the exit status"); /* then it is reported as 1 */
}

static int node_join(struct boot_own *own)
{
    if (own->job.kind != BOOT_VIADUCT)
        return vboot_node_meet(own);
    int count = own->job.local_count;
    own->job.local_ranks = malloc((size_t)count * sizeof(int));
    if (!own->job.local_ranks)
        return vbase_fail(ERR_MEMORY, "no memory for the list of %d ranks", count);
    for (int i = 0; i < count; i++)
        own->job.local_ranks[i] = (int)own->handover.header->rank[i];
    return OK;
}

static void job_release(struct boot_own *own, bool goodbye)
{
    joined = NULL;
    if (own->starter)
        own->starter->finish(own, goodbye);
    vboot_handover_close(&own->handover);
    vboot_kvs_close(&own->kvs);
    base_close(own->job.node_fd);
    base_close(own->job.seat_fd);
    free(own->job.local_ranks);
    memset(own->job.secret, 0, sizeof own->job.secret);
    free(own);
}

int vboot_open(struct boot_job **job)
{
    struct boot_own *own = calloc(1, sizeof *own);
    if (!own)
        return vbase_fail(ERR_MEMORY, "no memory to start");
    own->pmi.fd = own->handover.fd = own->job.node_fd = own->job.seat_fd = -1;
    if (gethostname(own->job.host, sizeof own->job.host - 1) < 0)
        snprintf(own->job.host, sizeof own->job.host, "unknown");
    int error = vboot_launcher_find(own);
    if (error == OK)
        error = node_join(own);
    if (error != OK) {
        job_release(own, false); /* so that the launcher ends the others when this process ends */
        return error;
    }
    end_watch(own);
    *job = &own->job;
    return OK;
}

void vboot_close(struct boot_job *job) { job_release(own_of(job), true); }

/* What every launcher passes on: printable, no space, no ';'; no '=' in a key. */
static bool text_is_plain(const char *text, bool is_key)
{
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '\\' || *at == ';' || (is_key && *at == '='))
            return false;
    return *text != 0;
}

int vboot_put(struct boot_job *job, const char *key, const char *value)
{
    if (!text_is_plain(key, true) || !text_is_plain(value, false))
        return vbase_fail(ERR_ARGUMENT, "key and value must be printable and without spaces: \"%.60s\"", key);
    return own_of(job)->starter->put(own_of(job), key, value);
}

int vboot_get(struct boot_job *job, int rank, const char *key, char *value, size_t size)
{
    if (!text_is_plain(key, true))
        return vbase_fail(ERR_ARGUMENT, "a key must be printable and without spaces: \"%.60s\"", key);
    return own_of(job)->starter->get(own_of(job), rank, key, value, size);
}

int vboot_put_text(struct boot_job *job, const char *key, const char *text)
{
    char part_key[80], part[PART + 2];
    for (unsigned number = 0;; number++, text += PART) {
        bool last = strnlen(text, PART) < PART;
        snprintf(part_key, sizeof part_key, "%s-%u", key, number);
        snprintf(part, sizeof part, "%.*s%s", PART, text, last ? TEXT_END : "");
        int error = vboot_put(job, part_key, part);
        if (error != OK || last)
            return error;
    }
}

int vboot_get_text(struct boot_job *job, int rank, const char *key, char *text, size_t size)
{
    char part_key[80], part[PART + 2];
    size_t used = 0;
    for (unsigned number = 0;; number++) {
        snprintf(part_key, sizeof part_key, "%s-%u", key, number);
        int error = vboot_get(job, rank, part_key, part, sizeof part);
        if (error != OK)
            return error;
        size_t length = strlen(part);
        bool last = length > 0 && part[length - 1] == TEXT_END[0];
        length -= last;
        if (used + length >= size || (length == 0 && !last))
            return vbase_fail(ERR_PROTOCOL, "the text %s that rank %d published is not terminated", key, rank);
        memcpy(text + used, part, length);
        used += length;
        text[used] = 0;
        if (last)
            return OK;
    }
}

int vboot_fence_begin(struct boot_job *job, struct boot_fence *fence)
{
    *fence = (struct boot_fence){.descriptor = -1, .changed = fence->changed, .over = job->size == 1};
    return fence->over ? OK : own_of(job)->starter->fence_begin(own_of(job), fence);
}

bool vboot_fence_over(struct boot_job *job, struct boot_fence *fence)
{
    if (!fence->over)
        own_of(job)->starter->fence_look(own_of(job), fence);
    return fence->over;
}

int vboot_fence_end(struct boot_job *job, struct boot_fence *fence)
{
    while (!vboot_fence_over(job, fence)) {
        struct pollfd ready = {.fd = fence->descriptor, .events = POLLIN};
        if (fence->word)
            (void)vbase_futex_wait(fence->word, fence->value, 0);
        else
            (void)poll(&ready, 1, -1);
    }
    return fence->error;
}

int vboot_fence(struct boot_job *job)
{
    struct boot_fence fence = {.changed = NULL};
    TRACE("fence");
    return vboot_fence_begin(job, &fence) ?: vboot_fence_end(job, &fence);
}

void vboot_ready(struct boot_job *job, bool ready)
{
    struct boot_seat *seat = own_of(job)->seat;
    if (seat) /* release: as seat_finish */
        atomic_store_explicit(&seat->state, ready ? SEAT_READY : SEAT_JOINED, memory_order_release);
}

uint32_t vboot_deaths(const struct boot_job *job)
{
    const struct boot_handover *header = own_of((struct boot_job *)job)->handover.header;
    /* acquire: pairs with the launcher's release: the marks of the dead are seen */
    return header ? atomic_load_explicit((_Atomic uint32_t *)&header->deaths, memory_order_acquire) : 0;
}

bool vboot_dead(const struct boot_job *job, int rank)
{
    return atomic_load_explicit(&own_of((struct boot_job *)job)->handover.dead[rank],
                                memory_order_relaxed); /* ordered by the count */
}

/* A launcher that learns of the end may stop reading our output, so it must have that before. */
static void output_wait_read(void)
{
    int unread = 0;
    for (int ms = 0; ms < HEARD_MS && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ms++)
        usleep(1000);
}

/* Not by stdio, whose lock may be held. */
static void end_print(const struct boot_job *job, const char *message)
{
    char line[1024];
    int length =
        snprintf(line, sizeof line - 1, "viaduct: rank %d on %s ends the job: %s", job->rank, job->host, message);
    size_t end = length < 0 ? 0 : (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 2;
    line[end] = '\n';
    (void)!write(STDERR_FILENO, line, end + 1);
}

/* Our launcher prints the message of the seat; under any other launcher we print it. */
void vboot_abort(struct boot_job *job, int status, const char *message)
{
    struct boot_own *own = own_of(job);
    int code = (status & 255) == 0 && status != 0 ? 1 : status & 255;
    vbase_flush(); /* before the launcher hears of it and ends this process */
    if (!own->seat && message && *message)
        end_print(job, message);
    if (!own->seat && own->starter != &vboot_starter_solo)
        output_wait_read();
    own->starter->abort(own, code, message ? message : "");
    _exit(code);
}

/* ---- solo: a job of one, which is never asked for a fence -------------------------------------------------------- */

static int solo_put(struct boot_own *own, const char *key, const char *value)
{
    return vboot_kvs_put(&own->kvs, key, value);
}

static int solo_get(struct boot_own *own, int rank, const char *key, char *value, size_t size)
{
    const char *found = vboot_kvs_get(&own->kvs, key);
    if (!found)
        return vbase_fail(ERR_NOT_FOUND, "no key %s of rank %d", key, rank);
    if (size)
        snprintf(value, size, "%s", found);
    return OK;
}

static void solo_abort(struct boot_own *own, int status, const char *message)
{
    (void)own, (void)status, (void)message;
}

static void solo_finish(struct boot_own *own, bool goodbye) { (void)own, (void)goodbye; }

const struct boot_starter vboot_starter_solo = {solo_put, solo_get, NULL, NULL, solo_abort, solo_finish};

/* ---- our launcher: a seat, and PMI for other nodes --------------------------------------------- */

static int fence_broken(void)
{
    return vbase_fail(ERR_PEER_DEAD, "a rank of this job has died, so not all come to the fence");
}

/* All ranks are on this node and share the handover. The last to arrive opens the next epoch; so does the launcher
 * when one has ended. */
static int fence_here(struct boot_handover *header, struct boot_fence *fence)
{
    fence->word = &header->fence_epoch;
    /* the epoch is read before we arrive: the last one moves it only after. acquire: if a death has moved it, it is
     * counted */
    fence->value = atomic_load_explicit(&header->fence_epoch, memory_order_acquire);
    if (atomic_load_explicit(&header->deaths, memory_order_relaxed))
        return fence_broken();
    fence->over = vboot_handover_arrive(header);
    return OK;
}

static int seat_fence_begin(struct boot_own *own, struct boot_fence *fence)
{
    if (own->job.local_count == own->job.size)
        return fence_here(own->handover.header, fence);
    return vboot_pmi_fence_begin(own, fence);
}

static void seat_fence_look(struct boot_own *own, struct boot_fence *fence)
{
    if (!fence->word)
        vboot_pmi_fence_look(own, fence);
    else
        fence->over = atomic_load_explicit(fence->word, memory_order_acquire) != fence->value;
    if (fence->over && (fence->word || fence->error) && vboot_deaths(&own->job))
        fence->error = fence_broken();
}

static void seat_abort(struct boot_own *own, int status, const char *message)
{
    snprintf(own->seat->message, sizeof own->seat->message, "%s", message);
    vboot_pmi_abort(own, status, message);
}

/* The seat is marked as left; PMI is not told. */
static void seat_finish(struct boot_own *own, bool goodbye)
{
    if (goodbye) /* release: the launcher that reads LEFT knows that this rank ended as it should */
        atomic_store_explicit(&own->seat->state, SEAT_LEFT, memory_order_release);
    vboot_pmi_finish(own, false);
}

const struct boot_starter vboot_starter_ours = {vboot_pmi_put, vboot_pmi_get, seat_fence_begin, seat_fence_look,
                                                 seat_abort, seat_finish};
