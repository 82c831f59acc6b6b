/* Connections that a new program inherits; see inherit.c. */
#ifndef SOCK_INHERIT_H
#define SOCK_INHERIT_H

#include "base/compiler.h"

/* How a program begins: in this process, in a child that libc makes, or in one where libc copies descriptors first. */
enum sock_beginning { SOCK_REPLACES, SOCK_CHILD, SOCK_CHILD_COPIES };

/* Before a program with PATH and ENVP begins: the environment that it is to have. PATH NULL: it is not known. Where no
 * program has begun after all, and behind the call that made the child, it is given back. */
char *const *sock_inherit_begin(const char *path, char *const envp[], enum sock_beginning how);
void sock_inherit_end(char *const given[], char *const envp[]);

/* Descriptors with this number may be copied for a child, also where they are close-on-exec. */
void sock_inherit_copied(int fd);

/* In the new program: takes what was left to it. */
void sock_inherit_take(void);

#endif
