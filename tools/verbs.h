/* The verbs of the program `viaduct`. Each takes its own arguments, argv[0] being the verb as the user wrote it, and
 * returns the exit status. */
#pragma once

#include "base/base.h"

int verb_run(int argc, char **argv);
int verb_helper(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_examine(int argc, char **argv); /* the launcher on another host */
int verb_info(int argc, char **argv);
int verb_sock(int argc, char **argv);
int verb_jobs(int argc, char **argv);
int verb_stuck(int argc, char **argv);
int verb_top(int argc, char **argv);
void info_print_words(void); /* the pages */

/* The segment of the one job that WORD means, a PID or NULL, and a process that holds it, its launcher where that is
 * ours; -1: the reason was printed (jobs.c). */
int job_segment(const char *verb, const char *word, pid_t *holder);

/* viaduct sock --list */
int sock_list(void);
#define SOCK_LIBRARY "libviaduct-sock.so"

/* Adds what each network card has sent for the jobs of this host, as far as this user may look at them, over the
 * network that this process sees (jobs.c). */
void jobs_count_cards(uint64_t sent[COUNT_CARDS]);
