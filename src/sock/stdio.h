/* libc's own streams, which read and write past our functions. */
#ifndef SOCK_STDIO_H
#define SOCK_STDIO_H

struct sock_file;

/* FILE, held, is behind FD from now on. If that is a number of libc's own streams, TCP carries the connection, and
 * stdin shows what lies unread in memory first. */
void sock_stdio_begins(int fd, struct sock_file *file);

#endif
