/* Files: what is behind the descriptors of this process; see file.h. */
#include "sock/file.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/stream.h"
#include "sock/trial.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct sock_file sock_files[SOCK_FILES];

/* False: it is free, or being freed, or another thread was first. */
static bool count_one(struct sock_file *file)
{
    uint32_t users = atomic_load_explicit(&file->users, memory_order_relaxed);
    return likely(users != 0) && atomic_compare_exchange_strong(&file->users, &users, users + 1);
}

struct sock_file *sock_hold(int fd)
{
    while ((uint32_t)fd < SOCK_DESCRIPTORS) {
        uint32_t number = atomic_load_explicit(&sock_table[fd], memory_order_acquire);
        if (number == 0 || number >= SOCK_OWN)
            return NULL;
        struct sock_file *file = &sock_files[number];
        /* one that is not counted: the entry has gone by now. seq_cst: pairs with the exchange in sock_file_remove;
         * either it sees this user, or we see no entry */
        if (!count_one(file))
            continue;
        if (likely(atomic_load(&sock_table[fd]) == number))
            return file;
        sock_drop(file);
    }
    return NULL;
}

struct sock_file *sock_hold_number(uint32_t number)
{
    struct sock_file *file = &sock_files[number];
    while (atomic_load_explicit(&file->users, memory_order_relaxed) != 0)
        if (count_one(file))
            return file;
    return NULL;
}

static bool is_ours(int fd) { return fd >= 0 && sock_table_is_own(fd); }

/* What this process has of it. */
static void mine_leave(struct sock_file *file)
{
    if (is_ours(sock_fd(file)))
        sock_own_close(atomic_exchange(&file->fd, -1));
    if (file->mapping.words)
        sock_segment_leave((uint32_t)(file - sock_files), &file->mapping);
    if (file->peer)
        sock_peer_leave(file->peer);
    file->peer = NULL;
}

/* Nothing uses it any more: it is closed here, and whatever still has a descriptor of it is another process. */
static void file_end(struct sock_file *file)
{
    int saved = errno;
    sock_change_begin();
    if (atomic_load(&file->link->stage) == STAGE_JOINED)
        sock_stream_close(file);
    mine_leave(file);
    sock_link_leave(file->link);
    sock_change_end();
    errno = saved;
}

void sock_drop(struct sock_file *file)
{
    if (unlikely(atomic_fetch_sub(&file->users, 1) == 1))
        file_end(file);
}

int sock_file_another(const struct sock_file *file, int fd)
{
    for (int other = 0; other < sock_table_end(); other++)
        if (other != fd && atomic_load(&sock_table[other]) == (uint32_t)(file - sock_files))
            return other;
    return -1;
}

/* FD has left the table, and what is under way goes on by another descriptor. One that is found may leave, too: its
 * thread has cleared the entry, and looks at file->fd afterwards; here it is the other way round. */
static void fd_change(struct sock_file *file, int fd, bool closed)
{
    int other;
    sock_lock(&file->link->receive);
    sock_lock(&file->link->send);
    do {
        other = sock_file_another(file, fd);
        atomic_store(&file->fd, other >= 0 ? other : closed ? -1 : sock_own_copy(fd));
    } while (other >= 0 && atomic_load(&sock_table[other]) != (uint32_t)(file - sock_files));
    if (sock_fd(file) < 0)
        atomic_store(&file->link->shut_out, true);
    sock_unlock(&file->link->send);
    sock_unlock(&file->link->receive);
    sock_places_wake(); /* what is about to sleep on the old one */
}

void sock_file_close(int fd, struct sock_file *file)
{
    uint32_t mine = 1;
    if (!atomic_load(&file->descriptors) && atomic_compare_exchange_strong(&file->users, &mine, 0)) {
        file_end(file);
        return;
    }
    if (atomic_load(&file->fd) == fd)
        fd_change(file, fd, atomic_load(&file->link->stage) != STAGE_JOINED);
    sock_drop(file);
}

void sock_file_add(int fd, struct sock_file *file)
{
    int none = -1;
    if ((uint32_t)fd >= SOCK_DESCRIPTORS)
        return;
    atomic_fetch_add(&file->users, 1);
    atomic_fetch_add(&file->descriptors, 1);
    atomic_compare_exchange_strong(&file->fd, &none, fd);
    uint32_t old = sock_table_set(fd, (uint32_t)(file - sock_files));
    if (old && old < SOCK_OWN) { /* it was closed by a way that we do not see */
        struct sock_file *gone = &sock_files[old];
        atomic_fetch_sub(&gone->descriptors, 1);
        if (atomic_load(&gone->fd) == fd)
            fd_change(gone, fd, true);
        sock_drop(gone);
    }
}

bool sock_file_remove(int fd, struct sock_file *file)
{
    uint32_t number = (uint32_t)(file - sock_files);
    if (!atomic_compare_exchange_strong(&sock_table[fd], &number, 0))
        return false;
    bool last = atomic_fetch_sub(&file->descriptors, 1) == 1;
    sock_drop(file);
    return last;
}

bool sock_family_open(void)
{
    return likely(sock_family_is_there()) || (sock_policy.on && !sock_trial_forbids() && sock_family_make());
}

struct sock_file *sock_file_open(enum sock_stage stage, bool active)
{
    if (!sock_family_open())
        return NULL;
    for (uint32_t i = 0, number = sock_link_hint(); i < SOCK_FILES; i++, number++) {
        if (number >= SOCK_OWN) {
            number = 1;
            sock_family_sweep(); /* once a round: what nobody closed */
        }
        struct sock_file *file = &sock_files[number];
        struct sock_link *link = NULL;
        /* acquire: pairs with the last sock_drop; its thread has done with the file */
        if (number != 0 && atomic_load_explicit(&file->users, memory_order_acquire) == 0)
            link = sock_link_take(number, stage, active);
        if (!link)
            continue;
        memset(&file->descriptors, 0, sizeof(*file) - offsetof(struct sock_file, descriptors));
        file->link = link;
        file->fd = file->told_place = -1;
        atomic_store(&file->users, 1); /* last: a thread that has read the number before counts itself from here on */
        return file;
    }
    return NULL;
}

struct sock_file *sock_file_adopt(uint32_t number)
{
    struct sock_file *file = &sock_files[number];
    *file = (struct sock_file){.users = 1, .link = sock_link_at(number), .fd = -1, .told_place = -1};
    return file;
}

uint32_t sock_family_fork(void)
{
    uint32_t mark = sock_mark_make();
    bool joined = false;
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        if (!atomic_load(&sock_files[i].descriptors))
            continue;
        joined |= atomic_load(&sock_link_at(i)->stage) == STAGE_JOINED;
        sock_holders_add(&sock_link_at(i)->holders, mark);
        sock_files[i].mark = mark;
    }
    for (uint32_t i = 1; i < sock_sets_end(); i++)
        if (sock_holders_have(&sock_set_at(i)->holders, sock_pid()))
            sock_holders_add(&sock_set_at(i)->holders, mark);
    if (joined)
        (void)sock_rest_open(); /* for a child that calls exec; without it that one may find bytes missing */
    sock_places_wake(); /* what waits as the only holder is no longer that */
    return mark;
}

/* By the child, and by the parent, in whatever order: one of them may be killed before. */
void sock_family_made(uint32_t mark, uint32_t child)
{
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_link *link = sock_files[i].mark == mark ? sock_link_at(i) : NULL;
        if (link && child)
            sock_holders_rename(&link->holders, mark, child);
        else if (link && sock_holders_leave(&link->holders, mark))
            atomic_store(&link->stage, STAGE_FREE);
    }
    for (uint32_t i = 1; i < sock_sets_end(); i++) {
        struct sock_holders *holders = &sock_set_at(i)->holders;
        if (child)
            sock_holders_rename(holders, mark, child);
        else if (sock_holders_leave(holders, mark))
            sock_set_free(i);
    }
}

/* Calls that other threads of the parent had under way are not calls of the child, nor are its places. */
void sock_family_child(uint32_t mark)
{
    sock_own_pid = (uint32_t)getpid();
    sock_family_made(mark, sock_pid());
    sock_board_child();
    for (uint32_t i = 1; i < sock_link_end(); i++) {
        struct sock_file *file = &sock_files[i];
        if (!atomic_load(&file->users) && !file->mapping.words && !is_ours(sock_fd(file)))
            continue; /* nor is its page copied */
        file->told_place = -1;
        atomic_store(&file->users, atomic_load(&file->descriptors));
        if (!atomic_load(&file->descriptors))
            mine_leave(file); /* a call of the parent goes on with it */
    }
}
