/* Somebody orders something of a nic in the very moment in which it sets the timer that is to wake it: it does not sleep on.
 * apart: 1 */
#include "tcp_pair.h"
#include "vi/tcp/tcp.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

static struct call_nic *ordered; /* when its timer is set next */

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *before)
{
    struct call_nic *nic = ordered;

    ordered = NULL;
    if (nic)
        call_order(nic);
    return (int)syscall(SYS_timerfd_settime, fd, flags, when, before);
}

/* Does it fall asleep, and stay so for that time? */
static bool sleeps(int ms)
{
    struct vi_wait wait;
    bool quiet = vi_arm(pair[0].nic, VI_ARM_SLEEP, &wait) == OK &&
                 poll(&(struct pollfd){.fd = wait.descriptor, .events = wait.events}, 1, ms) == 0;

    CHECK_EQUAL(vi_arm(pair[0].nic, VI_ARM_AWAKE, NULL), OK);
    return quiet;
}

int main(void)
{
    CHECK_EQUAL(vbase_settings_read(), OK);
    pair_open(1);
    pair_poll();
    CHECK(sleeps(10));
    ordered = &tcp_nic_of(pair[0].nic)->call;
    CHECK(!sleeps(1000));
    CHECK(!ordered); /* it was in that moment */
    pair_poll();
    CHECK(sleeps(10));
    pair_close();
    return check_done();
}
