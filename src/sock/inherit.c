/* A new program knows nothing of rings: connections that it inherits go back to TCP first. Bytes that lie unread in a
 * ring go to memory that it inherits as well (rest.h), if it will have the library. A variable of its environment says
 * where: the descriptor of that memory, and for each connection the cookie of its socket and the name of what is left.
 *
 * Where it will not have the library, a connection with unread bytes is reset. One that other processes hold stays as
 * it is then: a child that calls exec was made for something else, most of the times. */
#include "sock/inherit.h"
#include "base/log.h"
#include "base/settings.h"
#include "sock/link.h"
#include "sock/policy.h"
#include "sock/program.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/segment.h"
#include "sock/stream.h"
#include "sock/table.h"
#include "sock/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define VARIABLE    "_VIADUCT_SOCK_REST" /* no setting: those begin otherwise */
#define TEXT        4096  /* the variable */
#define ONE         40    /* what it says of a connection */
#define DESCRIPTORS 65536 /* that are looked at for the socket of a connection */

struct inheritance {
    const char *path;
    char *const *envp;
    bool replaces;
    bool asked, library; /* the program will have it */
    int length;
    char text[TEXT];
};

static bool rest_leave(struct inheritance *all, struct sock_file *file, int fd)
{
    if (!all->asked)
        all->library = sock_policy.on && sock_program_has_library(all->path, all->envp);
    all->asked = true;
    if (!all->library || all->length + ONE > TEXT)
        return false;
    bool there = sock_rest_there() || (sock_link_alone(file->link) && sock_rest_open());
    if (!there || !sock_stream_leave_rest(file, fd))
        return false;
    if (all->length == 0)
        all->length = sprintf(all->text, VARIABLE "=%d", sock_rest_descriptor());
    all->length += sprintf(all->text + all->length, ",%llx:%llx", (unsigned long long)sock_tcp_cookie(fd),
                           (unsigned long long)atomic_load(&file->link->rest));
    return true;
}

/* Who may have the connection is not known from now on, unless it is this process alone. */
static void leave_one(struct inheritance *all, struct sock_file *file, int fd)
{
    if (sock_real.fcntl(fd, F_GETFD, 0) & FD_CLOEXEC)
        return;
    if (sock_joined(file)) {
        sock_stream_back_out(file, fd);
        if (!sock_stream_back_in(file, fd) && !rest_leave(all, file, fd) && all->replaces &&
            sock_link_alone(file->link))
            sock_stream_break(file, fd, "bytes lie unread and a new program begins");
    }
    if (!sock_joined(file) || !all->replaces)
        sock_link_unknown(file->link);
}

/* The same environment with one variable more, in memory of its own: a child of fork may not be able to allocate. */
static char *const *environment_with(char *const envp[], const char *text)
{
    size_t count = 0, at = 0;
    while (envp && envp[count])
        count++;
    char **made = mmap(NULL, (count + 3) * sizeof(*made) + TEXT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    made[0] = (char *)((count + 3) * sizeof(*made) + TEXT); /* its size, in front of what is given away */
    memcpy(made + count + 3, text, strlen(text) + 1);
    made[++at] = (char *)(made + count + 3);
    for (size_t i = 0; i < count; i++)
        made[++at] = envp[i];
    return made + 1;
}

static void memory_keep(bool keep)
{
    (void)sock_real.fcntl(sock_rest_descriptor(), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

char *const *sock_inherit_begin(const char *path, char *const envp[], bool replaces)
{
    struct inheritance all = {.path = path, .envp = envp, .replaces = replaces};
    char *const *given = NULL;
    int saved = errno;
    for (int fd = 0; fd < sock_table_end(); fd++) {
        struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
        if (!file)
            continue;
        leave_one(&all, file, fd);
        sock_drop(file);
    }
    if (all.length && (given = environment_with(envp, all.text)))
        memory_keep(true);
    else if (all.length)
        LOG_WARN("no memory to tell a new program what lies unread in its connections: it will not see that");
    errno = saved;
    return given ? given : envp;
}

void sock_inherit_end(char *const given[], char *const envp[])
{
    int saved = errno;
    if (given != envp) {
        char **made = (char **)(uintptr_t)given - 1;
        memory_keep(false);
        munmap(made, (size_t)made[0]);
    }
    errno = saved;
}

/* A connection of which nothing is left but what lies in the memory, and TCP. */
static struct sock_file *take_one(int fd, uint64_t rest)
{
    static const uint64_t unknown[2];
    struct sock_file *file = sock_link_open(STAGE_PLAIN, false);
    int segment = file ? sock_segment_make((uint32_t)(file - sock_files), unknown, &file->mapping) : -1;
    if (segment < 0) {
        if (file)
            sock_drop(file);
        return NULL;
    }
    sock_real.close(segment);
    struct sock_link *link = file->link;
    sock_link_unknown(link);
    sock_tcp_settings(link, fd);
    atomic_store(&link->rest, rest);
    atomic_store(&link->strict_in, true);
    atomic_store(&link->in_phase, PHASE_REST);
    atomic_store(&link->out_phase, PHASE_BACK);
    atomic_store(&link->stage, STAGE_JOINED);
    return file;
}

/* What was left of one connection, which may have several descriptors here. */
struct left {
    uint64_t cookie, rest;
    struct sock_file *file; /* NULL: it is not taken yet */
};

static void descriptor_take(struct left *left, int fd, bool there)
{
    if (!left->file && there)
        left->file = take_one(fd, left->rest);
    if (left->file) {
        sock_table_add(fd, left->file);
    } else {
        LOG_WARN("descriptor %d: what was left unread cannot be reached: the connection is reset", fd);
        sock_tcp_reset(fd);
    }
}

static size_t text_read(const char *text, int *fd, struct left all[TEXT / 4])
{
    char *at;
    size_t count = 0;
    *fd = (int)strtol(text, &at, 10);
    while (*at == ',' && count < TEXT / 4) {
        uint64_t cookie = strtoull(at + 1, &at, 16);
        if (*at == ':' && cookie)
            all[count++] = (struct left){cookie, strtoull(at + 1, &at, 16), NULL};
    }
    return count;
}

void sock_inherit_take(void)
{
    struct left all[TEXT / 4];
    struct rlimit limit = {.rlim_cur = DESCRIPTORS};
    const char *text = vbase_environment(VARIABLE);
    int memory;
    if (!text)
        return;
    size_t count = text_read(text, &memory, all);
    (void)unsetenv(VARIABLE);
    bool there = sock_policy.on && sock_rest_adopt(memory);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = 0; fd < DESCRIPTORS && (rlim_t)fd < limit.rlim_cur; fd++) {
        uint64_t cookie = sock_tcp_cookie(fd);
        for (size_t i = 0; cookie && i < count; i++)
            if (all[i].cookie == cookie) {
                descriptor_take(&all[i], fd, there);
                break;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (all[i].file)
            sock_drop(all[i].file);
}
