/* Connections in messages (SCM_RIGHTS). One that is passed on is held by the message while it is under way, and then by
 * the process that takes it out, if that is of this family and takes it by recvmsg. So it may move to shared memory in
 * that process once all others have closed it. Where another program gets it, it stays TCP. */
#ifndef SOCK_PASS_H
#define SOCK_PASS_H

#include "base/compiler.h"
#include <stdint.h>
#include <sys/socket.h>

bool sock_pass_out(const struct msghdr *message);  /* before it is sent; true: there are connections in it */
void sock_pass_back(const struct msghdr *message); /* it was not sent */
/* It was received, or LOOKED at; FREEZES: how many there were before. */
void sock_pass_in(const struct msghdr *message, bool looked, uint32_t freezes);

#endif
