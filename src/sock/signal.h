/* Handlers of the program. None runs while this thread holds a lock of a connection: it might call send on the same
 * one. Such a signal waits until the lock is given back. And a wait of ours ends, or goes on, as the handler's
 * SA_RESTART says. */
#ifndef SOCK_SIGNAL_H
#define SOCK_SIGNAL_H

#include "base/compiler.h"

void sock_section_enter(void);
void sock_section_leave(void);
void sock_signal_child(void); /* after fork: other threads of the parent are not there */

void sock_restart_begin(void); /* before a wait */
bool sock_restart_wanted(void); /* after EINTR: every handler of the program that ran asks for it */

bool sock_in_handler(void); /* one of the program runs in this thread: what it has interrupted goes on afterwards */

#endif
