/* Which socket is at the other end of a TCP connection, as the kernel tells it. */
#ifndef SOCK_FIND_H
#define SOCK_FIND_H

#include "base/compiler.h"
#include <sys/types.h>

struct sock_ends { /* addresses as IPv6 has them, ports in host order; [0]: of the side that connected */
    uint8_t address[2][16];
    uint16_t port[2];
};

struct sock_owner { /* of the socket at the other end */
    uid_t user;
    uint64_t cookie; /* 0: not known */
};

/* False: FD is not connected, or to itself. */
bool sock_ends_read(int fd, bool active, struct sock_ends *ends);

enum sock_found { FOUND_NONE, FOUND, FOUND_LATER };

/* The other end of a connection lies in this network namespace, and is established. SINCE: when it was asked for first,
 * by the clock of base; FOUND_LATER: to be asked for again. */
enum sock_found sock_find_peer(const struct sock_ends *ends, bool active, uint64_t since, struct sock_owner *owner);

#endif
