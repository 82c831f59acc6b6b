/* While threads take numbers behind the limit of descriptors, nothing else sees the limit raised: not a thread that reads
 * or sets it, and no child. */
#include "check.h"
#include "sock/hooks.h"
#include "sock/policy.h"
#include "sock/process.h"
#include "sock/real.h"
#include "sock/table.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOFT   64
#define ROUNDS 20000
#define FORKS  150

static _Atomic bool over;
static _Atomic uint32_t taken;

static void *take(void *nothing)
{
    while (!atomic_load(&over)) {
        int fd = sock_own_copy(0);
        if (fd < 0)
            continue;
        atomic_fetch_add(&taken, fd >= SOFT);
        sock_own_close(fd);
    }
    return nothing;
}

static rlim_t soft(void)
{
    struct rlimit limit = {0, 0};
    (void)sock_getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

static void *set(void *hard)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct rlimit old, limit = {SOFT + (rlim_t)i % 2, *(rlim_t *)hard};
        CHECK(sock_setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(soft() == limit.rlim_cur);
        CHECK(sock_prlimit(0, RLIMIT_NOFILE, NULL, &old) == 0 && old.rlim_cur == limit.rlim_cur);
    }
    return NULL;
}

/* Past our functions. */
static rlim_t inherited(void)
{
    struct rlimit limit = {0, 0};
    (void)sock_real.getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

static void children(void)
{
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t pid = sock_fork();
        if (pid == 0) /* nor may a lock be held there for good */
            _exit(inherited() == SOFT && soft() == SOFT && sock_own_copy(0) >= SOFT ? 0 : 1);
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
    for (int i = 0; i < FORKS; i++)
        CHECK(sock_system("[ $(ulimit -Sn) = 64 ]") == 0);
}

int main(void)
{
    struct rlimit limit;
    pthread_t threads[2], setter;
    sock_real_find();
    sock_policy.on = true;
    sock_process_start();
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max > SOFT + 10);
    rlim_t hard = limit.rlim_max;
    limit.rlim_cur = SOFT;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, take, NULL) == 0);
    CHECK(pthread_create(&setter, NULL, set, &hard) == 0);
    pthread_join(setter, NULL);
    CHECK(sock_setrlimit(RLIMIT_NOFILE, &limit) == 0);
    children();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&taken) > 100);
    CHECK(inherited() == SOFT);
    return check_done();
}
