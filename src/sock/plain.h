/* Included before every file of base that the preload carries: what base calls under these names is the real function
 * and not our hook of the same name; what it opens is ours, and no program can close it. Defined in real.c. */
#ifndef SOCK_PLAIN_H
#define SOCK_PLAIN_H

#define open    sock_plain_open
#define read    sock_plain_read
#define write   sock_plain_write
#define close   sock_plain_close
#define fcntl   sock_plain_fcntl
#define sendmsg sock_plain_sendmsg
#define recvmsg sock_plain_recvmsg
#define syscall sock_plain_syscall

#endif
