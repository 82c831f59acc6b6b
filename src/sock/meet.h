/* How the two ends of a connection find each other and agree on a segment; see docs/design.md. Nothing here waits,
 * and nothing touches the stream. */
#ifndef SOCK_MEET_H
#define SOCK_MEET_H

#include "sock/table.h"

/* After a call that moved data on a connection that is not joined; FILE is held. */
void sock_meet(struct sock_file *file, int fd);
/* The last descriptor here is being closed: what a meeting holds is given back. */
void sock_meet_end(struct sock_file *file);

#endif
