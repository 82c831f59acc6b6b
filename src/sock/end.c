/* The end of a connection, as the program on this side is told of it where the kernel would tell otherwise; see
 * direction.h.
 *
 * A process that ends without closing its sockets leaves bells unread in them, and for these the kernel resets the
 * connection. If the process had taken all bytes, TCP would have ended the stream in order. So the error is taken out
 * of the kernel's socket, and what TCP would tell is told from here: a quiet end, after which one more write succeeds,
 * or a reset; each error once. Bytes written after the process ended, and before this side notices, cannot be told
 * from bytes that it left unread. */
#include "sock/direction.h"
#include "sock/real.h"
#include "sock/tcp.h"

#include <errno.h>
#include <sys/socket.h>

#define DROP_MOST 65536

/* ERROR: the kernel's, 0: it has been told, or there was none. */
static enum sock_end end_kind(const struct sock_file *file, int error)
{
    const struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    const struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    uint32_t left = atomic_load(&in->left);
    uint64_t head = atomic_load(&out->head) & ~RING_CLOSED;
    bool taken = head && atomic_load(&out->tail) == head;
    if (left)
        return error == EPIPE ? END_BROKEN : left == LEFT_CLEAN ? END_QUIET : END_RESET;
    if (taken)
        return END_QUIET;
    return atomic_load(&in->ended) ? END_BROKEN : END_RESET; /* it had said the end before it was reset */
}

enum sock_end sock_end_look(struct sock_file *file)
{
    struct sock_link *link = file->link;
    const struct sock_direction *in = &file->mapping.words->direction[sock_in(file)];
    const struct sock_direction *out = &file->mapping.words->direction[sock_out(file)];
    bool left = atomic_load(&in->left), ring = atomic_load(&link->out_phase) == PHASE_RING;
    int error;
    if (link->end || (!left && !ring))
        return link->end;
    enum sock_tcp_over over = sock_tcp_over(sock_fd(file), &error);
    if (!error)
        error = link->error;
    bool rung = ring && (atomic_load(&out->bells) & ~BELLS_ENDED);
    /* ended in order, but without a word to us: by its death, and what it has not taken it never will */
    bool dead = over == TCP_HALF_OVER && rung && !left && !atomic_load(&in->ended) &&
                !ring_closed(&(struct ring){file->mapping, sock_out(file)});
    if (over != TCP_OVER && !dead)
        return END_NOT;
    if ((!left && !rung) || (error && error != ECONNRESET && error != EPIPE)) {
        if (error)
            link->error = error; /* that the kernel would have told */
        return END_NOT;
    }
    link->end = end_kind(file, error);
    if (link->end == END_QUIET)
        link->error = 0;
    else if (error)
        link->error = link->end == END_BROKEN ? error : ECONNRESET;
    else if (link->end == END_RESET && !left)
        link->error = ECONNRESET;
    /* else there was none, and one that the kernel has told to a bell meanwhile stays (bell_error_keep) */
    atomic_store(&link->shut_out, true);
    if (dead)
        (void)sock_real.shutdown(sock_fd(file), SHUT_WR); /* what is sent from now on is refused */
    return link->end;
}

enum sock_end sock_end_look_soon(struct sock_file *file)
{
    pthread_mutex_t *got = sock_lock_soon(&file->link->receive);
    enum sock_end end = got ? sock_end_look(file) : atomic_load(&file->link->end);
    sock_unlock_got(got);
    return end;
}

short sock_end_events(struct sock_file *file, short told)
{
    struct sock_link *link = file->link;
    if (likely(!(told & (POLLERR | POLLHUP)) && !link->end))
        return told;
    enum sock_end end = sock_end_look_soon(file);
    if (end == END_NOT) /* its error may have been taken away from the kernel */
        return link->error ? told | POLLERR : told;
    bool said = atomic_load(&file->mapping.words->direction[sock_out(file)].ended);
    told = (told & ~(POLLERR | POLLHUP)) | POLLRDHUP;
    if (end != END_QUIET || said)
        told |= POLLHUP;
    return link->error ? told | POLLERR : told;
}

/* A quiet end takes one write, of which TCP sends a part before the reset comes. */
static ssize_t write_drop(struct sock_source *source, size_t size)
{
    char data[4096];
    size_t total = 0;
    if (size > DROP_MOST)
        size = DROP_MOST; /* not all of a large file */
    while (total < size) {
        size_t part = size - total < sizeof(data) ? size - total : sizeof(data);
        ssize_t n = source->fetch(source, data, part);
        if (n <= 0) {
            source->end = n == 0;
            return total ? (ssize_t)total : n;
        }
        total += (size_t)n;
    }
    return (ssize_t)total;
}

ssize_t sock_end_write(struct sock_file *file, struct sock_source *source, size_t size)
{
    struct sock_link *link = file->link;
    sock_lock(&link->receive);
    enum sock_end end = sock_end_look(file);
    bool said = atomic_load(&file->mapping.words->direction[sock_out(file)].ended);
    int error = link->error;
    bool quiet = end == END_QUIET && !said;
    if (quiet)
        link->end = END_BROKEN;
    if (quiet || error == ECONNRESET || error == EPIPE)
        link->error = quiet ? EPIPE : 0;
    sock_unlock(&link->receive);
    if (quiet)
        return write_drop(source, size);
    if (error != ECONNRESET)
        return SOCK_END_KERNEL;
    errno = error;
    return -1;
}
