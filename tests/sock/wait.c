/* The stream and its waiting as a library, with two threads at each end of each direction: every byte comes, to the one
 * or the other, and nobody sleeps for ever. Both ends are here and use one mapping, so that the thread sanitizer sees all of it.
 * And a bell that the kernel does not take, at once or ever. */
#include "check.h"
#include "sock/direction.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/stream.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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
        struct sock_file *file = ends[i].file = sock_file_open(STAGE_PLAIN, i == 0);
        if (i == 0)
            close(sock_segment_make((uint32_t)(file - sock_files), cookie, &file->mapping));
        else
            file->mapping = ends[0].file->mapping;
        atomic_store(&file->fd, ends[i].fd);
        file->peer = sock_peer_take(id, board);
        file->mapping.words->bit[i] = (uint32_t)(file - sock_files);
        CHECK(file->peer && file->mapping.words);
    }
    for (int i = 0; i < 2; i++)
        atomic_store(&ends[i].file->link->stage, STAGE_JOINED);
    for (int i = 0; i < 2; i++) {
        sock_lock(&ends[i].file->link->receive);
        sock_stream_be_ready(ends[i].file);
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
        ssize_t n = sock_stream_send(end->file, &pieces, 0);
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
        ssize_t n = sock_stream_receive(end->file, &pieces, 0);
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

static void ends_close(void)
{
    sock_segment_leave((uint32_t)(ends[0].file - sock_files), &ends[0].file->mapping);
    for (int i = 0; i < 2; i++) {
        ends[i].file->mapping.words = NULL;
        atomic_store(&ends[i].file->link->stage, STAGE_PLAIN); /* both are in this process: nothing is to be said */
        sock_drop(ends[i].file);
        close(ends[i].fd);
    }
}

static ssize_t one_byte(ssize_t (*move)(struct sock_file *, struct sock_pieces *, int), struct end *end)
{
    char byte = 1;
    struct sock_pieces pieces = {&(struct iovec){&byte, 1}, 1, 0};
    return move(end->file, &pieces, MSG_DONTWAIT);
}

static bool bell_lies_there(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static int refusals;
static struct end *taker; /* reads, and takes bells away, between a refusal and what the writer does then */
static long (*real_call)(long number, long a, long b, long c, long d, long e, long f);
static long refuse(long number, long a, long b, long c, long d, long e, long f)
{
    if (number != SYS_sendto || refusals-- <= 0)
        return real_call(number, a, b, c, d, e, f);
    if (taker)
        while (one_byte(sock_stream_receive, taker) == 1)
            ;
    errno = EAGAIN;
    return -1;
}

/* The kernel has no memory for a moment, with nothing in the socket: the reader is told all the same. */
static void bell_refused(void)
{
    ends_make();
    real_call = sock_real.syscall;
    sock_real.syscall = refuse;
    refusals = 5;
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), 1);
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), -1); /* takes the bell away */
    CHECK(!bell_lies_there(ends[1].fd));
    refusals = 3;
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    sock_real.syscall = real_call;
    ends_close();
}

/* The same while the reader finds the byte without a bell, and says that it takes away one that never came: the next
 * write tells it. */
static void bell_refused_and_taken(void)
{
    ends_make();
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), 1);
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), -1);
    real_call = sock_real.syscall;
    sock_real.syscall = refuse;
    refusals = 1;
    taker = &ends[1];
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    taker = NULL;
    sock_real.syscall = real_call;
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), 1);
    ends_close();
}

/* Bytes of TCP fill the socket at the switch. Once they have been read, the next write tells the reader. */
static void bell_behind_bytes(void)
{
    static char data[65536];
    size_t there = 0;
    ends_make();
    for (ssize_t n; (n = send(ends[0].fd, data, sizeof(data), MSG_DONTWAIT)) > 0;)
        there += (size_t)n;
    while (send(ends[0].fd, data, 1, MSG_DONTWAIT) == 1)
        there++;
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK_EQUAL(atomic_load(&ends[0].file->link->out_phase), PHASE_RING);
    while (there) {
        struct iovec piece = {data, there < sizeof(data) ? there : sizeof(data)};
        struct sock_pieces pieces = {&piece, 1, 0};
        ssize_t n = sock_stream_receive(ends[1].file, &pieces, 0);
        CHECK(n > 0);
        if (n <= 0)
            break;
        there -= (size_t)n;
    }
    CHECK(!bell_lies_there(ends[1].fd));
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    ends_close();
}

/* A reader is gone without a word, with a bell unread: a writer of little learns of it. */
static void reader_gone(void)
{
    int written = 0;
    ends_make();
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    close(ends[1].fd);
    while (written < 50 && one_byte(sock_stream_send, &ends[0]) == 1) {
        written++;
        usleep(2000);
    }
    CHECK(written < 20);
    ends_close();
}

/* The other side resets the connection: its process has ended with a bell unread. If TAKEN, it had taken all bytes. */
static void reset_by_other(bool taken)
{
    ends_make();
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    CHECK(bell_lies_there(ends[1].fd));
    if (taken)
        CHECK_EQUAL(one_byte(sock_stream_receive, &ends[1]), 1);
    close(ends[1].fd);
    struct pollfd arrived = {.fd = ends[0].fd}; /* the kernel may deliver it a moment later */
    CHECK_EQUAL(poll(&arrived, 1, 10000), 1);
    CHECK(arrived.revents & POLLHUP);
}

static void bell_ring(struct end *end)
{
    sock_lock(&end->file->link->send);
    sock_out_bell(end->file);
    sock_unlock(&end->file->link->send);
}

static int error_ask(struct end *end)
{
    sock_lock(&end->file->link->receive);
    int error = atomic_exchange(&end->file->link->error, 0);
    sock_unlock(&end->file->link->receive);
    return error;
}

/* The kernel tells its error to a bell, and not again: it is kept for the program. */
static void bell_told_of_reset(void)
{
    reset_by_other(false);
    bell_ring(&ends[0]);
    CHECK(atomic_load(&ends[0].file->link->shut_out));
    CHECK(!atomic_load(&ends[0].file->link->bell_due));
    CHECK_EQUAL(error_ask(&ends[0]), ECONNRESET);
    ends_close();
}

/* The same, but a look at the connection finds a quiet end before or after the error is kept. */
static long reset_seen(long number, long a, long b, long c, long d, long e, long f)
{
    long n = real_call(number, a, b, c, d, e, f);
    if (number != SYS_sendto || n >= 0)
        return n;
    CHECK_EQUAL(errno, ECONNRESET);
    sock_lock(&ends[0].file->link->receive);
    CHECK_EQUAL(sock_end_look(ends[0].file), END_QUIET);
    sock_unlock(&ends[0].file->link->receive);
    errno = ECONNRESET;
    return n;
}
static void bell_told_of_quiet_end(bool seen_first)
{
    reset_by_other(true);
    real_call = sock_real.syscall;
    if (seen_first)
        sock_real.syscall = reset_seen;
    bell_ring(&ends[0]);
    sock_real.syscall = real_call;
    CHECK_EQUAL(one_byte(sock_stream_receive, &ends[0]), 0);
    CHECK_EQUAL(atomic_load(&ends[0].file->link->end), END_QUIET);
    CHECK_EQUAL(error_ask(&ends[0]), 0);
    ends_close();
}

/* This side has said that nothing follows: no bell can be sent, and that is no error. */
static void bell_behind_end(void)
{
    ends_make();
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    shutdown(ends[0].fd, SHUT_WR);
    bell_ring(&ends[0]);
    CHECK(atomic_load(&ends[0].file->link->shut_out));
    CHECK(!atomic_load(&ends[0].file->link->bell_due));
    CHECK_EQUAL(error_ask(&ends[0]), 0);
    ends_close();
}

/* The reader ends the count of bells with one in it that the kernel does not take at once: it is sent all the same. */
static long refuse_and_end(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_sendto && refusals == 1)
        atomic_fetch_or(&ends[0].file->mapping.words->direction[sock_out(ends[0].file)].bells, BELLS_ENDED);
    return refuse(number, a, b, c, d, e, f);
}
static void bell_in_ended_count(void)
{
    ends_make();
    real_call = sock_real.syscall;
    sock_real.syscall = refuse_and_end;
    refusals = 1;
    CHECK_EQUAL(one_byte(sock_stream_send, &ends[0]), 1);
    sock_real.syscall = real_call;
    CHECK(bell_lies_there(ends[1].fd));
    ends_close();
}

int main(void)
{
    pthread_t writers[2][WRITERS], readers[2][READERS];
    signal(SIGPIPE, SIG_IGN);
    sock_real_find();
    sock_policy.on = true;
    bell_refused();
    bell_refused_and_taken();
    bell_behind_bytes();
    reader_gone();
    bell_told_of_reset();
    bell_told_of_quiet_end(false);
    bell_told_of_quiet_end(true);
    bell_behind_end();
    bell_in_ended_count();
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
