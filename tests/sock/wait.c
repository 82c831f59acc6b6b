/* The stream and its waiting as a library, with two threads at each end of each direction: every byte comes, to the one
 * or the other, and nobody sleeps for ever. Both ends are here and use one mapping, so that the thread sanitizer sees all of it. */
#include "check.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/stream.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITERS = 2, READERS = 2, EACH = 600000 };

static struct end {
    struct sock_file *file;
    int fd;
    _Atomic uint64_t got, sum;
} ends[2];

static void ends_make(void)
{
    const uint64_t cookie[2] = {11, 22};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(name);
    int listener = socket(AF_INET, SOCK_STREAM, 0), board;
    uint64_t id;
    CHECK(bind(listener, (struct sockaddr *)&name, length) == 0 && listen(listener, 1) == 0);
    CHECK_EQUAL(getsockname(listener, (struct sockaddr *)&name, &length), 0);
    ends[0].fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQUAL(connect(ends[0].fd, (struct sockaddr *)&name, length), 0);
    ends[1].fd = accept(listener, NULL, NULL);
    close(listener);
    CHECK(sock_board_open(&id, &board));
    for (int i = 0; i < 2; i++) {
        struct sock_file *file = ends[i].file = sock_link_open(STAGE_PLAIN, i == 0);
        if (i == 0)
            close(sock_segment_make((uint32_t)(file - sock_files), cookie, &file->mapping));
        else
            file->mapping = ends[0].file->mapping;
        file->peer = sock_peer_take(id, board);
        file->mapping.words->bit[i] = (uint32_t)(file - sock_files);
        CHECK(file->peer && file->mapping.words);
    }
    for (int i = 0; i < 2; i++)
        atomic_store(&ends[i].file->link->stage, STAGE_JOINED);
    for (int i = 0; i < 2; i++) {
        sock_lock(&ends[i].file->link->receive);
        sock_stream_be_ready(ends[i].file, ends[i].fd);
        sock_unlock(&ends[i].file->link->receive);
    }
}

static void *writer(void *argument)
{
    struct end *end = argument;
    static _Atomic uint64_t seeds;
    uint64_t seed = check_seed() + atomic_fetch_add(&seeds, 1);
    char data[20000];
    memset(data, 1, sizeof(data));
    for (size_t done = 0; done < EACH;) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        size_t size = 1 + (seed >> 33) % (seed % 4 ? 300 : sizeof(data));
        struct iovec piece = {data, size < EACH - done ? size : EACH - done};
        struct sock_pieces pieces = {&piece, 1, 0};
        ssize_t n = sock_stream_send(end->file, end->fd, &pieces, 0);
        if (n == SOCK_PLAIN && sock_plain_begin(end->file->link, true)) { /* before the other side is ready */
            n = send(end->fd, data, piece.iov_len, 0);
            sock_plain_end(end->file->link, true);
        } else if (n == SOCK_PLAIN) {
            n = 0;
        }
        CHECK(n >= 0);
        done += n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

static void *reader(void *argument)
{
    struct end *end = argument;
    char data[30000];
    for (;;) {
        struct iovec piece = {data, sizeof(data)};
        struct sock_pieces pieces = {&piece, 1, 0};
        ssize_t n = sock_stream_receive(end->file, end->fd, &pieces, 0);
        if (n == SOCK_PLAIN)
            continue;
        CHECK(n >= 0);
        if (n <= 0)
            return NULL;
        uint64_t sum = 0;
        for (ssize_t i = 0; i < n; i++)
            sum += (unsigned char)data[i];
        atomic_fetch_add(&end->sum, sum);
        atomic_fetch_add(&end->got, (uint64_t)n);
    }
}

int main(void)
{
    pthread_t writers[2][WRITERS], readers[2][READERS];
    signal(SIGPIPE, SIG_IGN);
    sock_real_find();
    sock_policy.on = true;
    ends_make();
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < READERS; k++)
            pthread_create(&readers[i][k], NULL, reader, &ends[i]);
        for (int k = 0; k < WRITERS; k++)
            pthread_create(&writers[i][k], NULL, writer, &ends[i]);
    }
    for (int i = 0; i < 2; i++) /* a side whose other one has said the end does not switch any more */
        for (int k = 0; k < WRITERS; k++)
            pthread_join(writers[i][k], NULL);
    for (int i = 0; i < 2; i++) {
        atomic_store(&ends[i].file->mapping.words->direction[sock_out(ends[i].file)].ended, 1);
        shutdown(ends[i].fd, SHUT_WR);
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < READERS; k++)
            pthread_join(readers[i][k], NULL);
        CHECK_EQUAL(ends[i].got, WRITERS * EACH);
        CHECK_EQUAL(ends[i].sum, WRITERS * EACH);
        CHECK_EQUAL(atomic_load(&ends[i].file->link->out_phase), PHASE_RING);
    }
    return check_done();
}
