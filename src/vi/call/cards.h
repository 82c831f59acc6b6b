/* Which interfaces of this host are network cards for a job, what is told of them to others, and which of ours goes
 * with which of theirs. Pure functions over structures: only those of interfaces.c ask the kernel.
 *
 * The address of a process is one text, without blank, '=' and ';', below CALL_CARD_TEXT bytes:
 *      1,PORT,HOST,HELD,CARD,CARD...@NAME           CARD: ORDINAL KIND/ADDRESS/PREFIX/SPEED
 *      1,40123,9f3c21,-,0e/10.0.0.5/24/1000@n1   an example
 * NAME is the host's, for people. HOST tells network stacks apart (hexadecimal). HELD are hashes, 6 digits each, of the
 * addresses that this host has and does not offer, "-" for none: an address that both hosts hold, like that of a
 * container bridge, leads to the wrong one. ORDINAL numbers the interfaces. SPEED is in Mb/s, 0 unknown. */
#pragma once

#include "base/base.h"
#include <netinet/in.h>
#include <sys/epoll.h>

#define CALL_CARDS      8
#define CALL_HELD       32
#define CALL_INTERFACES 64
#define CALL_ADDRESSES  128
#define CALL_PAIRS      16
#define CALL_CARD_TEXT  1000
#define CALL_HOST_NAME  64

struct call_address {
    uint8_t family; /* AF_INET, AF_INET6 */
    uint8_t bytes[16];
};

struct call_text {
    char text[INET6_ADDRSTRLEN];
};

/* As the kernel describes them. */
struct call_interface {
    char name[16];
    char kind[16];     /* "" for hardware, else "veth", "bridge", "bond", "tun" ... */
    char slave_of[16]; /* the kind of its master, "" without one */
    uint8_t gid[16];   /* of the port of InfiniBand below it; zero: there is none */
    int index;
    uint32_t speed; /* Mb/s, 0 unknown */
    bool up, running, loopback;
};
struct call_interfaces {
    int count, addresses;
    struct call_interface interface[CALL_INTERFACES];
    struct {
        struct call_address address;
        int index; /* of its interface */
        uint8_t prefix;
        bool unsettled; /* tentative, deprecated, failed, or temporary */
    } address[CALL_ADDRESSES];
};

/* Of iWARP: of the verbs provider alone, for a queue pair of iWARP and one of RoCE do not understand each other. */
enum call_card_kind {
    CALL_KIND_HARD = 'e',
    CALL_KIND_VETH = 'v',
    CALL_KIND_TUNNEL = 't',
    CALL_KIND_LOOPBACK = 'l',
    CALL_KIND_IWARP = 'w'
};
struct call_card {
    struct call_address address;
    uint8_t prefix, ordinal;
    char kind; /* enum call_card_kind */
    uint32_t speed;
    char name[16];   /* of the interface; not told to others, nor is what follows */
    uint8_t gid[16]; /* as of an interface */
};
struct call_cards {
    uint16_t port;
    uint64_t host;
    char name[CALL_HOST_NAME + 1]; /* of the host; "": unknown */
    int count, helds;
    struct call_card card[CALL_CARDS];
    uint32_t held[CALL_HELD];
};

/* One of our addresses and one of theirs. */
struct call_pair {
    struct call_card mine, theirs;
    uint16_t port; /* theirs */
    bool local;    /* both are on one subnet */
};

int call_interfaces_read(struct call_interfaces *out) MUST_CHECK;

/* A socket for connections on CARD's address and PORT (0: any). With KEEP what is sent leaves by this card, and what
 * comes by another is not for it: where the kernel does not permit that, the address has to do. CALLS: it will connect,
 * else listen. -1: errno. */
int call_card_socket(const struct call_card *card, uint16_t port, bool keep, bool calls);

/* The end of a connection, and its port; 0: it is gone. */
uint16_t call_end_of(int fd, bool theirs, struct call_address *address);

void call_option(int fd, int level, int name, int value);
int call_close_failed(int fd); /* -1, and errno as it was */

/* Why the interface is no card, NULL: it is one (if it has an address that fits). */
const char *call_interface_fault(const struct call_interface *interface);

const char *call_interface_kind(const struct call_interface *interface);

/* Fills everything but port and host. */
void call_cards_choose(const struct call_interfaces *from, struct call_cards *cards);

/* Leaves the addresses of interface NAME. ERR_UNREACHABLE: it is none of them. */
int call_cards_only(struct call_cards *cards, const char *name) MUST_CHECK;

/* The card with this address, NULL: none. */
const struct call_card *call_card_of(const struct call_cards *cards, const struct call_address *address);

/* Those of this host, the port apart. ERR_UNSUPPORTED: there is none. */
int call_cards_own(struct call_cards *cards) MUST_CHECK;
/* The same, for a job; where all its ranks are on this host and no card of RDMA may be used, the loopback interface
 * alone: nothing listens on others. */
struct vi_setup;
int call_cards_for(const struct vi_setup *setup, struct call_cards *cards) MUST_CHECK;

/* ERR_LIMIT when it does not fit. */
int call_cards_write(const struct call_cards *cards, char *text, size_t size) MUST_CHECK;
/* ERR_PROTOCOL for anything that makes no sense. */
int call_cards_parse(const char *text, struct call_cards *cards) MUST_CHECK;

/* The pairs that may connect the two, best first, at most MOST; *RAILS of them use every card, the others are
 * alternatives. Both sides find the same pairs in the same order; MINE_FIRST on the side of the lower rank. */
int call_cards_match(const struct call_cards *mine, const struct call_cards *theirs, bool mine_first,
                     struct call_pair *pair, int most, int *rails);

/* What the first RAILS of them may carry together, Mb/s, by the ordinals of our cards. */
void call_cards_speeds(const struct call_pair *pair, int rails, uint32_t speed[CALL_CARDS]);

/* Where to bind and connect to. */
union call_place {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};
_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
               "one place of the port");
socklen_t call_address_place(const struct call_address *address, uint16_t port, union call_place *out); /* its length */
struct call_address call_place_address(const union call_place *place);
bool call_address_special(const struct call_address *address); /* it names no host to others */
bool call_address_equal(const struct call_address *a, const struct call_address *b);
struct call_text call_address_text(const struct call_address *address);
