/* Files: what is behind the descriptors of this process; see file.h. */
#include "sock/file.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/rest.h"
#include "sock/trial.h"

#include <sys/syscall.h>
#include <unistd.h>
struct sock_file sock_files[SOCK_FILES];

struct sock_file *sock_hold(int fd)
{
    while ((uint32_t)fd < SOCK_DESCRIPTORS) {
        uint32_t number = atomic_load_explicit(&sock_table[fd], memory_order_acquire);
        if (number == 0 || number >= SOCK_OWN)
            return NULL;
        struct sock_file *file = &sock_files[number];
        /* one that is free, or being freed, is not held: the entry has gone by now. seq_cst: pairs with the exchange in
         * sock_file_remove; either it sees this user, or we see no entry */
        uint32_t users = atomic_load_explicit(&file->users, memory_order_relaxed);
        if (unlikely(users == 0) || !atomic_compare_exchange_strong(&file->users, &users, users + 1))
            continue;
        if (likely(atomic_load(&sock_table[fd]) == number))
            return file;
        sock_drop(file);
    }
    return NULL;
}

void sock_drop(struct sock_file *file)
{
    if (atomic_fetch_sub(&file->users, 1) != 1)
        return;
    if (file->mapping.words)
        sock_segment_leave((uint32_t)(file - sock_files), &file->mapping);
    if (file->peer)
        sock_peer_leave(file->peer);
    file->peer = NULL;
    sock_link_leave(file->link);
}

void sock_file_add(int fd, struct sock_file *file)
{
    if ((uint32_t)fd >= SOCK_DESCRIPTORS)
        return;
    atomic_fetch_add(&file->users, 1);
    atomic_fetch_add(&file->descriptors, 1);
    uint32_t old = sock_table_set(fd, (uint32_t)(file - sock_files));
    if (old && old < SOCK_OWN) { /* it was closed by a way that we do not see */
        struct sock_file *gone = &sock_files[old];
        atomic_fetch_sub(&gone->descriptors, 1);
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
    uint32_t start;
    if (!sock_family_open())
        return NULL;
    start = sock_link_hint();
    for (uint32_t i = 0; i < SOCK_FILES; i++) {
        uint32_t number = (start + i) % SOCK_FILES;
        struct sock_file *file = &sock_files[number];
        struct sock_link *link = NULL;
        if (number != 0 && number != SOCK_OWN && atomic_load_explicit(&file->users, memory_order_relaxed) == 0)
            link = sock_link_take(number, stage, active);
        if (!link)
            continue;
        *file = (struct sock_file){.users = 1, .link = link, .told_place = -1};
        return file;
    }
    return NULL;
}
uint32_t sock_family_fork(void)
{
    uint32_t high = sock_link_end();
    uint32_t mark = SOCK_FORKING | (uint32_t)sock_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
    bool joined = false;
    for (uint32_t i = 1; i < high; i++) {
        if (!atomic_load(&sock_files[i].descriptors))
            continue;
        joined |= atomic_load(&sock_link_at(i)->stage) == STAGE_JOINED;
        sock_link_hold(sock_link_at(i), mark);
    }
    if (joined)
        (void)sock_rest_open(); /* for a child that calls exec; without it that one may find bytes missing */
    sock_places_wake(); /* what waits as the only holder is no longer that */
    return mark;
}

static void marks_replace(uint32_t mark, uint32_t by)
{
    uint32_t high = sock_link_end();
    for (uint32_t i = 1; i < high; i++)
        if (atomic_load(&sock_link_at(i)->stage) != STAGE_FREE)
            sock_link_rename(sock_link_at(i), mark, by);
}

void sock_family_failed(uint32_t mark) { marks_replace(mark, 0); }

/* Calls that other threads of the parent had under way are not calls of the child, nor are its places. */
void sock_family_child(uint32_t mark)
{
    uint32_t high = sock_link_end();
    sock_own_pid = (uint32_t)getpid();
    marks_replace(mark, sock_pid());
    for (uint32_t i = 1; i < high; i++) {
        atomic_store(&sock_files[i].users, atomic_load(&sock_files[i].descriptors));
        sock_files[i].told_place = -1;
    }
    sock_board_child();
}
