/* What the kernel knows of the interfaces of this network namespace: two netlink dumps, and ethtool for the speed. Not
 * /sys, which may show another namespace than the one we are in. Called once when a nic is opened, and by the tools. */
#include "vi/call/cards.h"
#include "vi/vi.h"
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#define REPLY 32768

static void copy_name(char out[16], const struct rtattr *attribute)
{
    snprintf(out, 16, "%.*s", (int)RTA_PAYLOAD(attribute), (const char *)RTA_DATA(attribute));
}

static void read_kind(const struct rtattr *info, struct call_interface *to)
{
    int left = RTA_PAYLOAD(info);
    for (const struct rtattr *a = RTA_DATA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFLA_INFO_KIND)
            copy_name(to->kind, a);
        else if (a->rta_type == IFLA_INFO_SLAVE_KIND)
            copy_name(to->slave_of, a);
    }
}

/* That of InfiniBand is longer than others: 4 bytes of its own, then the GID of its port. */
static void read_hardware(const struct rtattr *address, struct call_interface *to)
{
    if (RTA_PAYLOAD(address) == 4 + sizeof(to->gid))
        memcpy(to->gid, (const char *)RTA_DATA(address) + 4, sizeof(to->gid));
}

static void read_link(const struct nlmsghdr *message, struct call_interfaces *out)
{
    const struct ifinfomsg *link = NLMSG_DATA(message);
    int left = (int)IFLA_PAYLOAD(message);
    struct call_interface *to = &out->interface[out->count];
    if (out->count == CALL_INTERFACES)
        return;
    *to = (struct call_interface){.index = link->ifi_index,
                                  .up = link->ifi_flags & IFF_UP,
                                  .running = (link->ifi_flags & IFF_RUNNING) && (link->ifi_flags & IFF_LOWER_UP),
                                  .loopback = link->ifi_flags & IFF_LOOPBACK};
    for (const struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFLA_IFNAME)
            copy_name(to->name, a);
        else if (a->rta_type == IFLA_ADDRESS)
            read_hardware(a, to);
        else if ((a->rta_type & NLA_TYPE_MASK) == IFLA_LINKINFO)
            read_kind(a, to);
    }
    out->count++;
}

static void read_address(const struct nlmsghdr *message, struct call_interfaces *out)
{
    const uint32_t unsettled = IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY;
    const struct ifaddrmsg *header = NLMSG_DATA(message);
    int left = (int)IFA_PAYLOAD(message);
    size_t size = header->ifa_family == AF_INET ? 4 : 16;
    const struct rtattr *found = NULL;
    uint32_t flags = header->ifa_flags;
    if (out->addresses == CALL_ADDRESSES || (header->ifa_family != AF_INET && header->ifa_family != AF_INET6))
        return;
    for (const struct rtattr *a = IFA_RTA(header); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && !found))
            found = a; /* on a point-to-point link IFA_ADDRESS is the other end */
        else if (a->rta_type == IFA_FLAGS)
            memcpy(&flags, RTA_DATA(a), sizeof(flags));
    }
    if (!found || RTA_PAYLOAD(found) < size)
        return;
    out->address[out->addresses].address.family = header->ifa_family;
    memcpy(out->address[out->addresses].address.bytes, RTA_DATA(found), size);
    out->address[out->addresses].index = (int)header->ifa_index;
    out->address[out->addresses].prefix = header->ifa_prefixlen;
    out->address[out->addresses].unsettled = flags & unsettled;
    out->addresses++;
}

/* Asks for all links or all addresses and reads the answer to its end. */
static int netlink_dump(int fd, uint16_t type, struct call_interfaces *out)
{
    struct {
        struct nlmsghdr header;
        struct rtgenmsg what;
    } ask = {{.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)), .nlmsg_type = type,
              .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}, {.rtgen_family = AF_UNSPEC}};
    char reply[REPLY] ALIGNED(8);

    if (send(fd, &ask, ask.header.nlmsg_len, 0) < 0)
        return vbase_fail_errno(ERR_SYSTEM, "asking the kernel for its interfaces");
    for (;;) {
        ssize_t got = recv(fd, reply, sizeof(reply), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return vbase_fail_errno(ERR_SYSTEM, "the kernel's list of interfaces");
        int left = (int)got;
        for (struct nlmsghdr *m = (struct nlmsghdr *)(void *)reply; left > 0 && NLMSG_OK(m, (uint32_t)left);
             m = NLMSG_NEXT(m, left)) {
            if (m->nlmsg_type == NLMSG_DONE)
                return OK;
            if (m->nlmsg_type == NLMSG_ERROR)
                return vbase_fail(ERR_SYSTEM, "the kernel does not list its interfaces");
            if (m->nlmsg_type == RTM_NEWLINK)
                read_link(m, out);
            else if (m->nlmsg_type == RTM_NEWADDR)
                read_address(m, out);
        }
    }
}

/* Mb/s, 0 where the driver does not say. */
static uint32_t speed_of(int fd, const char *name)
{
    struct ethtool_cmd settings = {.cmd = ETHTOOL_GSET};
    struct ifreq request = {.ifr_data = (void *)&settings};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (ioctl(fd, SIOCETHTOOL, &request) < 0)
        return 0;
    uint32_t speed = (uint32_t)settings.speed_hi << 16 | settings.speed;
    return speed == (uint32_t)SPEED_UNKNOWN || speed == UINT16_MAX ? 0 : speed;
}

int call_interfaces_read(struct call_interfaces *out)
{
    struct timeval patience = {.tv_sec = 5};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), error;
    if (fd < 0)
        return vbase_fail_errno(ERR_SYSTEM, "a netlink socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    out->count = out->addresses = 0;
    error = netlink_dump(fd, RTM_GETLINK, out) ?: netlink_dump(fd, RTM_GETADDR, out);
    close(fd);
    if (error)
        return error;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int i = 0; fd >= 0 && i < out->count; i++)
        out->interface[i].speed = speed_of(fd, out->interface[i].name);
    base_close(fd);
    return OK;
}

void call_option(int fd, int level, int name, int value) { (void)setsockopt(fd, level, name, &value, sizeof(value)); }

int call_close_failed(int fd)
{
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int call_card_socket(const struct call_card *card, uint16_t port, bool keep, bool calls)
{
    union call_place where;
    socklen_t length = call_address_place(&card->address, port, &where);
    int fd = socket(card->address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (calls)
        call_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    else if (card->address.family == AF_INET6)
        call_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (keep && card->kind != CALL_KIND_LOOPBACK)
        (void)setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, card->name, (socklen_t)strlen(card->name));
    if (port)
        call_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    return bind(fd, &where.any, length) == 0 ? fd : call_close_failed(fd);
}

uint16_t call_end_of(int fd, bool theirs, struct call_address *address)
{
    union call_place where;
    socklen_t length = sizeof(where);
    if (theirs ? getpeername(fd, &where.any, &length) : getsockname(fd, &where.any, &length))
        return 0;
    *address = call_place_address(&where);
    return ntohs(where.in.sin_port);
}

int call_cards_own(struct call_cards *cards)
{
    struct call_interfaces *interfaces = malloc(sizeof(*interfaces));
    int error = interfaces ? call_interfaces_read(interfaces) : vbase_fail(ERR_MEMORY, "the list of interfaces");
    if (!error)
        call_cards_choose(interfaces, cards);
    free(interfaces);
    if (!error && cards->count == 0)
        error = vbase_fail(ERR_UNSUPPORTED, "no interface of this host is up and has an address");
    cards->host = vbase_host_identity();
    if (gethostname(cards->name, sizeof(cards->name) - 1) < 0)
        cards->name[0] = '\0';
    return error;
}

int call_cards_for(const struct vi_setup *setup, struct call_cards *cards)
{
    int error = call_cards_own(cards), kept = 0;
    if (error || setup->card || vi_network_needed(setup->local_count, setup->ranks))
        return error;
    for (int i = 0; i < cards->count; i++)
        if (cards->card[i].kind == CALL_KIND_LOOPBACK)
            cards->card[kept++] = cards->card[i];
    cards->count = kept ? kept : cards->count;
    return OK;
}
