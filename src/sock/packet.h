/* The packet of a meeting (meet.c), drawn in docs/wire.md: some words, and descriptors that come with them. It may come
 * from anybody: what is read is checked. */
#ifndef SOCK_PACKET_H
#define SOCK_PACKET_H

#include "base/compiler.h"

/* What the sides send each other, in one piece: the side that accepted its segment, both where they can be woken. */
enum gift { GIFT_SEGMENT, GIFT_BOARD, GIFT_EVENT, GIFTS };
struct sock_packet {
    uint32_t version, gifts; /* a bit for each descriptor that comes with it, in this order */
    uint64_t board;          /* its number */
    uint32_t place, unused;  /* whose eventfd it is */
};

/* Descriptors of -1 are left out; all stay the caller's. False: it did not go. */
bool sock_packet_send(int fd, struct sock_packet *packet, const int gifts[GIFTS]);
/* Descriptors are the caller's, close-on-exec, -1: not there. False: no such packet, and no descriptors. */
bool sock_packet_receive(int fd, struct sock_packet *packet, int gifts[GIFTS]);
void sock_gifts_close(const int gifts[GIFTS]);

#endif
