/* What tests of pack share: blocks that tell where they came from. */
#ifndef TESTS_PACK_H
#define TESTS_PACK_H

#include "msg/harness.h"
#include "viaduct.h"

#define GUARD 0xa5

static inline vd_channel *channel_open(const char *name)
{
    vd_channel *channel = NULL;
    CHECK_EQUAL(vd_channel_open(name, NULL, &channel), VD_OK);
    if (!channel) {
        fprintf(stderr, "channel %s: %s\n", name, vd_error_text(VD_STATE));
        exit(1);
    }
    return channel;
}

/* A number that seems random and is the same everywhere; others in each round of make soak. */
static inline unsigned mixed(unsigned a, unsigned b)
{
    unsigned long long x = check_seed() ^ (a + 1) * 0x9E3779B97F4A7C15ull ^ (b + 1) * 0xD6E8FEB86659FD93ull;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ull;
    return (unsigned)(x >> 40);
}

#endif
