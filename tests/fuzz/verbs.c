/* What comes over a connection of verbs: the greeting over its socket, in pieces, then frames whose lengths a completion reports. What
 * is not refused is within what queue pairs take, and its payload within its frame. */
#include "fuzz.h"
#include "base/error.h"
#include "check.h"
#include "vi/call/hello.h"
#include "vi/verbs/wire.h"
#include <sys/socket.h>
#include <unistd.h>

static void greeting(const uint8_t *data, size_t size)
{
    struct verbs_meeting meeting;
    uint32_t heard = 0;
    int pair[2], error = ERR_AGAIN;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
        return;
    for (size_t at = 0, step = 1 + size % 7; at < size && error == ERR_AGAIN; at += step) {
        size_t length = size - at < step ? size - at : step;
        if (write(pair[1], data + at, length) != (ssize_t)length)
            abort();
        error = call_greeting_hear(pair[0], &meeting, sizeof meeting, &heard);
        CHECK(heard < sizeof meeting);
    }
    CHECK((error == OK) == (size >= sizeof meeting));
    if (error == OK && !verbs_meeting_fault(&meeting))
        CHECK(meeting.magic == VERBS_MAGIC && meeting.number < 1u << 24 && meeting.first < 1u << 24 && meeting.mtu >= 1 && meeting.mtu <= 5);
    close(pair[0]);
    close(pair[1]);
}

static void frame(const uint8_t *data, size_t size)
{
    struct verbs_frame frame = {0};
    uint32_t length = (uint32_t)size;
    memcpy(&frame, data, size < sizeof frame ? size : sizeof frame);
    if (verbs_frame_fault(&frame, length))
        return;
    CHECK(length >= sizeof frame && frame.kind >= VERBS_SEND && frame.kind <= VERBS_WRITTEN);
    CHECK(frame.kind == VERBS_SEND || length == sizeof frame);
    CHECK(frame.kind != VERBS_ARRIVED || (uint32_t)frame.word <= VERBS_MAX_PUT);
}

int FUZZ(const uint8_t *data, size_t size)
{
    if (size > 4000)
        return 0;
    greeting(data, size);
    frame(data, size);
    return 0;
}
