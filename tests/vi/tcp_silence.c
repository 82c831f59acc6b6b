/* The other side's host vanishes in the middle of a greeting: in a network of our own the loopback interface goes down right
 * after the caller's proof has left. Whether the proof has arrived or not, the call ends within a bounded time, which is
 * shortened here, and when the network is back both meet.
 * waits: 4 timeout: 60 */
#include "tcp_pair.h"
#include "vi/tcp/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>

static bool loopback(bool up)
{
    struct ifreq what = {.ifr_name = "lo", .ifr_flags = up ? IFF_UP | IFF_RUNNING : 0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &what) == 0;

    close(fd);
    return good;
}

static int option(int fd, int name)
{
    int value = 0;
    socklen_t length = sizeof(value);

    CHECK_EQUAL(getsockopt(fd, IPPROTO_TCP, name, &value, &length), 0);
    return value;
}

static void shorten(int fd, int name, int most, int value)
{
    CHECK(option(fd, name) > 0 && option(fd, name) <= most);
    CHECK_EQUAL(setsockopt(fd, IPPROTO_TCP, name, &value, sizeof(value)), 0);
}

/* Bytes in the kernel: FIONREAD, that can be read; SIOCOUTQ, that the other side's kernel has not acknowledged. */
static int bytes_in(int fd, unsigned long what)
{
    int bytes = -1;
    CHECK(ioctl(fd, what, &bytes) == 0);
    return bytes;
}

/* Rank 0 has proved itself, and rank 1 falls silent: behind the proof, or (not ARRIVED) before it comes. */
static struct call_rail *proved(bool arrived)
{
    struct call_peer *peer;
    uint64_t since = vbase_clock_ns();
    int fd;

    CHECK_EQUAL(pair_connect(0, 1), OK);
    peer = tcp_nic_of(pair[0].nic)->call.peers[1];
    PAIR_WAIT(peer->rail[0].dial && peer->rail[0].dial->phase == CALL_GREETING);
    fd = peer->rail[0].dial->fd;
    while (bytes_in(fd, FIONREAD) == 0 && !pair_late(since)) /* the welcome comes */
        CHECK(vi_poll(pair[1].nic, 16) >= 0);
    if (!arrived)
        CHECK(loopback(false));
    while (peer->rail[0].dial->phase != CALL_PROVED && !pair_late(since))
        CHECK(vi_poll(pair[0].nic, 16) >= 0);
    while (arrived && bytes_in(fd, SIOCOUTQ) > 0 && !pair_late(since))
        sched_yield();
    CHECK_EQUAL(bytes_in(fd, SIOCOUTQ) == 0, arrived);
    CHECK(loopback(false));
    return &peer->rail[0];
}

static void vanish(bool arrived)
{
    struct call_rail *rail;
    uint64_t since;
    int fd;

    pair_open(2);
    pair[1].disconnect_in_sink = true; /* it may have taken the first call for the connection */
    rail = proved(arrived);
    fd = rail->dial->fd;
    shorten(fd, TCP_KEEPIDLE, (int)TUNED(LINK_KEEP_IDLE), 1);
    shorten(fd, TCP_KEEPINTVL, (int)TUNED(LINK_KEEP_GAP), 1);
    shorten(fd, TCP_KEEPCNT, (int)TUNED(LINK_KEEP_PROBES), 2);
    shorten(fd, TCP_USER_TIMEOUT, 30000, 1500);
    since = vbase_clock_ns();
    while (!rail->peer->cause && !pair_late(since))
        CHECK(vi_poll(pair[0].nic, 16) >= 0);
    CHECK(rail->peer->cause);
    CHECK(strstr(rail->last, strerror(ETIMEDOUT)));
    CHECK_EQUAL(pair[0].down, 0);

    CHECK(loopback(true));
    for (int n = 0; n < 10; n++)
        pair_send(0, 1, (uint64_t)n, 1000);
    PAIR_WAIT(pair[1].expected == 10);
    CHECK_EQUAL(option(tcp_vi_of(pair[0].vi[1])->call.link->fd, TCP_USER_TIMEOUT), 0); /* a rank may leave its socket full for hours */
    pair_close();
}

int main(void)
{
    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        printf("a network of our own is not permitted here: %s\n", strerror(errno));
        return 77;
    }
    CHECK(loopback(true));
    CHECK_EQUAL(vbase_settings_read(), OK);
    vanish(true);
    vanish(false);
    return check_done();
}
