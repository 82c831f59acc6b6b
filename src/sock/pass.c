/* Connections in messages; see pass.h. The family has a list of what is under way, found again by the cookie of the
 * socket. A message may be lost, or be taken by another program. So the oldest place is used anew, and the connection
 * that was in it is uncounted. */
#include "sock/pass.h"
#include "base/atomic.h"
#include "sock/file.h"
#include "sock/real.h"
#include "sock/stream.h"
#include "sock/tcp.h"

#include <errno.h>
#include <string.h>

static uint32_t number_of(uint64_t what) { return (uint32_t)what; }

/* True: FILE is held by a message from now on. Under link->receive, so that it does not join meanwhile. */
static bool pass_enter(struct sock_file *file, uint64_t cookie)
{
    uint32_t count = sock_pass_next(), place = count % SOCK_PASSES, mark = sock_mark_of_pass(place);
    struct sock_pass *pass = sock_pass_at(place);
    uint64_t old = atomic_exchange(&pass->what, SOCK_PASS_BUSY);
    if (old == SOCK_PASS_BUSY)
        return false; /* another thread is changing it */
    if (old) {
        struct sock_link *link = sock_link_at(number_of(old));
        atomic_store(&link->holders.uncounted, true); /* it cannot join: the message holds it */
        sock_link_drop(link, mark);
    }
    sock_holders_add(&file->link->holders, mark);
    atomic_store(&pass->cookie, cookie);
    atomic_store(&pass->what, (uint64_t)count << 32 | (uint64_t)(file - sock_files));
    return true;
}

/* Only one that was never joined: another process has nothing of its memory. */
static bool is_passed(struct sock_file *file)
{
    struct sock_link *link = file->link;
    uint64_t cookie = sock_tcp_cookie(sock_fd(file));
    sock_lock(&link->receive);
    bool passed = cookie && atomic_load(&link->stage) == STAGE_PLAIN && pass_enter(file, cookie);
    sock_unlock(&link->receive);
    return passed;
}

static bool pass_one(int fd)
{
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    if (!file)
        return false;
    sock_change_begin();
    bool passed = is_passed(file);
    sock_change_end();
    if (!passed)
        sock_link_unknown(file->link);
    if (sock_joined(file)) {
        sock_stream_back_out(file);
        if (!sock_stream_back_in(file))
            sock_stream_break(file, "bytes lie unread and the connection is given away");
    }
    sock_drop(file);
    return passed;
}

/* One of the messages that hold it does so no more; which one makes no difference. */
static void back_one(int fd)
{
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    for (uint32_t i = 0; file && i < SOCK_PASSES; i++) {
        struct sock_pass *pass = sock_pass_at(i);
        uint64_t what = atomic_load(&pass->what);
        if (what == SOCK_PASS_BUSY || number_of(what) != (uint32_t)(file - sock_files) ||
            !atomic_compare_exchange_strong(&pass->what, &what, SOCK_PASS_BUSY))
            continue;
        sock_link_drop(file->link, sock_mark_of_pass(i));
        atomic_store(&pass->what, 0);
        break;
    }
    if (file)
        sock_drop(file);
}

static struct base_lock adopting;

/* FD is a connection of the family: this process has it already, or from now on. False: nobody knows. */
static bool adopt(int fd, uint32_t number)
{
    struct sock_link *link = sock_link_at(number);
    base_lock(&adopting);
    struct sock_file *file = sock_hold_number(number);
    /* an entry without a file: another thread is closing the last descriptor */
    if (!file && atomic_load(&link->stage) == STAGE_PLAIN && !sock_holders_have(&link->holders, sock_pid())) {
        file = sock_file_adopt(number);
        sock_holders_add(&link->holders, sock_pid());
    }
    if (file) {
        sock_file_add(fd, file);
        sock_drop(file);
    }
    base_unlock(&adopting);
    return file;
}

static void take_one(int fd, bool looked, uint32_t freezes)
{
    uint64_t cookie = sock_tcp_cookie(fd);
    for (uint32_t i = 0; cookie && i < SOCK_PASSES; i++) {
        struct sock_pass *pass = sock_pass_at(i);
        uint64_t what = atomic_load(&pass->what);
        if (!what || what == SOCK_PASS_BUSY || atomic_load(&pass->cookie) != cookie ||
            !atomic_compare_exchange_strong(&pass->what, &what, SOCK_PASS_BUSY))
            continue;
        struct sock_link *link = sock_link_at(number_of(what));
        if (looked || freezes != sock_freezes() || !adopt(fd, number_of(what)))
            sock_link_unknown(link);
        if (!looked) /* else it is there to be taken once more */
            sock_link_drop(link, sock_mark_of_pass(i));
        atomic_store(&pass->what, looked ? what : 0);
        return;
    }
}

/* The descriptors of a message, one by one. */
struct walk {
    const struct msghdr *message;
    struct cmsghdr *head;
    size_t next;
};
/* -1: no more. (A message that is sent may name what is no descriptor; the kernel refuses it.) */
static int walk_next(struct walk *walk)
{
    int fd = -1;
    while (fd < 0 && walk->head) {
        bool rights = walk->head->cmsg_level == SOL_SOCKET && walk->head->cmsg_type == SCM_RIGHTS;
        if (rights && walk->head->cmsg_len >= CMSG_LEN((walk->next + 1) * sizeof(fd))) {
            memcpy(&fd, CMSG_DATA(walk->head) + walk->next++ * sizeof(fd), sizeof(fd));
        } else {
            walk->head = CMSG_NXTHDR((struct msghdr *)(uintptr_t)walk->message, walk->head);
            walk->next = 0;
        }
    }
    return fd;
}
static struct walk walk_begin(const struct msghdr *message)
{
    return (struct walk){message, message && message->msg_control ? CMSG_FIRSTHDR(message) : NULL, 0};
}

bool sock_pass_out(const struct msghdr *message)
{
    bool passed = false;
    if (sock_table_end() == 0)
        return false; /* there is no connection: the message is the kernel's alone */
    struct walk walk = walk_begin(message);
    for (int fd; walk.head && (fd = walk_next(&walk)) >= 0;)
        passed |= pass_one(fd);
    return passed;
}

void sock_pass_back(const struct msghdr *message)
{
    struct walk walk = walk_begin(message);
    int saved = errno;
    sock_change_begin();
    for (int fd; walk.head && (fd = walk_next(&walk)) >= 0;)
        back_one(fd);
    sock_change_end();
    errno = saved;
}

void sock_pass_in(const struct msghdr *message, bool looked, uint32_t freezes)
{
    struct walk walk = walk_begin(message);
    int saved = errno;
    if (likely(!walk.head || sock_passes() == 0))
        return;
    sock_change_begin();
    for (int fd; (fd = walk_next(&walk)) >= 0;)
        take_one(fd, looked, freezes);
    sock_change_end();
    errno = saved;
}
