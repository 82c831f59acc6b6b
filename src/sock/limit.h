/* The limit of descriptors; see limit.c. */
#ifndef SOCK_LIMIT_H
#define SOCK_LIMIT_H

/* A copy of FD, close-on-exec, with a number that the program hardly uses; -1: none is left. */
int sock_number_high(int fd);

#endif
