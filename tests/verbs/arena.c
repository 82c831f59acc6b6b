/* See arena.h. Blocks have sizes that double; a free one is kept for its size. */
#include "arena.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define SIZE (1ul << 30)

struct block {
    struct block *next;
    uint64_t class;
};
static struct arena {
    uint64_t made;
    pthread_mutex_t lock;
    uint32_t bells;
    uint64_t id;
    size_t used;
    struct block *free[40];
} *const arena = ARENA_ADDRESS;

__attribute__((constructor(101))) static void open_memory(void)
{
    const char *path = getenv("DOUBLE_MEMORY");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    pthread_mutexattr_t kind;
    if (path && (fd < 0 || flock(fd, LOCK_EX) < 0 || ftruncate(fd, SIZE) < 0)) {
        perror("double: DOUBLE_MEMORY");
        _exit(1);
    }
    if (mmap(arena, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE | (path ? 0 : MAP_ANONYMOUS), fd, 0) !=
        arena) {
        perror("double: memory that is shared");
        _exit(1);
    }
    if (!arena->made) {
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&arena->lock, &kind);
        if (getrandom(&arena->id, sizeof arena->id, 0) != sizeof arena->id)
            _exit(1);
        arena->used = 4096 + ARENA_FIRST;
        arena->made = 1;
    }
    if (fd >= 0) {
        flock(fd, LOCK_UN); /* closing would not do it: the mapping holds the file */
        close(fd);
    }
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

void *arena_first(void) { return (char *)ARENA_ADDRESS + 4096; }

void arena_lock(void)
{
    if (pthread_mutex_lock(&arena->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&arena->lock);
}
void arena_unlock(void) { pthread_mutex_unlock(&arena->lock); }

void *arena_take(size_t size)
{
    unsigned class = 6;
    while ((1ul << class) < size + sizeof(struct block))
        class++;
    struct block *block = arena->free[class];
    if (block) {
        arena->free[class] = block->next;
    } else {
        if (arena->used + (1ul << class) > SIZE)
            abort();
        block = (void *)((char *)arena + arena->used);
        arena->used += 1ul << class;
    }
    memset(block, 0, 1ul << class);
    block->class = class;
    return block + 1;
}

void arena_give(void *memory)
{
    struct block *block = memory;
    if (!memory)
        return;
    block--;
    block->next = arena->free[block->class];
    arena->free[block->class] = block;
}

static bool moved(ssize_t count, size_t length) { return count == (ssize_t)length; }

bool arena_read(pid_t pid, const void *from, void *row, size_t length)
{
    struct iovec here = {row, length}, there = {(void *)(uintptr_t)from, length};
    if (pid == getpid())
        return memcpy(row, from, length);
    return length == 0 || moved(process_vm_readv(pid, &here, 1, &there, 1, 0), length);
}

bool arena_write(pid_t pid, void *to, const void *row, size_t length)
{
    struct iovec here = {(void *)(uintptr_t)row, length}, there = {to, length};
    if (pid == getpid())
        return memcpy(to, row, length);
    return length == 0 || moved(process_vm_writev(pid, &here, 1, &there, 1, 0), length);
}

/* ---- bells: datagram sockets with abstract names ------------------------------------------------------------------ */

static socklen_t name_of(const struct arena_bell *bell, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "viaduct-double-%llx-%u", (unsigned long long)arena->id, bell->name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int arena_bell_make(struct arena_bell *bell)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bell->name = ++arena->bells;
    if (fd < 0 || bind(fd, (struct sockaddr *)&name, name_of(bell, &name)) < 0)
        perror("double: a bell");
    return fd;
}

void arena_bell_ring(const struct arena_bell *bell)
{
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = name_of(bell, &name);
    (void)!sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&name, length); /* who is gone hears nothing */
    close(fd);
}
