/* Numbers that the program gives back. */
#ifndef SOCK_CLOSING_H
#define SOCK_CLOSING_H

void sock_forget(int fd); /* FD is about to be closed by us or by the kernel */

#endif
