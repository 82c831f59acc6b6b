/* The trace: the tree of calls of several threads is complete, nested and timed; nothing is lost by a sudden death;
 * two processes may share a file; a child after fork keeps out. */
#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void leaf(void)
{
    TRACE("leaf");
}

static void branch(int leaves)
{
    TRACE("branch");
    for (int i = 0; i < leaves; i++)
        leaf();
}

static void *grow(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++)
        branch(3);
    return NULL;
}

/* Runs in a child: turns the trace on as a program would. */
static void begin(const char *path)
{
    setenv("VIADUCT_TRACE", path, 1);
    if (vbase_settings_read() != OK)
        _exit(90);
    vbase_log_rank(7);
    if (!vbase_trace_on)
        _exit(91);
}

static void four_threads(const char *path)
{
    pthread_t thread[4];
    begin(path);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, grow, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    exit(0);
}

static void sudden_death(const char *path)
{
    begin(path);
    grow(NULL);
    kill(getpid(), SIGKILL);
}

static void fork_inside(const char *path)
{
    begin(path);
    branch(2);
    pid_t child = fork();
    if (child == 0) {
        branch(2);
        exit(vbase_trace_on);
    }
    int status;
    waitpid(child, &status, 0);
    exit(status != 0);
}

static int run(void (*what)(const char *), const char *path)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        what(path);
        _exit(92);
    }
    waitpid(child, &status, 0);
    return status;
}

/* Every line makes sense, every thread's calls are nested; the number of finished leaves. */
static int leaves_in(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[400];
    int leaves = 0, depth[64] = {0};
    double last[64] = {0};
    if (!file)
        return -1;
    while (fgets(line, sizeof(line), file)) {
        double at, spent = 0;
        unsigned thread;
        char way, what[100];
        if (line[0] == '\n')
            continue;
        int n = sscanf(line, "%lf %u %c %99s %lf us", &at, &thread, &way, what, &spent);
        CHECK(n >= 4 && thread < 64 && (way == '<' || way == '>'));
        if (n < 4 || thread >= 64)
            break;
        CHECK(at >= last[thread]);
        last[thread] = at;
        depth[thread] += way == '>' ? 1 : -1;
        CHECK(depth[thread] >= 0 && depth[thread] <= 2);
        CHECK(n == (way == '<' ? 5 : 4));
        CHECK(spent >= 0 && spent < 1e8);
        CHECK(strcmp(what, depth[thread] + (way == '<') == 2 ? "leaf" : "branch") == 0);
        leaves += way == '<' && strcmp(what, "leaf") == 0;
    }
    for (int i = 0; i < 64; i++)
        CHECK_EQUAL(depth[i], 0);
    fclose(file);
    return leaves;
}

static long size_of(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

int main(void)
{
    char folder[200], path[300], pattern[300];
    check_folder(folder);
    snprintf(pattern, sizeof(pattern), "%s/t.%%r", folder);
    snprintf(path, sizeof(path), "%s/t.7", folder);

    CHECK(!vbase_trace_on);
    branch(1); /* off: nothing happens */
    CHECK_EQUAL(run(four_threads, pattern), 0);
    CHECK_EQUAL(leaves_in(path), 4 * 500 * 3);
    unlink(path);

    CHECK_EQUAL(run(sudden_death, pattern), SIGKILL);
    CHECK_EQUAL(leaves_in(path), 500 * 3);
    unlink(path);

    CHECK_EQUAL(run(fork_inside, pattern), 0);
    CHECK_EQUAL(leaves_in(path), 2);
    CHECK(size_of(path) < 1000); /* nothing but its lines */

    /* a second process adds to the file without %r */
    CHECK_EQUAL(run(fork_inside, path), 0);
    CHECK(size_of(path) > 0);
    unlink(path);
    rmdir(folder);
    return check_done();
}
