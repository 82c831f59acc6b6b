/* What is asked of a TCP socket beside the program's own calls. None of it is a point where a thread is cancelled: that
 * may hold a lock. */
#ifndef SOCK_TCP_H
#define SOCK_TCP_H

#include "base/compiler.h"
#include <sys/types.h>

/* How many bytes the kernel has taken from this side so far, and how many this side has taken from the kernel; false:
 * this is no established connection, or the numbers do not hold still. */
bool sock_tcp_sent(int fd, bool active, uint64_t *bytes);
bool sock_tcp_consumed(int fd, uint64_t *bytes);

uint64_t sock_tcp_cookie(int fd); /* 0: none */

void sock_tcp_reset(int fd); /* both sides are told that the connection has broken */
/* Which directions have ended: none, that which is read, both; the kernel's error is taken away where both have. */
enum sock_tcp_over { TCP_GOES_ON, TCP_HALF_OVER, TCP_OVER };
enum sock_tcp_over sock_tcp_over(int fd, int *error);

/* An option that shared memory cannot keep is on. */
bool sock_tcp_special(int fd);
bool sock_tcp_stamps(int name); /* an option of SOL_SOCKET that asks for time stamps */

/* While a ring carries what this side writes, TCP carries bells alone, which must not be held back: what the program
 * has set of TCP_NODELAY and TCP_CORK is kept, and set again on the way back. */
#define SOCK_TCP_KEPT 2
void sock_tcp_hasten(int fd, int kept[SOCK_TCP_KEPT]);
void sock_tcp_restore(int fd, const int kept[SOCK_TCP_KEPT]);
int sock_tcp_kept(int name); /* its place there, -1: none */

/* recv and send that do not wait, and poll: which of EVENTS is true within so many ms; without FD it waits so long. */
ssize_t sock_tcp_receive(int fd, void *data, size_t size, int flags);
ssize_t sock_tcp_send(int fd, const void *data, size_t size);
short sock_tcp_poll(int fd, short events, int ms);

/* Takes away up to SIZE bytes that lie there: how many, 0 at the end of the stream, -errno. */
ssize_t sock_tcp_discard(int fd, uint64_t size);
/* 0: the stream has ended; 1: there are bytes; -errno (-EAGAIN: nothing). */
int sock_tcp_look(int fd);

#endif
