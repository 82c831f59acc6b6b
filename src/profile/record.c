/* The page of this rank: finding it, and writing into it. Called by calls.c alone. The rank's own page is mapped and no
 * other. A child made by fork records nothing: the page is its parent's. */
#include "profile/record.h"
#include "profile/calls.h"
#include "profile/lock.h"
#include "base/atomic.h"
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
_Thread_local bool profile_inside;
_Thread_local struct profile_steps profile_steps;
struct profile_lock profile_lock;
uint32_t profile_ranks;

/* What is in the page, too: a number there may be overwritten, and is not read back to find a place by. */
static uint32_t room, events;
static uint64_t shortest;
static int own_rank;
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
}

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
    profile_all = room > 0;
    profile_ranks = header.ranks;
    return page;
}

static void page_look(void)
{
    int fd, seat;
    const char *text = variable();
    bool told = text && sscanf(text, "%d,%d,%d", &fd, &seat, &own_rank) == 3 && seat >= 0;
    struct profile_page *page = told ? page_take(fd, (uint32_t)seat) : NULL;
    if (!page)
        return;
    pthread_atfork(NULL, NULL, child_of_fork);
    profile_messages = !profile_handles_differ();
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

/* What the engine says of the job that begins, by rank 0. The library may have been loaded for a plug-in alone, where
 * the names of the process do not show it. */
void profile_summarize(void)
{
    void (*describe)(char *text, size_t size);
    struct profile_page *page = profile_page;
    void *engine = page && own_rank == 0 ? dlopen("libviaduct.so.0", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (engine && (*(void **)&describe = dlsym(engine, "vmsg_summary")))
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

uint64_t profile_enter_long(void)
{
    /* acquire: with profile_open's release */
    if (unlikely(!atomic_load_explicit(&profile_page, memory_order_acquire) && !profile_open()) || profile_inside)
        return 0;
    profile_inside = true;
    return clock_ticks();
}

void profile_record(enum profile_call call, uint64_t began)
{
    struct profile_page *page = atomic_load_explicit(&profile_page, memory_order_relaxed);
    if (unlikely(!page)) /* a callback has forked */
        return;
    uint64_t ended = began == PROFILE_UNTIMED ? 0 : clock_ticks(), spent = ended - began;
    struct profile_sum *sum = &page->call[call];
    bool locked = profile_lock_take(&profile_lock);
    profile_sum_count(sum);
    if (ended) {
        uint64_t all = profile_step_end(&profile_steps, began, ended);
        sum->ticks += all;
        page->ticks += all;
        if (spent > sum->most)
            sum->most = spent;
        if (unlikely(room))
            event_add(page, call, began, spent);
    }
    profile_lock_give(&profile_lock, locked);
}
