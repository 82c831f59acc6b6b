/* One message on a connected socket, optionally with a descriptor. */
#ifndef BASE_PACKET_H
#define BASE_PACKET_H

#include "base/compiler.h"
#include <sys/types.h>

/* Sends DATA with DESCRIPTOR (-1: none), which stays the caller's. FLAGS: of sendmsg. False: it did not go as a whole;
 * errno. */
bool vbase_packet_send(int fd, const void *data, size_t size, int descriptor, int flags) MUST_CHECK;

/* What recvmsg gives. *DESCRIPTOR: the one that came along, close-on-exec, the caller's; -1: none. The kernel lets in
 * no more. */
ssize_t vbase_packet_receive(int fd, void *data, size_t size, int *descriptor, int flags) MUST_CHECK;

#endif
