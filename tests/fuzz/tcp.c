/* Frames of a tcp connection whose other side has proved itself, and then sends anything: over loopback, between two nics of one
 * process, past the sender's nic. */
#include "vi/tcp_pair.h"
#include "vi/tcp/tcp.h"
#include <sys/socket.h>
#include "fuzz.h"

int FUZZ(const uint8_t *data, size_t size)
{
    static bool begun;
    static unsigned char memory[4096];
    struct vi_region region;
    if (!begun) {
        setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
        CHECK_EQUAL(vbase_settings_read(), OK);
        begun = true;
    }
    if (size > 30000)
        return 0;
    memset(memory, 0, sizeof memory);
    pair_open(2);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    pair_send(0, 1, 0, 8);
    PAIR_WAIT(pair[1].got == 1 && pair[1].vi[0]);
    pair[1].spoiled = true;
    CHECK_EQUAL(vi_reg(pair[1].nic, memory + 64, 2048, &region), OK); /* what puts may write, and nothing else */
    struct call_link *link = tcp_vi_of(pair[0].vi[1])->call.link;
    if (link && link->fd >= 0)
        for (size_t at = 0, piece; at < size; at += piece) {
            piece = size - at < 700 ? size - at : 700;
            if (send(link->fd, data + at, piece, MSG_NOSIGNAL) < 0)
                break;
            for (int i = 0; i < 3; i++)
                CHECK(vi_poll(pair[1].nic, 16) >= 0);
        }
    for (int i = 0; i < 10; i++)
        CHECK(vi_poll(pair[1].nic, 16) >= 0);
    for (size_t i = 0; i < 64; i++)
        if (memory[i] || memory[64 + 2048 + i])
            abort();
    vi_dereg(&region);
    pair_close();
    if (check_failed)
        abort();
    return 0;
}
