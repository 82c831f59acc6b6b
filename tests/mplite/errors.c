/* Every mistake is one sentence on standard error that names the call and the values, and exit status 1. Each is made by
 * a child of its own, a job of one rank. */
#include "check.h"
#include "base/compiler.h"
#include "mplite.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[64];
static int id;

static void too_long(void)
{
    MP_Send(buffer, 9, 0, 4);
    MP_Recv(buffer, 8, 0, 4);
}
static void too_long_at_last(void)
{
    MP_Send(buffer, 5, 0, 4);
    MP_Send(buffer, 5, 0, 4);
    MP_Recv(buffer, 8, 0, 4);
}
static void too_long_ahead(void)
{
    MP_ARecv(buffer, 8, 0, 4, &id);
    MP_Send(buffer, 5, 0, 4);
    MP_Send(buffer, 5, 0, 4);
    MP_Wait(&id);
}
static void wrong_rank(void) { MP_Send(buffer, 1, 1, 0); }
static void wrong_source(void) { MP_Recv(buffer, 1, -2, 0); }
static void wrong_tag(void) { MP_Send(buffer, 1, 0, -1); }
static void wrong_count(void) { MP_dSend(buffer, -3, 0, 0); }
static void overflow(void) { MP_dSum((double *)(void *)buffer, LONG_MAX / 4); }
static void stale_id(void)
{
    MP_ASend(buffer, 1, 0, 0, &id);
    int copy = id;
    MP_Recv(buffer, 1, 0, 0);
    MP_Wait(&id);
    MP_Wait(&copy);
}
static void wrong_root(void) { MP_Bcast(buffer, 1, 3); }
static void negative_root(void) { MP_Bcast(buffer, 1, -1); }
static void negative_root_masked(void) { MP_Bcast_masked(buffer, 1, -1, (int[]){1}); }
static void left_out(void) { MP_iSum_masked(&id, 1, (int[]){0}); }
static void no_grid(void) { MP_Cart_Coords(0, &id); }
static void wrong_grid(void) { MP_Cart_Create(2, (int[]){1, 2}); }
static void twice(void) { MP_Init(NULL, NULL); }
static void afterwards(void)
{
    MP_Finalize();
    MP_Sync();
}
static void bedlam(void) { MP_Bedlam("the moon is full"); }

/* Runs the mistake; what it writes comes back in TEXT. */
static int child(void (*mistake)(void), char *text, size_t room)
{
    int pipes[2], status;
    CHECK(pipe(pipes) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], 2);
        MP_Init(NULL, NULL);
        mistake();
        _exit(0);
    }
    close(pipes[1]);
    size_t got = 0;
    for (ssize_t n; got < room - 1 && (n = read(pipes[0], text + got, room - 1 - got)) > 0;)
        got += (size_t)n;
    text[got] = 0;
    close(pipes[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    static const struct {
        void (*mistake)(void);
        const char *call, *words;
    } cases[] = {
        {too_long, "MP_Recv", "a message of tag 4 came from rank 0 that is longer than the 8 bytes left of 8"},
        {too_long_at_last, "MP_Recv", "longer than the 3 bytes left of 8"},
        {too_long_ahead, "MP_ARecv", "longer than the 3 bytes left of 8"},
        {wrong_rank, "MP_Send", "the destination 1 is no rank of this job: they are 0 to 0"},
        {wrong_source, "MP_Recv", "the source -2"},
        {wrong_tag, "MP_Send", "a tag of -1"},
        {wrong_count, "MP_dSend", "a count of -3"},
        {overflow, "MP_dSum", "a count of "},
        {stale_id, "MP_Wait", "not yet waited for"},
        {wrong_root, "MP_Bcast", "the root 3"},
        {negative_root, "MP_Bcast", "the root -1"},
        {negative_root_masked, "MP_Bcast_masked", "the root -1"},
        {left_out, "MP_iSum_masked", "leaves this rank out"},
        {no_grid, "MP_Cart_Coords", "MP_Cart_Create must come before"},
        {wrong_grid, "MP_Cart_Create", "dimension 1 is 2"},
        {twice, "MP_Init", "called before"},
        {afterwards, "MP_Sync", "MP_Init must come before"},
        {bedlam, "MP_Bedlam", "the moon is full"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char text[2000];
        CHECK_EQUAL(child(cases[i].mistake, text, sizeof text), 1);
        bool good = strstr(text, cases[i].call) && strstr(text, cases[i].words) && strchr(text, '\n') == strrchr(text, '\n');
        if (!good)
            fprintf(stderr, "%s: %s\n", cases[i].words, text);
        CHECK(good);
    }
    return check_done();
}
