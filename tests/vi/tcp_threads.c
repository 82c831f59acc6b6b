/* Three nics, each with a thread that polls, and sleeps on the descriptor as soon as nothing is there; two threads for
 * each send on a vi of their own, put, and meet again under another session. Everything arrives, once and in order.
 * timeout: 120 */
#include "vi/vi.h"
#include "check.h"
#include "each.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/settings.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define NICS     3
#define SESSIONS 4
#define EACH     3000u /* messages of a session */

static struct vi_nic *nics[NICS];
static _Atomic bool stop;
static uint64_t next[NICS][NICS]; /* by receiver, sender; written by the receiver's polling thread */
static _Atomic uint64_t arrived[NICS][NICS];
static _Atomic int failures, puts_done, slept, quiet;
static unsigned char memory[NICS][4096];
extern const struct vi_ops tcp_ops;

static struct vi_region region[NICS];

static void failure(const char *what)
{
    if (atomic_fetch_add(&failures, 1) < 10)
        fprintf(stderr, "%s\n", what);
}

static bool one_received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint32_t to = vi->nic->rank, from = vi->peer;
    bool good = header == next[to][from]++ && length == header * 7 % 3000;

    for (size_t i = 0; i < length && good; i += 13)
        good = bytes[i] == check_byte((unsigned)header, i);
    if (!good)
        failure("a wrong message");
    atomic_fetch_add(&arrived[to][from], 1);
    return false;
}

static bool received(struct vi *vi, uint64_t header, const void *data, size_t length, uint32_t count)
{
    return vi_each(one_received, vi, header, data, length, count);
}

static void signalled(struct vi *vi, uint32_t immediate, uint64_t length)
{
    (void)length;
    (void)vi;
    if (immediate != 5)
        failure("a wrong immediate");
}

static _Atomic int put_done[NICS]; /* by sender */

static void done(struct vi *vi, void *cookie, int status)
{
    if (cookie != &puts_done || status != OK)
        failure("a put has failed");
    atomic_fetch_add(&puts_done, 1);
    atomic_fetch_add(&put_done[vi->nic->rank], 1);
}

static struct vi *accepted[NICS][4 * SESSIONS]; /* and not down yet; by the nic's polling thread */

static void accepted_change(uint32_t nic, struct vi *from, struct vi *to)
{
    for (size_t i = 0; i < ARRAY_LENGTH(accepted[nic]); i++)
        if (accepted[nic][i] == from) {
            accepted[nic][i] = to;
            return;
        }
    failure("more sessions than were made");
}

static void called(struct vi_nic *nic, uint32_t peer)
{
    struct vi *vi;

    if (vi_accept(nic, peer, NULL, &vi) == OK)
        accepted_change(nic->rank, NULL, vi);
    else
        failure("a call was not answered");
}

static void down(struct vi *vi, int cause)
{
    if (cause != ERR_LINK_DOWN)
        failure("a strange end");
    if (vi->owner) /* a caller ends his own */
        return;
    accepted_change(vi->nic->rank, vi, NULL);
    vi_disconnect(vi);
}

static void *poller(void *context)
{
    struct vi_nic *nic = context;
    struct vi_wait wait;

    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        if (vi_poll(nic, 16) > 0)
            continue;
        if (vi_arm(nic, VI_ARM_SLEEP, &wait) == OK) {
            uint64_t since = vbase_clock_ns();
            poll(&(struct pollfd){.fd = wait.descriptor, .events = wait.events}, 1, 10000);
            if (vbase_clock_ns() - since > 8000000000ull && !atomic_load(&stop) && !atomic_load(&quiet))
                failure("nobody woke a sleeper");
            atomic_fetch_add(&slept, 1);
        }
        (void)vi_arm(nic, VI_ARM_AWAKE, NULL);
    }
    return NULL;
}

static void send_all(struct vi *vi, uint64_t *number)
{
    unsigned char data[3000];
    struct iovec piece = {data, 0}, put_piece = {data, 1000};
    struct vi_transfer put = {.local = &put_piece, .pieces = 1, .key = region[vi->peer].key, .cookie = &puts_done,
                              .offset = vi->nic->rank * 1000, .signal = true, .immediate = 5};

    for (uint64_t end = *number + EACH; *number < end; ++*number) {
        int error;
        piece.iov_len = *number * 7 % 3000;
        for (size_t i = 0; i < piece.iov_len; i++)
            data[i] = check_byte((unsigned)*number, i);
        while ((error = vi_send(vi, *number, &piece, 1)) == ERR_AGAIN)
            sched_yield();
        if (error)
            failure("a send has failed");
    }
    int before = atomic_load(&puts_done);
    while (vi_put(vi, &put) == ERR_AGAIN)
        sched_yield();
    while (atomic_load(&puts_done) == before)
        sched_yield();
}

/* Session after session from one nic to the next; what went into one is taken there before it ends. */
static void *sender(void *context)
{
    int pair = *(int *)context, from = pair / NICS, to = pair % NICS;
    uint64_t number = 0;

    for (int session = 0; session < SESSIONS; session++) {
        struct vi_address address = {.peer = (uint32_t)to, .card = nics[to]->card};
        struct vi_state state;
        struct vi *vi;
        if (vi_connect(nics[from], &address, &stop, &vi) != OK) {
            failure("no connection");
            return NULL;
        }
        send_all(vi, &number);
        while ((atomic_load(&arrived[to][from]) < (uint64_t)(session + 1) * EACH || atomic_load(&put_done[from]) <= session) &&
               !atomic_load(&failures)) {
            (void)vi_query(vi, &state);
            sched_yield();
        }
        vi_disconnect(vi);
    }
    return NULL;
}

int main(void)
{
    static const struct vi_sink sink = {NULL, received, signalled, done, called, down, NULL};
    static const struct vi_provider provider = {"tcp", &tcp_ops};
    static const uint8_t secret[SECRET_SIZE] = "the threads' secret";
    static int pairs[NICS];
    pthread_t senders[NICS], pollers[NICS];

    CHECK_EQUAL(vbase_settings_read(), OK);
    for (uint32_t i = 0; i < NICS; i++) {
        struct vi_setup setup = {.rank = i, .ranks = NICS, .secret = secret, .node_fd = -1, .seat_fd = -1, .sink = &sink};
        CHECK_EQUAL(vi_nic_open(&provider, &setup, &nics[i]), OK);
        CHECK_EQUAL(vi_reg(nics[i], memory[i], sizeof(memory[i]), &region[i]), OK);
    }
    for (int i = 0; i < NICS; i++)
        CHECK_EQUAL(pthread_create(&pollers[i], NULL, poller, nics[i]), 0);
    for (int i = 0; i < NICS; i++) { /* 0 to 1, 1 to 2, 2 to 0 */
        pairs[i] = i * NICS + (i + 1) % NICS;
        CHECK_EQUAL(pthread_create(&senders[i], NULL, sender, &pairs[i]), 0);
    }
    for (int i = 0; i < NICS; i++)
        pthread_join(senders[i], NULL);
    for (int i = 0; i < NICS; i++)
        while (atomic_load(&arrived[(i + 1) % NICS][i]) < (uint64_t)SESSIONS * EACH && !atomic_load(&failures))
            usleep(1000);
    atomic_store(&quiet, 1);
    atomic_store(&stop, true);
    for (int i = 0; i < NICS; i++) {
        struct vi_address address = {.peer = (uint32_t)(i + 1) % NICS, .card = nics[(i + 1) % NICS]->card};
        struct vi *vi;
        CHECK_EQUAL(vi_connect(nics[i], &address, &stop, &vi), OK); /* wakes who sleeps */
        vi_disconnect(vi);
    }
    for (int i = 0; i < NICS; i++)
        pthread_join(pollers[i], NULL);
    CHECK_EQUAL(atomic_load(&failures), 0);
    CHECK_EQUAL(atomic_load(&puts_done), NICS * SESSIONS);
    CHECK(atomic_load(&slept) > 0);
    for (int i = 0; i < NICS; i++) {
        for (size_t j = 0; j < ARRAY_LENGTH(accepted[i]); j++)
            if (accepted[i][j]) /* its end was on the way when the polling stopped */
                vi_disconnect(accepted[i][j]);
        vi_dereg(&region[i]);
        vi_nic_close(nics[i]);
    }
    return check_done();
}
