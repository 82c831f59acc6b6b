/* The log: what a line looks like, that it leaves with one write, where it goes, and the gate.
 * Standard error is a datagram socket here, so that one write is one packet. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "check.h"
#include <errno.h>
#include <stdatomic.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int ear, old_stderr;

static void listen_to_stderr(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
        exit(99);
    old_stderr = dup(2);
    dup2(pair[1], 2);
    close(pair[1]);
    ear = pair[0];
}

static void stop_listening(void)
{
    dup2(old_stderr, 2);
    close(old_stderr);
    close(ear);
}

/* The next packet, "" if there is none. */
static const char *heard(void)
{
    static char text[8192];
    ssize_t n = recv(ear, text, sizeof(text) - 1, MSG_DONTWAIT);
    text[n < 0 ? 0 : n] = 0;
    return text;
}

static void lines(void)
{
    char want[64], longest[5000], first[64], plain[64], rank[64], cut[4000], debug[64], fail[64], quiet[64];
    memset(longest, 'y', sizeof(longest));
    longest[sizeof(longest) - 1] = 0;
    listen_to_stderr();
    errno = EBUSY;
    LOG_WARN("number %d", 5);
    int kept = errno;
    snprintf(first, sizeof(first), "%s", heard());
    LOG_ERROR("two\nlines\033[31m and \x7f");
    snprintf(plain, sizeof(plain), "%s", heard());
    vbase_log_rank(3);
    LOG_WARN("of a rank");
    snprintf(rank, sizeof(rank), "%s", heard());
    LOG_WARN("%s", longest);
    snprintf(cut, sizeof(cut), "%s", heard());
    LOG_INFO("not shown");
    (void)!vbase_fail(ERR_STATE, "not shown");
    snprintf(quiet, sizeof(quiet), "%s", heard());
    vbase_log_level = LOG_LEVEL_DEBUG;
    LOG_DEBUG("shown");
    snprintf(debug, sizeof(debug), "%s", heard());
    (void)!vbase_fail(ERR_STATE, "the %s", "cause");
    snprintf(fail, sizeof(fail), "%s", heard());
    vbase_log_level = LOG_LEVEL_WARN;
    vbase_log_rank(-1);
    stop_listening();

    CHECK_EQUAL(kept, EBUSY);
    CHECK_TEXT(first, "viaduct: warning: number 5\n");
    char letters[] = "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|\xc2\x9b\x9b\x1b\x7f\xe2\x82|\xff\xc0\xaf|\xe0\x80\xaf\xed\xa0\x80\xf4\x90\x80\x80|\xed\x9f\xbf";
    vbase_plain(letters, strlen(letters));
    CHECK_TEXT(letters, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|       |   |          |\xed\x9f\xbf");
    CHECK_TEXT(plain, "viaduct: error: two lines [31m and  \n");
    CHECK_TEXT(rank, "viaduct: [rank 3] warning: of a rank\n");
    snprintf(want, sizeof(want), "viaduct: [rank 3] warning: yyyy");
    CHECK(strncmp(cut, want, strlen(want)) == 0);
    CHECK(strlen(cut) > 1000 && strlen(cut) < 4000);
    CHECK_TEXT(cut + strlen(cut) - 4, "...\n");
    CHECK_TEXT(quiet, "");
    CHECK_TEXT(debug, "viaduct: [rank 3] debug: shown\n");
    CHECK_TEXT(fail, "viaduct: [rank 3] debug: STATE: the cause\n");
}

static int evaluated(void)
{
    static int times;
    return ++times;
}

static void arguments_cost_nothing_when_off(void)
{
    LOG_INFO("%d", evaluated());
    CHECK_EQUAL(evaluated(), 1);
}

static void once(void)
{
    int packets = 0;
    listen_to_stderr();
    for (int i = 0; i < 5; i++)
        LOG_WARN_ONCE("only once");
    while (*heard())
        packets++;
    stop_listening();
    CHECK_EQUAL(packets, 1);
}

static void gate(void)
{
    struct base_log_gate g = {0};
    char more[LOG_MORE] = "?";
    CHECK(vbase_log_gate_open(&g, 1, more));
    CHECK_TEXT(more, ""); /* the first line says nothing of others */
    for (int i = 0; i < 7; i++)
        CHECK(!vbase_log_gate_open(&g, 1, more));
    atomic_store(&g.next_ns, vbase_clock_ns() - 1); /* the second is over */
    CHECK(vbase_log_gate_open(&g, 1, more));
    CHECK_TEXT(more, " (7 more like this)");
    CHECK(!vbase_log_gate_open(&g, 1, more));
    atomic_store(&g.next_ns, vbase_clock_ns() - 1);
    CHECK(vbase_log_gate_open(&g, 1, more));
    CHECK_TEXT(more, " (1 more like this)");
}

static struct base_log_gate shared_gate;
static _Atomic int opened;
static void *push(void *unused)
{
    (void)unused;
    char more[LOG_MORE];
    for (int i = 0; i < 10000; i++)
        if (vbase_log_gate_open(&shared_gate, 1000, more))
            opened++;
    return NULL;
}

static void gate_with_threads(void)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, push, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQUAL(opened, 1);
    CHECK_EQUAL(shared_gate.held, 4 * 10000 - 1);
}

static void *shout(void *number)
{
    for (int i = 0; i < 200; i++)
        LOG_WARN("thread %d line %d %s", *(int *)number, i, "abcdefghijklmnopqrstuvwxyz");
    return NULL;
}

/* Several threads and a file: every line whole, every line there. Before the rank is known: standard error. */
static void file_of_the_rank(const char *folder)
{
    static char pattern[300], path[300];
    char line[300], early[100];
    int numbers[4] = {0, 1, 2, 3}, count = 0;
    pthread_t thread[4];
    snprintf(pattern, sizeof(pattern), "%s/log.%%r.txt", folder);
    snprintf(path, sizeof(path), "%s/log.12.txt", folder);
    FILE *file = fopen(path, "w"); /* of an earlier run: kept */
    fputs("earlier\n", file);
    fclose(file);
    vbase_settings.log_file = pattern;
    listen_to_stderr();
    LOG_WARN("early");
    snprintf(early, sizeof(early), "%s", heard());
    vbase_log_rank(12);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, shout, &numbers[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    stop_listening();
    CHECK_TEXT(early, "viaduct: warning: early\n");

    file = fopen(path, "r");
    int next[4] = {0};
    CHECK(file && fgets(line, sizeof(line), file) && strcmp(line, "earlier\n") == 0);
    while (file && fgets(line, sizeof(line), file)) {
        int t, i;
        char letters[40], end;
        count++;
        CHECK(sscanf(line, "viaduct: [rank 12] warning: thread %d line %d %39s%c", &t, &i, letters, &end) == 4);
        CHECK(end == '\n');
        CHECK_TEXT(letters, "abcdefghijklmnopqrstuvwxyz");
        CHECK(t >= 0 && t < 4 && next[t]++ == i);
    }
    CHECK_EQUAL(count, 800);
    if (file)
        fclose(file);
    unlink(path);
    rmdir(folder);
}

static void unwritable_file(void)
{
    pid_t child = fork();
    if (child == 0) { /* a fresh state: the file of this process is not open yet */
        char why[200], text[200], more[200];
        vbase_settings.log_file = "/nowhere/at/all";
        listen_to_stderr();
        LOG_WARN("still heard");
        snprintf(why, sizeof(why), "%s", heard());
        snprintf(text, sizeof(text), "%s", heard());
        LOG_WARN("and again");
        snprintf(more, sizeof(more), "%s", heard());
        stop_listening();
        CHECK_TEXT(why, "viaduct: warning: the log file /nowhere/at/all cannot be opened (No such file or directory): "
                        "the log goes to standard error\n");
        CHECK_TEXT(text, "viaduct: warning: still heard\n");
        CHECK_TEXT(more, "viaduct: warning: and again\n");
        _exit(check_done());
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
}

int main(void)
{
    char folder[200];
    lines();
    arguments_cost_nothing_when_off();
    once();
    gate();
    gate_with_threads();
    unwritable_file();
    check_folder(folder);
    file_of_the_rank(folder);
    return check_done();
}
