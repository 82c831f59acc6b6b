/* The steps of meeting, switch and way back. In the tests' build of the library (tests/sock/lib/step.c) a process is
 * killed, stopped, or left without memory or descriptors at the one that it is told; elsewhere they are nothing. */
#ifndef SOCK_STEP_H
#define SOCK_STEP_H

#ifdef SOCK_STEPS
void sock_step(const char *name);
#define SOCK_STEP(name) sock_step(#name)
#else
#define SOCK_STEP(name) ((void)0)
#endif

#endif
