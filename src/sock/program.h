/* Will a program that is about to begin have the library? */
#ifndef SOCK_PROGRAM_H
#define SOCK_PROGRAM_H

#include "base/compiler.h"

/* It has PATH, or is found by that name if there is no slash in it, and gets ENVP. False also where that is not known
 * for certain: it cannot be read, or is static, or has rights of its own. */
bool sock_program_has_library(const char *path, char *const envp[]);

#endif
