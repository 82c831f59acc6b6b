/* The memory of unread bytes; see rest.h. The first pages are mapped: for each entry how far it is filled and read.
 * There is no lock, since a program that inherited the memory could leave it locked: a reader copies bytes, then takes
 * them by one compare-and-swap. The bytes are moved by system calls, so that a lack of memory is an error. These go
 * past libc, where a thread could be cancelled in them: the caller has a lock, or a fork is under way. */
#include "sock/rest.h"
#include "base/memory.h"
#include "sock/real.h"
#include "sock/segment.h"
#include "sock/table.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES    64u
#define ENTRY_SIZE (64u << 20) /* more than a ring and a socket's buffer hold; most of it is never used */
#define HEAD_SIZE  65536u
#define PIECE      16384u
#define TRIES      1000 /* that others spoil: somebody does so who is not to */
#define FILE_SIZE  (HEAD_SIZE + (uint64_t)ENTRIES * ENTRY_SIZE)
#define MAGIC      0x3274736572637376ull /* "vscrest2" */

struct entry {
    _Atomic uint32_t size;   /* 0: free */
    _Atomic uint32_t filled; /* by the one process that has begun it */
    _Atomic uint64_t state;  /* how often it was used, in the upper half; bytes read */
};

struct head {
    uint64_t magic;
    struct entry entry[ENTRIES];
};
_Static_assert(sizeof(struct head) <= HEAD_SIZE, "the entries outgrew their pages");

static struct head *head;
static int memory = -1;

bool sock_rest_there(void) { return head; }
int sock_rest_descriptor(void) { return memory; }

static bool room_make(int fd, off_t at, uint64_t size)
{
    return sock_real.syscall(SYS_fallocate, fd, 0, at, (long)size, 0, 0) == 0;
}

static struct head *head_map(int fd)
{
    struct head *mapped = mmap(NULL, HEAD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

bool sock_rest_open(void)
{
    struct head *made;
    int fd;
    if (head || vbase_memory_make("viaduct-rest", FILE_SIZE, F_SEAL_SEAL, &fd) != OK)
        return head;
    if (room_make(fd, 0, HEAD_SIZE) && (made = head_map(fd))) {
        made->magic = MAGIC;
        if ((memory = sock_own_keep(fd)) >= 0)
            head = made;
        else
            munmap(made, HEAD_SIZE);
    } else {
        sock_real.close(fd);
    }
    return head;
}

void sock_rest_forget(void)
{
    if (!head)
        return;
    munmap(head, HEAD_SIZE);
    sock_own_close(memory);
    head = NULL;
    memory = -1;
}

bool sock_rest_adopt(int fd)
{
    struct head *found = vbase_memory_size(fd) == FILE_SIZE ? head_map(fd) : NULL;
    if (!found)
        return false;
    if (found->magic != MAGIC || (memory = sock_own_keep(fd)) < 0) {
        munmap(found, HEAD_SIZE);
        return false;
    }
    head = found;
    return true;
}

static off_t entry_offset(const struct entry *entry)
{
    return HEAD_SIZE + (off_t)(entry - head->entry) * ENTRY_SIZE;
}

/* An entry, and what is known of it at one moment. Its name is the number of its uses times ENTRIES, and its own. */
struct view {
    struct entry *entry;
    uint64_t state;
    uint32_t read, filled, size;
};

/* False: the bytes with this name have been read, or nothing there makes sense. */
static bool view_of(uint64_t name, struct view *view)
{
    if (!head || !name)
        return false;
    view->entry = &head->entry[name % ENTRIES];
    view->state = atomic_load(&view->entry->state);
    view->read = (uint32_t)view->state;
    view->filled = atomic_load(&view->entry->filled);
    view->size = atomic_load(&view->entry->size);
    return view->state >> 32 == name / ENTRIES && view->read <= view->filled && view->filled <= view->size &&
           view->size <= ENTRY_SIZE;
}

/* The bytes up to READ have been taken; false: another process was faster. */
static bool view_take(struct view *view, uint32_t read)
{
    struct entry *entry = view->entry;
    if (!atomic_compare_exchange_strong(&entry->state, &view->state, (view->state >> 32 << 32) | read))
        return false;
    if (read == view->size) {
        (void)sock_real.syscall(SYS_fallocate, memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, entry_offset(entry),
                                ENTRY_SIZE, 0, 0);
        atomic_store(&entry->filled, 0);
        atomic_store(&entry->size, 0);
    }
    return true;
}

uint64_t sock_rest_begin(uint64_t size)
{
    for (unsigned i = 0; head && size && size <= ENTRY_SIZE && i < ENTRIES; i++) {
        struct entry *entry = &head->entry[i];
        uint32_t free = 0;
        if (!atomic_compare_exchange_strong(&entry->size, &free, (uint32_t)size))
            continue;
        if (room_make(memory, entry_offset(entry), size)) {
            uint64_t uses = (uint32_t)((atomic_load(&entry->state) >> 32) + 1);
            atomic_store(&entry->state, uses << 32);
            return uses * ENTRIES + i;
        }
        atomic_store(&entry->size, 0);
    }
    return 0;
}

bool sock_rest_add(uint64_t name, const void *data, size_t size)
{
    struct view view;
    if (!view_of(name, &view) || size > view.size - view.filled ||
        sock_real.syscall(SYS_pwrite64, memory, (long)data, (long)size,
                          entry_offset(view.entry) + (off_t)view.filled, 0, 0) != (long)size)
        return false;
    atomic_store(&view.entry->filled, view.filled + (uint32_t)size);
    return true;
}

uint64_t sock_rest_left(uint64_t name)
{
    struct view view;
    return view_of(name, &view) ? view.filled - view.read : 0;
}

/* What lies there, as far as the pieces go: bytes, -errno. */
static ssize_t view_copy(const struct view *view, struct sock_pieces *to, bool drop)
{
    char data[PIECE];
    uint32_t at = view->read;
    while (to->count && at < view->filled) {
        uint32_t size = view->filled - at < PIECE ? view->filled - at : PIECE;
        ssize_t n = sock_real.syscall(SYS_pread64, memory, (long)data, size,
                                      entry_offset(view->entry) + (off_t)at, 0, 0);
        if (n <= 0)
            return at > view->read || n == 0 ? (ssize_t)(at - view->read) : -errno;
        at += (uint32_t)sock_pieces_copy(to, drop ? NULL : data, (size_t)n);
    }
    return (ssize_t)(at - view->read);
}

ssize_t sock_rest_read(uint64_t name, struct sock_pieces *to, int flags)
{
    struct view view;
    for (int i = 0; i < TRIES && view_of(name, &view); i++) {
        struct sock_pieces copy = *to;
        ssize_t n = view_copy(&view, &copy, flags & MSG_TRUNC);
        if (n > 0 && !(flags & MSG_PEEK) && !view_take(&view, view.read + (uint32_t)n))
            continue;
        *to = copy;
        return n;
    }
    return head && sock_rest_left(name) ? -EIO : 0;
}

void sock_rest_drop(uint64_t name)
{
    struct view view;
    for (int i = 0; i < TRIES && view_of(name, &view) && !view_take(&view, view.size); i++)
        ;
}
