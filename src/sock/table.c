/* The table of descriptors; see table.h. */
#include "sock/table.h"
#include "sock/link.h"
#include "sock/place.h"

_Atomic uint32_t sock_table[SOCK_DESCRIPTORS];
struct sock_file sock_files[SOCK_FILES];
static _Atomic int end; /* of what was ever used, but for the preload's own */
static _Atomic int own_begin = SOCK_DESCRIPTORS, own_end;

int sock_table_end(void) { return atomic_load_explicit(&end, memory_order_relaxed); }

struct sock_file *sock_hold(int fd)
{
    while ((uint32_t)fd < SOCK_DESCRIPTORS) {
        uint32_t number = atomic_load_explicit(&sock_table[fd], memory_order_acquire);
        if (number == 0 || number >= SOCK_OWN)
            return NULL;
        struct sock_file *file = &sock_files[number];
        /* one that is free, or being freed, is not held: the entry has gone by now. seq_cst: pairs with the exchange in
         * sock_table_remove; either it sees this user, or we see no entry */
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

static void raise_to(_Atomic int *bound, int value)
{
    int seen = atomic_load_explicit(bound, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak(bound, &seen, value))
        ;
}

void sock_table_own(int fd)
{
    int seen = atomic_load(&own_begin);
    raise_to(&own_end, fd + 1);
    while (seen > fd && !atomic_compare_exchange_weak(&own_begin, &seen, fd))
        ;
    atomic_store(&sock_table[fd], SOCK_OWN);
}

int sock_table_own_next(int from)
{
    int begin = atomic_load(&own_begin), last = atomic_load(&own_end);
    for (int fd = from > begin ? from : begin; fd < last; fd++)
        if (sock_table_is_own(fd))
            return fd;
    return -1;
}

void sock_table_set(int fd, uint32_t entry)
{
    if ((uint32_t)fd >= SOCK_DESCRIPTORS)
        return;
    raise_to(&end, fd + 1);
    atomic_store(&sock_table[fd], entry);
}

void sock_table_disown(int fd)
{
    if ((uint32_t)fd < SOCK_DESCRIPTORS)
        atomic_store(&sock_table[fd], 0);
}

bool sock_table_is_own(int fd) { return sock_known(fd) && atomic_load(&sock_table[fd]) == SOCK_OWN; }

void sock_table_add(int fd, struct sock_file *file)
{
    if ((uint32_t)fd >= SOCK_DESCRIPTORS)
        return;
    atomic_fetch_add(&file->users, 1);
    atomic_fetch_add(&file->descriptors, 1);
    raise_to(&end, fd + 1);
    uint32_t old = atomic_exchange(&sock_table[fd], (uint32_t)(file - sock_files));
    if (old && old < SOCK_OWN) { /* it was closed by a way that we do not see */
        struct sock_file *gone = &sock_files[old];
        atomic_fetch_sub(&gone->descriptors, 1);
        sock_drop(gone);
    }
}

bool sock_table_remove(int fd, struct sock_file *file)
{
    uint32_t number = (uint32_t)(file - sock_files);
    if (!atomic_compare_exchange_strong(&sock_table[fd], &number, 0))
        return false;
    bool last = atomic_fetch_sub(&file->descriptors, 1) == 1;
    sock_drop(file);
    return last;
}

struct sock_file *sock_file_open(uint32_t number, struct sock_link *link)
{
    struct sock_file *file = &sock_files[number];
    *file = (struct sock_file){.users = 1, .link = link, .told_place = -1};
    return file;
}
