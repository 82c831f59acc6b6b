/* Asynchronous calls of libc: threads of libc make them, past our functions, so a connection that is named in one goes
 * back to TCP for good. Called by the hooks; the requests belong to the program. */
#include "sock/hooks.h"
#include "sock/stream.h"

#include <errno.h>

/* Bytes that lie in the ring cannot be read by libc: the program may read them itself and ask again. */
static int leave_ring(int fd, bool reads)
{
    struct sock_file *file = sock_known(fd) ? sock_hold(fd) : NULL;
    if (!file)
        return 0;
    int saved = errno;
    bool by_tcp = sock_stream_never(file);
    sock_drop(file);
    errno = by_tcp || !reads ? saved : EAGAIN;
    return by_tcp || !reads ? 0 : -1;
}

int sock_aio_read(struct aiocb *request)
{
    return leave_ring(request->aio_fildes, true) == 0 ? sock_real.aio_read(request) : -1;
}

int sock_aio_write(struct aiocb *request)
{
    return leave_ring(request->aio_fildes, false) == 0 ? sock_real.aio_write(request) : -1;
}

int sock_lio_listio(int mode, struct aiocb *const list[], int count, struct sigevent *event)
{
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP &&
            leave_ring(list[i]->aio_fildes, list[i]->aio_lio_opcode == LIO_READ) != 0)
            return -1;
    return sock_real.lio_listio(mode, list, count, event);
}
