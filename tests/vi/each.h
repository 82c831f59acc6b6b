/* For sinks that look at one send after the other. */
#pragma once

#include "vi/vi.h"

/* Hands COUNT sends to a function, one at a time. */
static inline bool vi_each(bool (*one)(struct vi *, uint64_t, const void *, size_t), struct vi *vi, uint64_t header,
                           const void *data, size_t length, uint32_t count)
{
    bool enough = false;
    for (uint32_t i = 0; i < count; i++)
        enough |= one(vi, header, (const char *)data + i * length, length);
    return enough;
}
