/* A new program knows nothing of rings: connections that it inherits go back to TCP first. Bytes that lie unread in a
 * ring go to memory that it inherits as well (rest.h), if it will have the library. A variable of its environment says
 * where: the descriptor of that memory, and for each connection the cookie of its socket and the name of what is left.
 *
 * Where it will not have the library, a connection with unread bytes is reset. One that other processes hold stays as
 * it is then: a child that calls exec was made for something else, most of the times. */
#include "sock/inherit.h"
#include "base/log.h"
#include "base/settings.h"
#include "sock/policy.h"
#include "sock/program.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/segment.h"
#include "sock/stdio.h"
#include "sock/step.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define VARIABLE    "_VIADUCT_SOCK_REST" /* no setting: those begin otherwise */
#define TEXT        4096  /* the variable */
#define ONE         40    /* what it says of a connection */
#define DESCRIPTORS 65536 /* that are looked at for the socket of a connection */

struct inheritance {
    const char *path;
    char *const *envp;
    enum sock_beginning how;
    bool asked, library; /* the program will have it */
    int length;
    char text[TEXT];
};

/* ALONE: no process but this one holds the connection, so that none needs memory which it does not have. */
static bool rest_leave(struct inheritance *all, struct sock_file *file, bool alone)
{
    if (!all->asked)
        all->library = sock_policy.on && sock_program_has_library(all->path, all->envp);
    all->asked = true;
    if (!all->library || all->length + ONE > TEXT)
        return false;
    bool there = sock_rest_there() || (alone && sock_rest_open());
    if (!there || !sock_stream_leave_rest(file))
        return false;
    if (all->length == 0)
        all->length = sprintf(all->text, VARIABLE "=%d", sock_rest_descriptor());
    all->length += sprintf(all->text + all->length, ",%llx:%llx", (unsigned long long)sock_tcp_cookie(sock_fd(file)),
                           (unsigned long long)atomic_load(&file->link->rest));
    return true;
}

/* By number: one bit for each that the program has ever named to libc. What is in its list of actions only libc knows,
 * and a number that is marked without need costs no more than the way back to TCP. */
static _Atomic uint64_t copied[SOCK_DESCRIPTORS / 64];

void sock_inherit_copied(int fd)
{
    if ((uint32_t)fd < SOCK_DESCRIPTORS)
        atomic_fetch_or(&copied[fd / 64], 1ull << (fd % 64));
}

static bool is_left(const struct inheritance *all, int fd)
{
    bool may_be_copied = all->how == SOCK_CHILD_COPIES && atomic_load(&copied[fd / 64]) & 1ull << (fd % 64);
    return may_be_copied || !(sock_real.fcntl(fd, F_GETFD, 0) & FD_CLOEXEC);
}

/* Which processes have the connection is not known from now on, unless it is this one alone. That is said before the
 * look whether it is joined: another thread may be about to join it, and does not do so any more. */
static void leave_one(struct inheritance *all, struct sock_file *file, int fd)
{
    bool replaces = all->how == SOCK_REPLACES;
    if (!is_left(all, fd))
        return;
    bool alone = sock_link_alone(file->link);
    if (!sock_joined(file) || !replaces) {
        SOCK_STEP(rest_looked);
        sock_link_unknown(file->link);
    }
    if (!sock_joined(file))
        return;
    sock_stream_back_out(file);
    if (!sock_stream_back_in(file) && !rest_leave(all, file, alone) && replaces && alone)
        sock_stream_break(file, "bytes lie unread and a new program begins");
}

/* The same environment with one variable more. */
static char *const *environment_with(char *const envp[], const char *text)
{
    size_t count = 0, at = 0;
    while (envp && envp[count])
        count++;
    char **made = sock_pages_take((count + 2) * sizeof(*made) + TEXT);
    if (!made)
        return NULL;
    made[at++] = memcpy(made + count + 2, text, strlen(text) + 1);
    for (size_t i = 0; i < count; i++)
        made[at++] = envp[i];
    return made;
}

static void memory_keep(bool keep)
{
    (void)sock_real.fcntl(sock_rest_descriptor(), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

char *const *sock_inherit_begin(const char *path, char *const envp[], enum sock_beginning how)
{
    struct inheritance all = {.path = path, .envp = envp, .how = how};
    char *const *given = NULL;
    int saved = errno;
    sock_unseen_begin(); /* seq_cst: what comes into the table behind our look is uncounted by its own thread */
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
    SOCK_STEP(rest_told);
    errno = saved;
    return given ? given : envp;
}

void sock_inherit_end(char *const given[], char *const envp[])
{
    int saved = errno;
    sock_unseen_end();
    if (given != envp) {
        memory_keep(false);
        sock_pages_leave((void *)(uintptr_t)given);
    }
    errno = saved;
}

/* A connection of which nothing is left but what lies in the memory, and TCP. */
static struct sock_file *take_one(int fd, uint64_t rest)
{
    static const uint64_t unknown[2];
    struct sock_file *file = sock_file_open(STAGE_PLAIN, false);
    int segment = file ? sock_segment_make((uint32_t)(file - sock_files), unknown, &file->mapping) : -1;
    if (segment < 0) {
        if (file)
            sock_drop(file);
        return NULL;
    }
    sock_real.close(segment);
    struct sock_link *link = file->link;
    sock_link_unknown(link);
    sock_link_settings(link, fd);
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
        sock_file_add(fd, left->file);
        sock_stdio_begins(fd, left->file);
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
