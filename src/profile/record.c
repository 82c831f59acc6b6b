/* The page of this rank: finding it, and writing into it. Called by calls.c alone. The rank's own page is mapped and no
 * other. A child made by fork records nothing: the page is its parent's. */
#include "profile/record.h"
#include "profile/peers.h"
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

struct profile_page *profile_page;
bool profile_opened;
_Thread_local int profile_depth;
struct profile_lock profile_lock;
uint32_t profile_ranks;

static uint32_t room; /* as the header said: what others can write is not trusted twice */
static int own_rank;

extern char **environ;

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

/* The page of SEAT in the file behind FD; NULL: that is none of ours. */
static struct profile_page *page_map(int fd, uint32_t seat)
{
    struct profile_header header;
    struct stat status;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header || header.magic != PROFILE_MAGIC ||
        header.calls != PROFILE_CALLS || seat >= header.seats || fstat(fd, &status) < 0 ||
        header.page_size < sizeof(struct profile_page) + header.room * sizeof(struct profile_event))
        return NULL;
    off_t at = (off_t)(sysconf(_SC_PAGESIZE) + (long)(seat * header.page_size));
    if (status.st_size < at + (off_t)header.page_size)
        return NULL;
    void *page = mmap(NULL, header.page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
    room = header.room;
    profile_ranks = header.ranks;
    return page == MAP_FAILED ? NULL : page;
}

void profile_open(void)
{
    const char *text = variable();
    int fd, seat;
    uint32_t none = 0;
    bool told = text && sscanf(text, "%d,%d,%d", &fd, &seat, &own_rank) == 3 && seat >= 0;
    struct profile_page *page = told ? page_map(fd, (uint32_t)seat) : NULL;
    if (page && atomic_compare_exchange_strong(&page->pid, &none, (uint32_t)getpid())) {
        pthread_atfork(NULL, NULL, child_of_fork);
        page->begun = clock_ticks();
        profile_page = page;
    }
    profile_opened = true;
}

void profile_several(void)
{
    profile_lock.used = true;
}

void profile_end(void)
{
    if (profile_page)
        profile_page->ended = clock_ticks();
}

/* What the engine says of the job that begins, by rank 0. The library may have been loaded for a plug-in alone, where
 * the names of the process do not show it. */
void profile_summarize(void)
{
    void (*describe)(char *text, size_t size);
    void *engine = profile_page && own_rank == 0 ? dlopen("libviaduct.so.0", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (engine && (*(void **)&describe = dlsym(engine, "vmsg_summary")))
        describe(profile_page->summary, sizeof profile_page->summary);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Where there is no room for more, the short ones are left out, until half of the room is free. */
static void events_thin(struct profile_page *page)
{
    while (page->events > room / 2) {
        uint32_t kept = 0;
        page->shortest = page->shortest ? 2 * page->shortest : 64;
        for (uint32_t i = 0; i < page->events; i++)
            if (page->event[i].ticks >= page->shortest)
                page->event[kept++] = page->event[i];
        page->events = kept;
    }
}

void profile_record(enum profile_call call, uint64_t began, uint64_t ended)
{
    struct profile_page *page = profile_page;
    struct profile_sum *sum = &page->call[call];
    uint64_t spent = ended - began;
    profile_take(&profile_lock);
    sum->count++;
    sum->ticks += spent;
    if (spent > sum->most)
        sum->most = spent;
    page->calls++;
    page->ticks += spent;
    if (room && spent >= page->shortest) {
        page->event[page->events++] = (struct profile_event){began, spent, call};
        if (page->events >= room)
            events_thin(page);
    }
    profile_give(&profile_lock);
}
