/* What comes by a rank's seat at the listener of its node: the note, and then greetings with a descriptor beside them. A note that
 * is believed has the magic and a port; a greeting that is taken is whole and has a descriptor, and what is not taken leaves
 * none open. */
#include "fuzz.h"
#include "check.h"
#include "vi/call/call.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The lowest number that is free: it stays the same where nothing is left open. */
static int lowest(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* Any bytes, or the beginning of what should come with some of them changed; with as many descriptors as two. */
static void send_any(int fd, const void *good, size_t size)
{
    uint8_t data[512];
    int gift[2] = {fd, fd};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof gift)];
    } control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    size_t length = fuzz_below(4) ? size : fuzz_below(sizeof data);
    unsigned gifts = fuzz_below(3);
    memset(data, 0, sizeof data);
    memcpy(data, good, size);
    for (unsigned n = fuzz_below(9); n; n--)
        data[fuzz_below((unsigned)size)] = (uint8_t)fuzz_byte();
    struct iovec piece = {data, length};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (gifts) {
        memcpy(CMSG_DATA(&control.head), gift, gifts * sizeof(int));
        control.head.cmsg_len = CMSG_LEN(gifts * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(gifts * sizeof(int));
    }
    (void)!sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void greetings_take(int seat)
{
    for (int got = 1; got > 0;) {
        struct call_hello hello;
        int fd = -1;
        memset(&hello, 0xA5, sizeof hello);
        got = call_seat_take(seat, &hello, &fd);
        CHECK_EQUAL(got > 0, fd >= 0);
        if (got > 0) {
            int error = call_hello_judge(&hello, 7);
            CHECK(error == OK || error == ERR_PROTOCOL || error == ERR_MISMATCH || error == ERR_DENIED);
            CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
            close(fd);
        }
    }
}

int FUZZ(const uint8_t *data, size_t size)
{
    const struct call_note good = {.magic = CALL_NOTE_MAGIC, .host = 5, .port = 4711};
    struct call_note note = {.port = 0};
    struct call_hello hello;
    int ends[2], free_before = lowest();
    fuzz_begin(data, size);
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    CHECK_EQUAL(call_hello_make(&hello, 3, 2, 0, 1), OK);
    memset(hello.nonce, 1, sizeof hello.nonce); /* the same in each run */
    if (fuzz_below(8))
        send_any(ends[0], &good, sizeof good);
    int error = call_seat_note(ends[1], &note);
    CHECK(error == OK || error == ERR_PROTOCOL);
    CHECK(error || (note.magic == CALL_NOTE_MAGIC && note.port > 0 && note.port <= 65535));
    for (unsigned n = fuzz_below(4); n; n--)
        send_any(ends[0], &hello, sizeof hello);
    if (fuzz_below(2))
        shutdown(ends[0], SHUT_WR);
    greetings_take(ends[1]);
    close(ends[0]);
    close(ends[1]);
    CHECK_EQUAL(lowest(), free_before);
    if (check_failed)
        abort();
    return 0;
}
