/* A PMI server for tests, with the habits of several launchers. Serves SIZE connections until all have said goodbye
 * or are closed. Runs in a process of its own. */
#ifndef TESTS_BOOT_FAKE_SERVER_H
#define TESTS_BOOT_FAKE_SERVER_H

#include "boot/kvs.h"
#include "boot/line.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum habit { PLAIN, SHUFFLED, TERSE, SLURM, SLOW, HABITS };

static int fake_at_fence;

/* Slow: byte by byte. Shuffled: keys before the command, with strange ones among them. */
static void fake_say(int fd, enum habit habit, const char *command, const char *format, ...)
{
    char rest[2048], line[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(rest, sizeof rest, format, list);
    va_end(list);
    if (habit == SHUFFLED)
        snprintf(line, sizeof line, "odd=1 %s  cmdx=2 cmd=%s  more=(a,b)\n", rest, command);
    else
        snprintf(line, sizeof line, "cmd=%s %s\n", command, rest);
    size_t length = strlen(line), step = habit == SLOW ? 1 : length;
    for (size_t at = 0; at < length; at += step)
        if (send(fd, line + at, step, MSG_NOSIGNAL) < 0)
            return;
}

static void fake_answer(int *fd, int size, int me, enum habit habit, struct boot_kvs *kvs, const char *line)
{
    char key[64], value[1024];
    const char *rc = habit == TERSE ? "" : "rc=0 msg=success";
    if (vboot_line_is(line, "init"))
        fake_say(fd[me], habit, "response_to_init", "pmi_version=1 pmi_subversion=1 rc=0");
    else if (vboot_line_is(line, "get_maxes"))
        fake_say(fd[me], habit, "maxes", habit == TERSE ? "" : "kvsname_max=256 keylen_max=64 vallen_max=%d",
                 habit == SLURM ? 256 : 1024);
    else if (vboot_line_is(line, "get_appnum"))
        fake_say(fd[me], habit, "appnum", "appnum=%d", habit == SLURM ? -1 : 3);
    else if (vboot_line_is(line, "get_universe_size"))
        fake_say(fd[me], habit, "universe_size", "size=%d", size);
    else if (vboot_line_is(line, "get_my_kvsname"))
        fake_say(fd[me], habit, "my_kvsname", "kvsname=12.0");
    else if (vboot_line_is(line, "put")) {
        bool good = vboot_line_text(line, "key", key, sizeof key) &&
                    vboot_line_text(line, "value", value, sizeof value) && vboot_kvs_put(kvs, key, value) == 0;
        fake_say(fd[me], habit, "put_result", "%s", good ? rc : "rc=-1");
    } else if (vboot_line_is(line, "get")) {
        const char *found = vboot_line_text(line, "key", key, sizeof key) ? vboot_kvs_get(kvs, key) : NULL;
        if (found)
            fake_say(fd[me], habit, "get_result", "%s value=%s", rc, found);
        else
            fake_say(fd[me], habit, "get_result",
                     habit == SLURM   ? "rc=1"
                     : habit == TERSE ? ""
                                      : "rc=-1 value=unknown");
    } else if (vboot_line_is(line, "barrier_in") && ++fake_at_fence == size) {
        fake_at_fence = 0;
        for (int i = 0; i < size; i++)
            fake_say(fd[i], habit, "barrier_out", "%s", rc);
    } else if (vboot_line_is(line, "finalize"))
        fake_say(fd[me], habit, "finalize_ack", "%s", "");
}

static inline void fake_serve(int *fd, int size, enum habit habit)
{
    struct boot_kvs kvs = {0};
    struct boot_lines *lines = calloc(64, sizeof *lines);
    struct pollfd *ready = calloc(64, sizeof *ready);
    int open = size;
    for (int i = 0; i < size; i++)
        ready[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    while (open > 0 && poll(ready, (nfds_t)size, -1) > 0)
        for (int i = 0; i < size; i++) {
            if (ready[i].fd < 0 || !ready[i].revents)
                continue;
            if (vboot_lines_fill(&lines[i], fd[i]) <= 0) {
                ready[i].fd = -1;
                open--;
            }
            for (const char *line; (line = vboot_lines_next(&lines[i]));)
                fake_answer(fd, size, i, habit, &kvs, line);
        }
    vboot_kvs_close(&kvs);
    free(lines);
    free(ready);
}

/* Starts RANKS processes that run ACT with PMI variables, and a server for them; how many of them did not return 0. */
static inline int fake_job(int ranks, enum habit habit, int (*act)(int rank, int size))
{
    int here[64], there[64], failed = 0;
    pid_t pid[64], server;
    for (int i = 0; i < ranks; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
            return -1;
        here[i] = pair[0];
        there[i] = pair[1];
    }
    fflush(NULL);
    for (int i = 0; i < ranks; i++)
        if ((pid[i] = fork()) == 0) {
            char text[16];
            for (int j = 0; j < ranks; j++) {
                close(here[j]);
                if (j != i)
                    close(there[j]);
            }
            snprintf(text, sizeof text, "%d", there[i]);
            setenv("PMI_FD", text, 1);
            snprintf(text, sizeof text, "%d", i);
            setenv("PMI_RANK", text, 1);
            snprintf(text, sizeof text, "%d", ranks);
            setenv("PMI_SIZE", text, 1);
            exit(act(i, ranks));
        }
    for (int i = 0; i < ranks; i++)
        close(there[i]);
    if ((server = fork()) == 0) {
        fake_serve(here, ranks, habit);
        _exit(0);
    }
    for (int i = 0; i < ranks; i++)
        close(here[i]);
    for (int i = 0; i < ranks; i++) {
        int status;
        waitpid(pid[i], &status, 0);
        failed += status != 0;
    }
    waitpid(server, NULL, 0);
    return failed;
}

#endif
