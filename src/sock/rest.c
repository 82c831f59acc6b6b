/* The memory of unread bytes; see rest.h. The first pages are mapped: a lock, and for each entry how far it is filled
 * and read. The bytes are moved by system calls, so that a lack of memory is an error. */
#include "sock/rest.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/real.h"
#include "sock/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES    64u
#define ENTRY_SIZE (64ull << 20) /* more than a ring and a socket's buffer hold; most of it is never used */
#define HEAD_SIZE  65536u
#define PIECE      16384u
#define FILE_SIZE  (HEAD_SIZE + ENTRIES * ENTRY_SIZE)
#define MAGIC      0x3174736572637376ull /* "vscrest1" */

struct entry {
    uint64_t name; /* number of the entry, and how often it was used, times ENTRIES */
    uint64_t size, filled, read;
};

struct head {
    uint64_t magic;
    pthread_mutex_t lock;
    struct entry entry[ENTRIES];
};
_Static_assert(sizeof(struct head) <= HEAD_SIZE, "the entries outgrew their pages");

static struct head *head;
static int memory = -1;

bool sock_rest_there(void) { return head; }
int sock_rest_descriptor(void) { return memory; }

static struct head *head_map(int fd)
{
    struct head *mapped = mmap(NULL, HEAD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

bool sock_rest_open(void)
{
    struct head *made;
    int fd = head ? -1 : sock_memory_make("viaduct-rest", FILE_SIZE);
    if (fd < 0)
        return head;
    if (fallocate(fd, 0, 0, HEAD_SIZE) == 0 && (made = head_map(fd))) {
        sock_lock_make(&made->lock);
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

bool sock_rest_adopt(int fd)
{
    struct head *found = sock_memory_fits(fd, FILE_SIZE) ? head_map(fd) : NULL;
    if (!found)
        return false;
    if (found->magic != MAGIC || (memory = sock_own_keep(fd)) < 0) {
        munmap(found, HEAD_SIZE);
        return false;
    }
    head = found;
    return true;
}

static off_t entry_offset(const struct entry *entry) { return HEAD_SIZE + (off_t)((entry - head->entry) * ENTRY_SIZE); }

static void entry_free(struct entry *entry)
{
    *entry = (struct entry){.name = entry->name};
    (void)fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, entry_offset(entry), ENTRY_SIZE);
}

uint64_t sock_rest_begin(uint64_t size)
{
    uint64_t name = 0;
    if (!head || size == 0 || size > ENTRY_SIZE)
        return 0;
    sock_lock(&head->lock);
    for (unsigned i = 0; i < ENTRIES && !name; i++) {
        struct entry *entry = &head->entry[i];
        if (entry->size || fallocate(memory, 0, entry_offset(entry), (off_t)size) != 0)
            continue;
        name = (entry->name / ENTRIES + 1) * ENTRIES + i;
        *entry = (struct entry){.name = name, .size = size};
    }
    sock_unlock(&head->lock);
    return name;
}

/* Locked; NULL: the bytes with this name have been read. */
static struct entry *entry_of(uint64_t name)
{
    if (!head || !name)
        return NULL;
    struct entry *entry = &head->entry[name % ENTRIES];
    sock_lock(&head->lock);
    bool sound = entry->read <= entry->filled && entry->filled <= entry->size && entry->size <= ENTRY_SIZE;
    if (entry->name == name && sound)
        return entry;
    sock_unlock(&head->lock);
    return NULL;
}

bool sock_rest_add(uint64_t name, const void *data, size_t size)
{
    struct entry *entry = entry_of(name);
    if (!entry)
        return false;
    bool fits = size <= entry->size - entry->filled &&
                pwrite(memory, data, size, entry_offset(entry) + (off_t)entry->filled) == (ssize_t)size;
    if (fits)
        entry->filled += size;
    sock_unlock(&head->lock);
    return fits;
}

uint64_t sock_rest_left(uint64_t name)
{
    struct entry *entry = entry_of(name);
    uint64_t left = entry ? entry->filled - entry->read : 0;
    if (entry)
        sock_unlock(&head->lock);
    return left;
}

ssize_t sock_rest_read(uint64_t name, struct sock_pieces *to, int flags)
{
    struct entry *entry = entry_of(name);
    uint64_t at = entry ? entry->read : 0;
    char data[PIECE];
    ssize_t total = 0, n = 0;
    while (entry && to->count && at < entry->filled) {
        size_t size = entry->filled - at < PIECE ? (size_t)(entry->filled - at) : PIECE;
        n = pread(memory, data, size, entry_offset(entry) + (off_t)at);
        if (n <= 0)
            break;
        size = sock_pieces_copy(to, flags & MSG_TRUNC ? NULL : data, (size_t)n);
        at += size;
        total += (ssize_t)size;
    }
    int why = errno;
    if (entry && !(flags & MSG_PEEK)) {
        entry->read = at;
        if (at == entry->size)
            entry_free(entry);
    }
    if (entry)
        sock_unlock(&head->lock);
    return total || n >= 0 ? total : -why;
}

void sock_rest_drop(uint64_t name)
{
    struct entry *entry = entry_of(name);
    if (!entry)
        return;
    entry_free(entry);
    sock_unlock(&head->lock);
}
