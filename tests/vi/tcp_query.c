/* One thread asks how a session does, and what else goes through its card, while another one polls and other sessions of
 * that card begin and end.
 * timeout: 60 */
#include "tcp_pair.h"
#include "base/atomic.h"

#include <pthread.h>

#define SESSIONS 300

static _Atomic bool over;

static void *questions(void *vi)
{
    struct vi_state state;

    while (!atomic_load_explicit(&over, memory_order_relaxed))
        CHECK_EQUAL(vi_query(vi, &state), OK);
    return NULL;
}

int main(void)
{
    pthread_t asking;

    CHECK_EQUAL(vbase_settings_read(), OK);
    pair_open(3);
    CHECK_EQUAL(pair_connect(0, 1), OK);
    pair_send(0, 1, 0, 8);
    PAIR_WAIT(pair[1].got == 1);
    CHECK_EQUAL(pthread_create(&asking, NULL, questions, pair[0].vi[1]), 0);
    pair[0].disconnect_in_sink = true;
    for (uint64_t i = 0; i < SESSIONS && !check_failed; i++) {
        CHECK_EQUAL(pair_connect(0, 2), OK);
        pair_send(0, 2, i, 8);
        PAIR_WAIT(pair[2].got == i + 1);
        vi_disconnect(pair[2].vi[0]);
        pair[2].vi[0] = NULL;
        PAIR_WAIT(!pair[0].vi[2]);
    }
    atomic_store(&over, true);
    pthread_join(asking, NULL);
    pair_close();
    return check_done();
}
