/* Who holds connections and sets: children that end without a word leave nothing behind that cannot be used again, a mark
 * is taken by the child or for it, and while a process forks nothing in it is opened or closed. */
#include "check.h"
#include "sock/file.h"
#include "sock/holder.h"
#include "sock/policy.h"
#include "sock/real.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD 5

static pid_t child_make(uint32_t *mark)
{
    sock_freeze();
    *mark = sock_family_fork();
    pid_t pid = fork();
    if (pid == 0)
        sock_family_child(*mark);
    sock_thaw();
    return pid;
}

/* What the test does in a child, to its end. */
static void in_child(void (*act)(void))
{
    uint32_t mark;
    pid_t pid = child_make(&mark);
    if (pid == 0) {
        act();
        _exit(check_done());
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void take_links(void)
{
    for (int i = 0; i < 17000; i++)
        CHECK(sock_file_open(STAGE_PLAIN, false) != NULL);
}
static void take_sets(void)
{
    for (unsigned i = 0; i < 3000; i++)
        CHECK(sock_set_take() != 0);
}

/* More than there are. */
static void nothing_is_lost(void)
{
    for (int i = 0; i < 4; i++)
        in_child(take_links);
    usleep(110000); /* since the last time that the dead were looked for */
    for (int i = 0; i < 3; i++) {
        in_child(take_sets);
        usleep(110000);
    }
}

static void child_closes(void)
{
    struct sock_file *file = sock_hold(FD);
    CHECK(file != NULL && !sock_link_alone(file->link));
    CHECK(sock_file_remove(FD, file));
    sock_drop(file);
}

static void children_are_counted(void)
{
    struct sock_file *file = sock_file_open(STAGE_PLAIN, false);
    uint32_t mark;
    sock_file_add(FD, file);
    CHECK(sock_link_alone(file->link));
    in_child(child_closes);
    CHECK(!sock_holders_others(&file->link->holders));

    pid_t pid = child_make(&mark); /* it ends before it is counted by itself */
    if (pid == 0)
        _exit(0);
    sock_family_made(mark, (uint32_t)pid);
    CHECK(!sock_holders_have(&file->link->holders, mark));
    CHECK(waitpid(pid, NULL, 0) == pid && sock_link_alone(file->link));

    mark = sock_family_fork(); /* there is none */
    CHECK(!sock_link_alone(file->link));
    sock_family_made(mark, 0);
    CHECK(sock_link_alone(file->link));
    for (int i = 0; i < 2 * SOCK_HOLDERS; i++) { /* as many as there are, one after the other, dead */
        pid = child_make(&mark);
        if (pid == 0)
            _exit(0);
        CHECK(waitpid(pid, NULL, 0) == pid);
    }
    CHECK(sock_link_alone(file->link));
    CHECK(sock_file_remove(FD, file));
    sock_drop(file);
    CHECK(atomic_load(&file->link->stage) == STAGE_FREE);
}

static _Atomic int open_now, most;
static _Atomic bool over;

static void *changes(void *nothing)
{
    while (!atomic_load(&over)) {
        sock_change_begin();
        sock_change_begin();
        atomic_fetch_add(&open_now, 1);
        sched_yield();
        atomic_fetch_sub(&open_now, 1);
        sock_change_end();
        sock_change_end();
    }
    return nothing;
}

static void *freezes(void *nothing)
{
    for (int i = 0; i < 500; i++) {
        sock_freeze();
        int seen = atomic_load(&open_now);
        if (seen > atomic_load(&most))
            atomic_store(&most, seen);
        sock_thaw();
    }
    return nothing;
}

static void nothing_changes_while_frozen(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? changes : freezes, NULL) == 0);
    pthread_join(threads[2], NULL);
    pthread_join(threads[3], NULL);
    atomic_store(&over, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK(atomic_load(&most) == 0);
    CHECK(sock_freezes() >= 1000);
}

int main(void)
{
    sock_real_find();
    sock_policy.on = true;
    CHECK(sock_family_open());
    nothing_changes_while_frozen();
    children_are_counted();
    nothing_is_lost();
    return check_done();
}
