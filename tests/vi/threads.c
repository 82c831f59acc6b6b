/* Polling and sending at once: two nics, each with a thread that polls and two that send on a vi of their own. Everything
 * arrives, once and in order; TSan sees whether what they share is atomic or locked.
 * timeout: 120 */
#include "inside.h"

#include <pthread.h>
#include <sched.h>

#define EACH 20000u
#define NICS 3

static _Atomic bool stop;
static uint64_t next[NICS][NICS]; /* by receiver, sender; written by the receiver's polling thread */
static _Atomic int failures;
static _Atomic uint64_t received_all;

/* Nine at a time have one header and one length; every second nine are short, so that they share cells. */
static uint64_t header_of(uint64_t n) { return n / 9; }
static size_t length_of(uint64_t n) { return n / 9 % 2 ? n / 9 % 25 : n / 9 * 7 % 700; }

static bool one_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint32_t to = vi->nic->rank, from = vi->peer;
    uint64_t n = next[to][from]++;
    atomic_fetch_add(&received_all, 1);
    bool good = header == header_of(n) && length == length_of(n);

    for (size_t i = 0; i < length && good; i += 13)
        good = bytes[i] == check_byte((unsigned)n, i);
    if (!good)
        atomic_fetch_add(&failures, 1);
    return false;
}

static bool received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(one_received, vi, header, data, length, count);
}

static void *poller(void *nic)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        if (vi_poll(nic, 16) == 0)
            sched_yield();
    return NULL;
}

static void *sender(void *context)
{
    struct vi *vi = context;
    unsigned char data[700];
    struct iovec piece = {data, 0};
    struct vi_state state;

    for (uint64_t n = 0; n < EACH; n++) {
        piece.iov_len = length_of(n);
        for (size_t i = 0; i < piece.iov_len; i++)
            data[i] = check_byte((unsigned)n, i);
        while (vi_send(vi, header_of(n), &piece, 1) == ERR_AGAIN)
            sched_yield();
    }
    if (vi_query(vi, &state) != OK)
        atomic_fetch_add(&failures, 1);
    return NULL;
}

static void *connecter(void *context)
{
    int pair = *(int *)context;
    return sender(inside_connect(pair / NICS, pair % NICS));
}

int main(void)
{
    static int pairs[NICS * NICS];
    pthread_t senders[NICS * NICS], pollers[NICS];
    int n = 0;

    CHECK_EQUAL(vbase_settings_read(), OK);
    inside_start(NICS);
    for (int i = 0; i < NICS; i++) {
        inside_open(i);
        inside.nic[i]->sink.received = received;
        CHECK_EQUAL(pthread_create(&pollers[i], NULL, poller, inside.nic[i]), 0);
    }
    for (int i = 0; i < NICS * NICS; i++) {
        pairs[i] = i;
        if (i / NICS != i % NICS)
            CHECK_EQUAL(pthread_create(&senders[n++], NULL, connecter, &pairs[i]), 0);
    }
    while (n > 0)
        pthread_join(senders[--n], NULL);
    while (atomic_load(&received_all) < NICS * (NICS - 1) * EACH)
        sched_yield();
    atomic_store(&stop, true);
    for (int i = 0; i < NICS; i++)
        pthread_join(pollers[i], NULL);
    for (int i = 0; i < NICS * NICS; i++)
        CHECK_EQUAL(next[i / NICS][i % NICS], i / NICS == i % NICS ? 0 : EACH);
    CHECK_EQUAL(atomic_load(&failures), 0);
    inside_stop();
    return check_done();
}
