/* Processes that this one makes; see process.c. */
#ifndef SOCK_PROCESS_H
#define SOCK_PROCESS_H

void sock_process_start(void); /* once, by the constructor: before the program's handlers of fork are known */

#endif
