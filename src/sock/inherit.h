/* Connections that a new program inherits; see inherit.c. */
#ifndef SOCK_INHERIT_H
#define SOCK_INHERIT_H

#include "base/compiler.h"

/* Before a program with PATH and ENVP begins, in this process (REPLACES) or in a child that libc makes: the environment
 * that it is to have. PATH NULL: it is not known. Where no program has begun after all, and behind the call that made
 * the child, it is given back. */
char *const *sock_inherit_begin(const char *path, char *const envp[], bool replaces);
void sock_inherit_end(char *const given[], char *const envp[]);

/* In the new program: takes what was left to it. */
void sock_inherit_take(void);

#endif
