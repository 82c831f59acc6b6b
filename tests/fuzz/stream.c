/* A connection of a sockets program whose other side writes anything into the shared words and into the TCP stream, while
 * this side reads, writes and looks: every call ends, and what makes no sense resets the connection. */
#include "fuzz.h"
#include "check.h"
#include "sock/link.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/stream.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <unistd.h>

static int listener = -1;
static struct sock_mapping theirs;

static void begin(void)
{
    signal(SIGPIPE, SIG_IGN);
    sock_real_find();
    sock_policy.on = true;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof(name)) == 0 && listen(listener, 4) == 0);
}

static void they_write(int fd)
{
    char bytes[16] = "";
    struct sock_segment *words = theirs.words;
    struct sock_direction *way = &words->direction[fuzz_below(2)];
    _Atomic uint64_t *const long_words[] = {&way->head,       &way->turns, &way->turn[fuzz_below(RING_TURNS)], &way->tail, &way->at,
                                            &way->turns_seen, &way->taken, &way->bells};
    _Atomic uint32_t *const words_of_way[] = {&way->ready, &way->place, &way->room, &way->ended, &way->left};
    _Atomic uint32_t *const others[] = {&words->joined, &words->bit[fuzz_below(2)], &words->known[fuzz_below(2)]};
    switch (fuzz_below(6)) {
    case 0: (void)!send(fd, bytes, fuzz_below(sizeof(bytes)), MSG_DONTWAIT | MSG_NOSIGNAL); break;
    case 1: (void)!recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT); break;
    case 2: atomic_store(others[fuzz_below(3)], (uint32_t)fuzz_word(0)); break;
    case 3: atomic_store(words_of_way[fuzz_below(5)], (uint32_t)fuzz_word(1)); break;
    default: {
        _Atomic uint64_t *one = long_words[fuzz_below(8)];
        atomic_store(one, fuzz_word(atomic_load(one)));
    }
    }
}

static void we_act(struct sock_file *file)
{
    static char data[70000];
    struct iovec piece = {data, fuzz_below(4) ? fuzz_below(300) : sizeof(data)};
    struct sock_pieces pieces = {&piece, 1, 0};
    short tcp;
    ssize_t n = 0;
    switch (fuzz_below(7)) {
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
    atomic_store(&file->fd, fd);
    uint32_t number = (uint32_t)(file - sock_files);
    int segment = sock_segment_make(number + 1, cookie, &theirs);
    CHECK(segment >= 0 && sock_segment_take(segment, number, cookie, &file->mapping));
    close(segment);
    atomic_store(&file->link->stage, STAGE_JOINED);
    atomic_store(&theirs.words->direction[0].ready, 1);
    while (!fuzz_over())
        if (fuzz_below(2))
            they_write(other);
        else
            we_act(file);
    close(other);
    sock_stream_close(file);
    close(fd);
    sock_drop(file);
    sock_segment_leave(number + 1, &theirs);
    if (check_failed)
        abort();
    return 0;
}
