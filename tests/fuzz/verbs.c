/* What comes over a connection of verbs: the greeting over its socket, in pieces, then frames whose lengths a
 * completion reports. What is not refused is within what queue pairs take, its payload within its frame, and what it
 * says of credit within what was sent (vi/verbs_frames.c). */
#include "fuzz.h"
#include "base/settings.h"
#include "vi/verbs_frames.c"
#include "vi/call/hello.h"
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
        CHECK(meeting.magic == VERBS_MAGIC && meeting.number < 1u << 24 && meeting.first < 1u << 24 &&
              meeting.mtu >= 1 && meeting.mtu <= 5);
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
    CHECK(frame.kind == VERBS_SEND ? length <= sizeof frame + VERBS_MAX_SEND : length == sizeof frame);
    CHECK(frame.kind != VERBS_ARRIVED || (uint32_t)frame.word <= VERBS_MAX_PUT);
}

/* Completions of any kind, while this side sends and keeps frames. */
static void connection(const uint8_t *data, size_t size)
{
    fuzz_begin(data, size);
    uint64_t sent = VERBS_DEPTH + (fuzz_word(0) >> 2);
    begin(sent, sent - fuzz_below(VERBS_DEPTH), 0);
    while (!fuzz_over()) {
        struct verbs_frame frame = {.word = fuzz_word(0), .kind = (uint16_t)fuzz_below(VERBS_KINDS + 1)};
        unsigned how = fuzz_byte();
        it->vi.sent += fuzz_below(4);
        it->vi.unsent = fuzz_below((unsigned)(it->vi.sent - it->vi.taken) % 8 + 1);
        frame.taken = (uint32_t)fuzz_word(it->vi.taken);
        play(&frame, (uint32_t)fuzz_word(sizeof frame), how % 8 ? IBVERBS_WC_RECV : IBVERBS_WC_RECV_RDMA_WITH_IMM,
             how > 250);
    }
    end();
}

int FUZZ(const uint8_t *data, size_t size)
{
    static bool begun;
    if (!begun) {
        setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
        CHECK_EQUAL(vbase_settings_read(), OK);
        begun = true;
    }
    if (size > 4000)
        return 0;
    greeting(data, size);
    frame(data, size);
    connection(data, size);
    if (check_failed)
        abort();
    return 0;
}
