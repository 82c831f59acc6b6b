/* By LD_PRELOAD: the loopback interface is told by the kernel as if it were a card of InfiniBand (IPoIB), that of the device double0
 * in subnet DOUBLE_SUBNET (double.c): its hardware address has 20 bytes, of which the last 16 are the GID of the port. */
#include <dlfcn.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct hardware {
    struct rtattr head;
    uint8_t bytes[4], gid[16];
};

/* In the place of its own one, and of all that stands behind its name: an attribute of no meaning fills the message. */
static void spoil(struct nlmsghdr *message)
{
    struct ifinfomsg *link = NLMSG_DATA(message);
    struct rtattr *name = IFLA_RTA(link);
    const char *subnet = getenv("DOUBLE_SUBNET");
    struct hardware ours = {{sizeof ours, IFLA_ADDRESS}, {0}, {0xfe, 0x80, [7] = (uint8_t)atoi(subnet ? subnet : "0"), [15] = 1}};
    int left = (int)IFLA_PAYLOAD(message);
    if (!RTA_OK(name, left) || name->rta_type != IFLA_IFNAME || strcmp(RTA_DATA(name), "lo") != 0)
        return;
    struct rtattr *rest = RTA_NEXT(name, left);
    memcpy(rest, &ours, sizeof ours);
    rest = (struct rtattr *)((char *)rest + sizeof ours);
    *rest = (struct rtattr){(unsigned short)(left - (int)sizeof ours), 0x3fff};
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    static ssize_t (*real)(int, void *, size_t, int);
    struct sockaddr_storage own;
    socklen_t length = sizeof own;
    if (!real)
        real = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    ssize_t got = real(fd, data, size, flags);
    if (got <= 0 || getsockname(fd, (struct sockaddr *)&own, &length) || own.ss_family != AF_NETLINK)
        return got;
    int left = (int)got;
    for (struct nlmsghdr *m = data; NLMSG_OK(m, (unsigned)left); m = NLMSG_NEXT(m, left))
        if (m->nlmsg_type == RTM_NEWLINK)
            spoil(m);
    return got;
}
