/* The packet by which two sockets programs meet, with any descriptors: what is no packet leaves nothing open, and what is
 * one gives a segment, a board and an eventfd that are as they should be, or are refused. */
#include "base/memory.h"
#include "fuzz.h"
#include "check.h"
#include "sock/packet.h"
#include "sock/place.h"
#include "sock/segment.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t cookie[2] = {11, 22};

static int open_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* One of several kinds. */
static int descriptor(struct sock_mapping *made)
{
    int fd = -1;
    uint64_t id;
    switch (fuzz_below(7)) {
    case 0: return eventfd(0, EFD_NONBLOCK);
    case 1: return open("/dev/null", O_RDWR);
    case 2: return memfd_create("fuzz", MFD_ALLOW_SEALING);
    case 3:
        CHECK_EQUAL(vbase_memory_make("fuzz", fuzz_below(2) ? 4096 : 65536 * fuzz_below(200), 0, &fd), OK);
        return fd;
    case 4: return sock_board_open(&id, &fd) ? dup(fd) : -1;
    default:
        if (made->words)
            return eventfd(0, EFD_NONBLOCK);
        fd = sock_segment_make(1, cookie, made);
        for (unsigned n = fuzz_below(4); made->words && n; n--)
            ((unsigned char *)made->words)[fuzz_below(64)] ^= (unsigned char)fuzz_byte();
        return fd;
    }
}

static void send_any(int fd, struct sock_mapping *made)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(8 * sizeof(int))];
    } control;
    char data[64];
    int descriptors[8], count = 0;
    struct sock_packet packet = {SEGMENT_VERSION, fuzz_byte(), fuzz_byte(), fuzz_below(100), 0};
    size_t size = fuzz_below(8) ? sizeof(packet) : fuzz_below(sizeof(data));
    memcpy(data, &packet, sizeof(packet));
    for (unsigned n = fuzz_below(3); n; n--)
        data[fuzz_below(sizeof(packet))] ^= (char)fuzz_byte();
    for (unsigned n = fuzz_below(9); n; n--)
        if ((descriptors[count] = descriptor(made)) >= 0)
            count++;
    struct iovec piece = {data, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count) {
        control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        control.head.cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(&control.head), descriptors, (size_t)count * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    }
    (void)!sendmsg(fd, &message, 0);
    while (count)
        close(descriptors[--count]);
}

static void use(const struct sock_packet *packet, int gifts[GIFTS])
{
    struct sock_mapping mapping = {NULL, NULL};
    if (gifts[GIFT_SEGMENT] >= 0 && sock_segment_take(gifts[GIFT_SEGMENT], 2, cookie, &mapping)) {
        CHECK_EQUAL(mapping.words->magic, SEGMENT_MAGIC);
        sock_segment_leave(2, &mapping);
    }
    struct sock_peer *peer = gifts[GIFT_BOARD] >= 0 ? sock_peer_take(packet->board, gifts[GIFT_BOARD]) : NULL;
    if (peer && gifts[GIFT_EVENT] >= 0 && packet->place < SOCK_PLACES) {
        (void)sock_peer_event(peer, (int)packet->place, gifts[GIFT_EVENT]);
        gifts[GIFT_EVENT] = -1;
    }
    if (peer) {
        (void)sock_peer_wake(peer, fuzz_below(100), fuzz_below(70000), NULL);
        sock_peer_leave(peer);
    }
    sock_gifts_close(gifts);
}

int FUZZ(const uint8_t *data, size_t size)
{
    struct sock_mapping made = {NULL, NULL};
    struct sock_packet packet;
    int ends[2], gifts[GIFTS];
    uint64_t id;
    CHECK(sock_board_open(&id, &ends[0]));
    int before = open_descriptors();
    fuzz_begin(data, size);
    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    send_any(ends[0], &made);
    if (sock_packet_receive(ends[1], &packet, gifts))
        use(&packet, gifts);
    close(ends[0]);
    close(ends[1]);
    if (made.words)
        sock_segment_leave(1, &made);
    CHECK_EQUAL(open_descriptors(), before);
    if (check_failed)
        abort();
    return 0;
}
