/* How the two ends of a connection find each other and agree on a segment; see docs/design.md. Nothing here waits,
 * and nothing touches the stream. */
#ifndef SOCK_MEET_H
#define SOCK_MEET_H

#include "sock/file.h"

/* The same as sock_plain_begin, before a call of the program that goes to TCP. */
bool sock_moving(struct sock_file *file, bool out);
/* The same as sock_plain_end, behind the call, which has returned RESULT: counts it, and looks for the other end. */
void sock_moved(struct sock_file *file, bool out, ssize_t result);

/* After a call that moved data on a connection that is not joined; FILE is held. */
void sock_meet(struct sock_file *file);
/* The last descriptor here is being closed: what a meeting holds is given back. */
void sock_meet_end(struct sock_file *file);

#endif
