/* A handler that runs once is about to run in one thread when another thread sets another one, which has to stay. The
 * first thread stops there, where the tests' build of the library is loaded. For tests/sock/answers.sh. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STOPPED = 99, GO_ON = 98 }; /* the descriptors of lib/step.c */

static void first(int number) { (void)number; }
static void later(int number) { (void)number; }

static void *raise_one(void *out)
{
    raise(SIGUSR1);
    if (write(*(int *)out, ".", 1) != 1)
        exit(3);
    return NULL;
}

int main(void)
{
    struct sigaction once = {.sa_handler = first, .sa_flags = (int)SA_RESETHAND}, stays = {.sa_handler = later}, now;
    int stopped[2], on[2];
    pthread_t thread;
    char byte;
    alarm(20);
    if (pipe(stopped) || pipe(on) || dup2(stopped[1], STOPPED) < 0 || dup2(on[0], GO_ON) < 0 ||
        setenv("SOCK_STEP", "handler_once 0 wait", 1) || sigaction(SIGUSR1, &once, NULL) ||
        pthread_create(&thread, NULL, raise_one, &stopped[1]) || read(stopped[0], &byte, 1) != 1 ||
        sigaction(SIGUSR1, &stays, NULL) || write(on[1], "", 1) != 1 || pthread_join(thread, NULL) ||
        sigaction(SIGUSR1, NULL, &now))
        return 2;
    printf("%s, the later one %s\n", byte == '!' ? "stopped" : "ran", now.sa_handler == later ? "stays" : "has gone");
    return 0;
}
