/* While the kernel writes into registered memory, other memory can be registered and given up, and what is written to
 * is not given up before the call has returned. */
#include "tcp_pair.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { LENGTH = 4 << 20 };
static unsigned char memory[LENGTH];
static struct vi_region region;
static pthread_t giver;
static _Atomic bool armed, calling, given_up;

static void *other_memory(void *unused)
{
    static char some[100];
    struct vi_region other;

    (void)unused;
    CHECK_EQUAL(vi_reg(pair[1].nic, some, sizeof(some), &other), OK);
    vi_dereg(&other);
    return NULL;
}

static void *this_memory(void *unused)
{
    (void)unused;
    vi_dereg(&region);
    CHECK(!atomic_load(&calling));
    atomic_store(&given_up, true);
    return NULL;
}

/* In the place of the C library's: the provider reads puts by it, and calls from its seat. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    unsigned char *to = message->msg_iov[0].iov_base;
    if (to >= memory && to < memory + LENGTH && atomic_exchange(&armed, false)) {
        pthread_t thread;
        atomic_store(&calling, true);
        CHECK_EQUAL(pthread_create(&thread, NULL, other_memory, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
        CHECK_EQUAL(pthread_create(&giver, NULL, this_memory, NULL), 0);
        usleep(2000);
        CHECK(!atomic_load(&given_up));
    }
    ssize_t got = syscall(SYS_recvmsg, fd, message, flags);
    atomic_store(&calling, false);
    return got;
}

int main(void)
{
    unsigned char *local = malloc(LENGTH);
    struct iovec piece = {local, LENGTH};
    struct vi_transfer put = {.local = &piece, .pieces = 1, .cookie = &region};

    memset(local, 1, LENGTH);
    pair_open(2);
    CHECK_EQUAL(vi_reg(pair[1].nic, memory, LENGTH, &region), OK);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    put.key = region.key;
    atomic_store(&armed, true);
    CHECK_EQUAL(vi_put(pair[0].vi[1], &put), OK);
    PAIR_WAIT(pair[0].done == 1);
    CHECK(!atomic_load(&armed));
    CHECK_EQUAL(pthread_join(giver, NULL), 0);
    CHECK(atomic_load(&given_up));
    free(local);
    pair_close();
    return check_done();
}
