/* A connection of a sockets program whose other side writes anything into the shared words, the words of the board and the
 * TCP stream, while this side reads, writes, looks, and waits in an epoll set: every call ends, and what makes no sense resets the connection. */
#include "fuzz.h"
#include "check.h"
#include "sock/epoll.h"
#include "sock/hooks.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/stream.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE_WORDS 16   /* of a place: its mark and summary */
#define BITS_BEGIN  1024 /* behind those of all places; each has 256 */

static int listener = -1, set = -1, board_fd = -1;
static uint64_t board_id;
static _Atomic uint64_t *board;
static struct sock_mapping theirs;

static void begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    sock_real_find();
    sock_policy.on = true;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof(name)) == 0 && listen(listener, 4) == 0);
    struct stat board_size;
    set = sock_epoll_create1(EPOLL_CLOEXEC);
    CHECK(set >= 0 && sock_board_open(&board_id, &board_fd) && fstat(board_fd, &board_size) == 0);
    CHECK(board_size.st_size >= 8 * (BITS_BEGIN + 2 * 256));
    board = mmap(NULL, (size_t)board_size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, board_fd, 0);
    CHECK(board != MAP_FAILED);
}

static void they_write(int fd)
{
    char bytes[16] = "";
    struct sock_segment *words = theirs.words;
    struct sock_direction *way = &words->direction[fuzz_below(2)];
    _Atomic uint64_t *const long_words[] = {&way->head,       &way->turns, &way->turn[fuzz_below(RING_TURNS)], &way->tail, &way->at,
                                            &way->turns_seen, &way->taken, &way->bells, &way->since};
    _Atomic uint64_t *mark = board + (fuzz_below(2) ? fuzz_below(4 * PLACE_WORDS) : BITS_BEGIN + 256 * fuzz_below(2) + fuzz_below(8));
    _Atomic uint32_t *const words_of_way[] = {&way->ready, &way->place, &way->room, &way->ended, &way->left};
    _Atomic uint32_t *const others[] = {&words->joined, &words->bit[fuzz_below(2)], &words->known[fuzz_below(2)]};
    switch (fuzz_below(7)) {
    case 0: (void)!send(fd, bytes, fuzz_below(sizeof(bytes)), MSG_DONTWAIT | MSG_NOSIGNAL); break;
    case 1: (void)!recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT); break;
    case 2: atomic_store(others[fuzz_below(3)], (uint32_t)fuzz_word(0)); break;
    case 3: atomic_store(mark, fuzz_word(atomic_load(mark))); break;
    case 4: atomic_store(words_of_way[fuzz_below(5)], (uint32_t)fuzz_word(1)); break;
    default: {
        _Atomic uint64_t *one = long_words[fuzz_below(9)];
        atomic_store(one, fuzz_word(atomic_load(one)));
    }
    }
}

static void we_act(struct sock_file *file)
{
    static char data[70000];
    struct iovec piece = {data, fuzz_below(4) ? fuzz_below(300) : sizeof(data)};
    struct sock_pieces pieces = {&piece, 1, 0};
    struct epoll_event events[2];
    short tcp;
    ssize_t n = 0;
    switch (fuzz_below(9)) {
    case 0: n = sock_stream_receive(file, &pieces, MSG_DONTWAIT); break;
    case 1: n = sock_stream_receive(file, &pieces, MSG_DONTWAIT | MSG_PEEK); break;
    case 2: n = sock_stream_send(file, &pieces, MSG_DONTWAIT | MSG_NOSIGNAL); break;
    case 3: (void)sock_stream_events(file, POLLIN | POLLOUT, &tcp); break;
    case 4: (void)sock_stream_level(file, POLLIN | POLLOUT | POLLRDHUP, (short)(fuzz_below(2) ? POLLIN | POLLRDHUP : 0)); break;
    case 5:
        sock_lock(&file->link->receive);
        (void)sock_stream_readable(file);
        sock_unlock(&file->link->receive);
        break;
    case 6:
        n = sock_epoll_wait(set, events, 2, 0);
        CHECK(n <= 0 || (n == 1 && events[0].data.ptr == file));
        break;
    case 7:
        events[0] = (struct epoll_event){fuzz_below(2) ? EPOLLIN | EPOLLOUT | EPOLLET : EPOLLIN | (fuzz_byte() & 0xff), {.ptr = file}};
        (void)sock_epoll_ctl(set, EPOLL_CTL_MOD, sock_fd(file), events);
        break;
    default:
        if (fuzz_below(8) == 0)
            sock_stream_back_out(file);
        else if (fuzz_below(8) == 0)
            (void)sock_stream_back_in(file);
    }
    CHECK(n <= (ssize_t)sizeof(data));
}

int FUZZ(const uint8_t *data, size_t size)
{
    const uint64_t cookie[2] = {11, 22};
    struct sockaddr_in name;
    socklen_t length = sizeof(name);
    if (listener < 0)
        begin();
    fuzz_begin(data, size);
    CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&name, &length), 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQUAL(connect(fd, (struct sockaddr *)&name, length), 0);
    int other = accept(listener, NULL, NULL);
    struct linger reset = {1, 0};
    setsockopt(other, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)); /* no port is used up */
    struct sock_file *file = sock_file_open(STAGE_PLAIN, true);
    CHECK(file && other >= 0);
    sock_file_add(fd, file);
    file->peer = sock_peer_take(board_id, board_fd); /* one process is both ends */
    CHECK(file->peer != NULL);
    uint32_t number = (uint32_t)(file - sock_files);
    int segment = sock_segment_make(number + 1, cookie, &theirs);
    CHECK(segment >= 0 && sock_segment_take(segment, number, cookie, &file->mapping));
    close(segment);
    atomic_store(&file->link->stage, STAGE_JOINED);
    atomic_store(&theirs.words->direction[0].ready, 1);
    CHECK_EQUAL(sock_epoll_ctl(set, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.ptr = file}}), 0);
    while (!fuzz_over())
        if (fuzz_below(2))
            they_write(other);
        else
            we_act(file);
    close(other);
    (void)sock_epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
    (void)sock_file_remove(fd, file);
    sock_stream_close(file);
    close(fd);
    sock_drop(file);
    sock_segment_leave(number + 1, &theirs);
    if (check_failed)
        abort();
    return 0;
}
