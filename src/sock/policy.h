/* What may be upgraded, as the user wants it: the words of VIADUCT_SOCK. Read once, by the constructor. */
#ifndef SOCK_POLICY_H
#define SOCK_POLICY_H

#include "base/compiler.h"
#include <sys/types.h>

struct sock_policy {
    bool on;
    uint32_t after;       /* data calls before a connection is looked at */
    const char *only, *not; /* lists of ports, as texts: "80,8000-8100" */
    const char *users;    /* names or numbers with commas */
};
extern struct sock_policy sock_policy;

void sock_policy_read(const char *words); /* NULL: nothing was said */
bool sock_policy_port(uint16_t one, uint16_t other); /* the ports of both ends of a connection */
bool sock_policy_knows(uid_t user);                  /* false: it may be the number of any user of the host */
bool sock_policy_user(uid_t user);                   /* a peer of this user, besides root and oneself */

#endif
