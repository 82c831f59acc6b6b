/* Bytes that lie unread in a ring when a new program begins which inherits the connection: it knows nothing of the
 * ring, so they are copied into memory that both programs reach, a memfd that is inherited as well. All processes that
 * have the connection read them there, each byte once, and go on with TCP.
 *
 * A process that forks while it has joined connections makes the memory, so that its children have the same one. It is
 * named by a descriptor, and bytes in it by a number that is never used twice. All of it can be written by the programs
 * that inherited it: what is read is checked. */
#ifndef SOCK_REST_H
#define SOCK_REST_H

#include "sock/ring.h"

bool sock_rest_open(void); /* makes it if there is none; false: there is none */
bool sock_rest_there(void);
int sock_rest_descriptor(void); /* one of ours, close-on-exec */
void sock_rest_forget(void);    /* this process reads nothing there any more */
bool sock_rest_adopt(int fd);   /* the memory of the program that was here before */

/* Room for SIZE bytes, which sock_rest_add fills: its name, 0 if there is none. */
uint64_t sock_rest_begin(uint64_t size);
bool sock_rest_add(uint64_t name, const void *data, size_t size);

uint64_t sock_rest_left(uint64_t name);
/* Copies, or with MSG_TRUNC drops, what is left: bytes, 0 if there are none, -errno. With MSG_PEEK they stay. */
ssize_t sock_rest_read(uint64_t name, struct sock_pieces *to, int flags);
void sock_rest_drop(uint64_t name); /* nobody will read them */

#endif
