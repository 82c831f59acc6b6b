/* The page of this rank: finding it, and writing into it. Called by calls.c alone. The rank's own page is mapped and no
 * other. A child made by fork records nothing: the page is its parent's. */
#include "profile/record.h"
#include "profile/calls.h"
#include "profile/lock.h"
#include "base/atomic.h"
#include "base/counters.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct profile_page *_Atomic profile_page;
bool profile_messages;
bool profile_all;
_Thread_local struct profile_thread profile_thread;
struct base_counters *const *_Atomic profile_engine;
struct profile_lock profile_lock;
uint32_t profile_ranks, profile_direct;

/* What is in the page, too: a number there may be overwritten, and is not read back to find a place by. */
static uint32_t room, events;
static uint64_t shortest;
static uint64_t tick_rate;
static int own_rank;
static pthread_key_t at_end;   /* of a thread: its slice is given back */
static uint32_t slices_taken; /* a bit each; under the lock */
static atomic_int begun; /* of MPI_Init and sessions, those that have not ended */

extern char **environ;

/* Not getenv: bash has one of its own, which is not ready when a library that is preloaded asks. */
static const char *variable(void)
{
    size_t length = strlen(PROFILE_VARIABLE);
    for (char **at = environ; at && *at; at++)
        if (strncmp(*at, PROFILE_VARIABLE, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}

static void child_of_fork(void)
{
    profile_page = NULL;
    profile_thread.slice = NULL;
    profile_thread.type = 0;
    profile_step_forked(&profile_thread.steps);
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void slice_give(void *slice)
{
    struct profile_page *page = profile_page;
    bool locked = profile_lock_take(&profile_lock);
    if (page)
        slices_taken &= ~(1u << ((struct profile_slice *)slice - page->slice));
    profile_thread.slice = NULL;
    profile_thread.type = 0;
    profile_thread.steps.left &= INT32_MIN;
    profile_lock_give(&profile_lock, locked);
}

/* The last one is for threads that find no other. */
static COLD void slice_take(struct profile_page *page)
{
    bool locked = profile_lock_take(&profile_lock);
    uint32_t i = (uint32_t)__builtin_ctz(~slices_taken);
    bool own = i < PROFILE_SLICES - 1 && pthread_setspecific(at_end, &page->slice[i]) == 0;
    if (own) {
        slices_taken |= 1u << i;
        profile_thread.slice = &page->slice[i];
        profile_thread.direct = profile_direct;
    }
    uint32_t used = own ? i + 1 : PROFILE_SLICES;
    page->slices = used > page->slices ? used : page->slices;
    profile_lock_give(&profile_lock, locked);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* The page of SEAT in the file behind FD; NULL: that is none of ours, or another process has it. */
static struct profile_page *page_take(int fd, uint32_t seat)
{
    uint32_t none = 0;
    struct profile_header header;
    struct stat status;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header || header.magic != PROFILE_MAGIC ||
        header.calls != PROFILE_CALLS || seat >= header.seats || fstat(fd, &status) < 0 ||
        header.page_size < sizeof(struct profile_page) + header.room * sizeof(struct profile_event))
        return NULL;
    off_t at = (off_t)(sysconf(_SC_PAGESIZE) + (long)(seat * header.page_size));
    if (status.st_size < at + (off_t)header.page_size)
        return NULL;
    void *map = mmap(NULL, header.page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
    struct profile_page *page = map;
    if (map == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&page->pid, &none, (uint32_t)getpid())) {
        munmap(map, header.page_size);
        return NULL;
    }
    room = header.room;
    tick_rate = header.tick_rate;
    profile_all = room;
    profile_ranks = header.ranks;
    return page;
}

static void page_look(void)
{
    int fd, seat;
    const char *text = variable();
    bool told = text && sscanf(text, "%d,%d,%d", &fd, &seat, &own_rank) == 3 && seat >= 0;
    struct profile_page *page = told ? page_take(fd, (uint32_t)seat) : NULL;
    if (!page || pthread_key_create(&at_end, slice_give))
        return;
    pthread_atfork(NULL, NULL, child_of_fork);
    profile_messages = !profile_handles_differ();
    profile_direct = profile_messages && profile_ranks <= PROFILE_BLOCKS ? profile_ranks : 0;
    page->no_messages = !profile_messages;
    page->begun = clock_ticks();
    profile_page = page; /* release: with profile_enter's acquire */
}

/* The first thread that calls looks for it, others wait. */
struct profile_page *profile_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, page_look);
    return profile_page;
}

void profile_several(void)
{
    atomic_store_explicit(&profile_lock.used, true, memory_order_relaxed);
    atomic_store_explicit(&profile_engine, NULL, memory_order_relaxed);
}

void profile_begin(void)
{
    struct profile_page *page = profile_page;
    atomic_fetch_add(&begun, 1);
    if (page)
        page->ended = 0;
}

void profile_end(void)
{
    struct profile_page *page = profile_page;
    if (atomic_fetch_sub(&begun, 1) <= 1 && page)
        page->ended = clock_ticks();
}

#define COUNTER(name, class, group, unit, help) +1
enum { COUNTERS = 0
#include "base/counters.def"
};
#undef COUNTER

/* What the engine says of the job that begins, by rank 0, and its counters. The library may have been loaded for a
 * plug-in alone, where the names of the process do not show it. */
void profile_summarize(void)
{
    void (*describe)(char *text, size_t size);
    struct profile_page *page = profile_page;
    void *engine = page ? dlopen("libviaduct.so.0", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    struct base_counters *const *counters = engine ? dlsym(engine, "vbase_counters") : NULL;
    if (counters && (*counters)->version == COUNTERS && !profile_lock_wanted(&profile_lock))
        atomic_store_explicit(&profile_engine, counters, memory_order_relaxed);
    if (engine && own_rank == 0 && (*(void **)&describe = dlsym(engine, "vmsg_summary")))
        describe(page->summary, sizeof page->summary);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Where there is no room for more, the short ones are left out, until half of the room is free. */
static void events_thin(struct profile_page *page)
{
    while (events > room / 2) {
        uint32_t kept = 0;
        shortest = shortest ? 2 * shortest : 64;
        for (uint32_t i = 0; i < events; i++)
            if (page->event[i].ticks >= shortest)
                page->event[kept++] = page->event[i];
        events = kept;
    }
    page->shortest = shortest;
}

static void event_add(struct profile_page *page, enum profile_call call, uint64_t began, uint64_t spent)
{
    if (spent < shortest)
        return;
    page->event[events++] = (struct profile_event){began, spent, call};
    if (events >= room)
        events_thin(page);
    page->events = events;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

struct profile_entry profile_enter(enum profile_call call, enum profile_kind kind)
{
    struct profile_entry entry = {0};
    struct profile_thread *thread = &profile_thread;
    /* acquire: with profile_open's release */
    if (unlikely(!atomic_load_explicit(&profile_page, memory_order_acquire) && !profile_open()) ||
        !profile_step_enter(&thread->steps))
        return entry;
    if (unlikely(!thread->slice))
        slice_take(atomic_load_explicit(&profile_page, memory_order_relaxed));
    struct base_counters *const *engine =
        kind == PROFILE_WAITS ? atomic_load_explicit(&profile_engine, memory_order_relaxed) : NULL;
    if (engine) {
        entry.counters = *engine;
        entry.waited = entry.counters->waited;
    }
    entry.due = (kind == PROFILE_SHORT || engine) && thread->slice && !profile_all &&
                profile_step_due(&thread->steps) && thread->slice->call[call].count >= PROFILE_TIMED_FIRST;
    entry.began = clock_ticks();
    return entry;
}

static void slice_add(struct profile_slice *slice, enum profile_call call, uint64_t ticks, uint64_t longest)
{
    struct profile_sum *sum = &slice->call[call];
    profile_sum_count(sum);
    sum->ticks += ticks;
    slice->ticks += ticks;
    if (longest > sum->most)
        sum->most = longest;
}

static inline uint64_t ticks_of(uint64_t ns)
{
    return (uint64_t)((unsigned __int128)ns * tick_rate >> 32);
}

#define MUCH        (1 << 20) /* bytes in a step: to move them takes longer than reading the clock does */
#define MUCH_SINGLE 64        /* so many calls after it are timed */

static void steps_shorten(struct profile_thread *thread, const struct base_counters *counters)
{
    uint64_t bytes = counters->send_bytes + counters->recv_bytes;
    if (bytes - thread->bytes > MUCH)
        thread->steps.single = MUCH_SINGLE;
    thread->bytes = bytes;
}

void profile_record(enum profile_call call, const struct profile_entry *entry)
{
    struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_relaxed);
    struct profile_thread *thread = &profile_thread;
    if (unlikely(!page)) /* a callback has forked */
        return;
    uint64_t ended = clock_ticks(), spent = ended - entry->began, waited = 0;
    if (entry->counters) {
        waited = ticks_of(entry->counters->waited - entry->waited);
        waited = waited < spent ? waited : spent;
        steps_shorten(thread, entry->counters);
    }
    bool locked = (unlikely(!thread->slice) || unlikely(room)) && profile_lock_take(&profile_lock);
    profile_step_known(&thread->steps, waited);
    uint64_t stands_for = waited + profile_step_end(&thread->steps, entry->due, entry->began + waited, ended);
    slice_add(thread->slice ? thread->slice : &page->slice[PROFILE_SLICES - 1], call, stands_for, spent);
    if (unlikely(room))
        event_add(page, call, entry->began, spent);
    profile_lock_give(&profile_lock, locked);
}

void profile_record_wait(enum profile_call call, uint64_t waited_ns)
{
    uint64_t ticks = ticks_of(waited_ns);
    profile_step_known(&profile_thread.steps, ticks);
    slice_add(profile_thread.slice, call, ticks, ticks);
}
