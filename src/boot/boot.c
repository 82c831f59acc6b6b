/* The life of a job from boot's side, and the key-value space over whichever way in there is. */
#include "boot/inside.h"
#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEANWHILE_NS 10000000 /* between two calls of what goes on during a fence */
#define ABORT_PATIENCE_MS 1000

static struct boot_own *own_of(struct boot_job *job)
{
    return (struct boot_own *)(void *)job;
}

static int join_node(struct boot_own *own)
{
    if (own->job.kind == BOOT_SOLO)
        return vboot_node_alone(own);
    if (own->job.kind == BOOT_PMI1)
        return vboot_node_meet(own);
    int count = own->job.local_count;
    own->job.local_ranks = malloc((size_t)count * sizeof(int));
    if (!own->job.local_ranks)
        return vbase_fail(ERR_MEMORY, "no memory for the list of %d ranks", count);
    for (int i = 0; i < count; i++)
        own->job.local_ranks[i] = (int)own->handover.header->rank[i];
    return OK;
}

static void release(struct boot_own *own)
{
    if (own->seat)
        own->pmi.started = false; /* the seat says goodbye, not the wire */
    vboot_pmi_finish(&own->pmi);
    vboot_handover_close(&own->handover);
    vboot_kvs_close(&own->kvs);
    if (own->job.node_fd >= 0)
        close(own->job.node_fd);
    if (own->job.door_fd >= 0)
        close(own->job.door_fd);
    free(own->job.local_ranks);
    memset(own->job.secret, 0, sizeof own->job.secret);
    free(own);
}

int vboot_open(struct boot_job **job)
{
    struct boot_own *own = calloc(1, sizeof *own);
    if (!own)
        return vbase_fail(ERR_MEMORY, "no memory to start");
    own->pmi.fd = own->handover.fd = own->job.node_fd = own->job.door_fd = -1;
    if (gethostname(own->job.host, sizeof own->job.host - 1) < 0)
        snprintf(own->job.host, sizeof own->job.host, "unknown");
    int error = vboot_launcher_find(own);
    if (error == OK)
        error = join_node(own);
    if (error != OK) {
        own->pmi.started = false; /* no goodbye, so that the launcher ends the others when this process ends */
        release(own);
        return error;
    }
    *job = &own->job;
    return OK;
}

void vboot_close(struct boot_job *job)
{
    struct boot_own *own = own_of(job);
    if (own->seat) /* release: the launcher that reads LEFT knows that this rank ended as it should */
        atomic_store_explicit(&own->seat->state, SEAT_LEFT, memory_order_release);
    release(own);
}

static int wire_of(const struct boot_own *own)
{
    return own->pmi.started && own->pmi.fd >= 0
               ? OK
               : vbase_fail(ERR_LAUNCHER, "the connection to the launcher is not there");
}

/* What may travel on the wire: printable, no space; no '=' in a key. */
static bool plain(const char *text, bool is_key)
{
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '\\' || (is_key && *at == '='))
            return false;
    return *text != 0;
}

int vboot_put(struct boot_job *job, const char *key, const char *value)
{
    struct boot_own *own = own_of(job);
    if (!plain(key, true) || !plain(value, false))
        return vbase_fail(ERR_ARGUMENT, "key and value must be printable and without spaces: \"%.60s\"", key);
    if (job->kind == BOOT_SOLO)
        return vboot_kvs_put(&own->kvs, key, value);
    int error = wire_of(own);
    return error != OK ? error : vboot_pmi_put(&own->pmi, key, value);
}

int vboot_get(struct boot_job *job, const char *key, char *value, size_t size)
{
    struct boot_own *own = own_of(job);
    if (!plain(key, true))
        return vbase_fail(ERR_ARGUMENT, "a key must be printable and without spaces: \"%.60s\"", key);
    if (job->kind == BOOT_SOLO) {
        const char *found = vboot_kvs_get(&own->kvs, key);
        if (!found)
            return vbase_fail(ERR_NOT_FOUND, "no key %s", key);
        if (size)
            snprintf(value, size, "%s", found);
        return OK;
    }
    int error = wire_of(own);
    return error != OK ? error : vboot_pmi_get(&own->pmi, key, value, size);
}

/* All ranks are on this node and share the handover: nobody need be asked. The last to arrive opens the next epoch. */
static int fence_here(struct boot_handover *header, void (*meanwhile)(void))
{
    /* the epoch is read before we arrive: the last one moves it only after */
    uint32_t epoch = atomic_load_explicit(&header->fence_epoch, memory_order_relaxed);
    /* acq_rel: what all wrote before the fence is seen by the last, and through the epoch by all */
    if (atomic_fetch_add_explicit(&header->fence_arrived, 1, memory_order_acq_rel) + 1 == header->size) {
        atomic_store_explicit(&header->fence_arrived, 0, memory_order_relaxed); /* ordered by the epoch's release */
        atomic_store_explicit(&header->fence_epoch, epoch + 1, memory_order_release); /* pairs with the loop below */
        vbase_futex_wake(&header->fence_epoch, INT32_MAX);
        return OK;
    }
    while (atomic_load_explicit(&header->fence_epoch, memory_order_acquire) == epoch) {
        vbase_futex_wait(&header->fence_epoch, epoch, meanwhile ? MEANWHILE_NS : 0);
        if (meanwhile)
            meanwhile();
    }
    return OK;
}

int vboot_fence_meanwhile(struct boot_job *job, void (*meanwhile)(void))
{
    struct boot_own *own = own_of(job);
    if (job->size == 1)
        return OK;
    TRACE("fence");
    if (job->kind == BOOT_VIADUCT && job->local_count == job->size)
        return fence_here(own->handover.header, meanwhile);
    int error = wire_of(own);
    return error != OK ? error : vboot_pmi_barrier(&own->pmi, meanwhile);
}

int vboot_fence(struct boot_job *job)
{
    return vboot_fence_meanwhile(job, NULL);
}

/* Our launcher prints what lies in the seat; under any other launcher nobody would, so we do. */
void vboot_abort(struct boot_job *job, int status, const char *message)
{
    struct boot_own *own = own_of(job);
    int code = (status & 255) == 0 && status != 0 ? 1 : status & 255;
    if (own->seat) {
        snprintf(own->seat->message, sizeof own->seat->message, "%s", message ? message : "");
        if (own->pmi.fd >= 0)
            vboot_pmi_abort(&own->pmi, code);
        _exit(code);
    }
    if (message && *message)
        fprintf(stderr, "viaduct: rank %d on %s ends the job: %s\n", job->rank, job->host, message);
    if (own->pmi.fd >= 0) {
        vboot_pmi_abort(&own->pmi, code);
        struct pollfd gone = {.fd = own->pmi.fd};
        poll(&gone, 1, ABORT_PATIENCE_MS); /* the launcher kills us, or hangs up */
    }
    _exit(code);
}
