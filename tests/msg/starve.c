/* Receivers that compute and hold what was sent to them do not keep a message from a rank that waits for it: they stay away until
 * that one has it.
 * timeout: 120 tcp: 1 */
#include "msg/transfer.h"
#include "harness.h"
#include <poll.h>
#include <time.h>

enum { BUSY = 4, EACH = 15, EAGER = 16000, LARGE = 1 << 20, PATIENCE_MS = 15000 };
static int served[2]; /* a pipe beside the library: readable when the last rank has got its messages */

static void sleep_ms(long ms)
{
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

/* What ranks 1 to BUSY get while they are away, and then the last rank, which waits for it. */
static struct msg_request busy[BUSY][EACH + 1];
static unsigned char data[LARGE], found[LARGE];

static void sender(size_t bytes)
{
    for (int rank = 1; rank <= BUSY; rank++)
        for (int i = 0; i <= EACH; i++) {
            struct msg_where to = {world, rank, i};
            struct type_buffer buffer = {.base = data, .count = i < EACH ? EAGER : LARGE};
            CHECK_EQUAL(vmsg_send_start(&busy[rank - 1][i], &to, &buffer, MSG_STANDARD), OK);
        }
    for (int i = 0; i < 200; i++)
        vmsg_progress();
    for (int mode = MSG_STANDARD; mode <= MSG_SYNCHRONOUS; mode++) {
        struct msg_request request = {.completed = NULL};
        struct msg_where to = {world, BUSY + 1, 1};
        struct type_buffer buffer = {.base = data, .count = bytes};
        CHECK_EQUAL(vmsg_send_start(&request, &to, &buffer, (enum msg_mode)mode), OK);
        CHECK_EQUAL(vmsg_wait(&request), OK);
    }
    CHECK_EQUAL(vmsg_recv(world, BUSY + 1, 2, found, 1, NULL), OK);
    CHECK_EQUAL(write(served[1], "", 1), 1);
    for (int rank = 1; rank <= BUSY; rank++)
        for (int i = 0; i <= EACH; i++)
            CHECK_EQUAL(vmsg_wait(&busy[rank - 1][i]), OK);
}

static void receive(int tag, size_t bytes)
{
    memset(found, 0, bytes);
    CHECK_EQUAL(vmsg_recv(world, 0, tag, found, bytes, NULL), OK);
    CHECK_EQUAL(first_wrong(found, 7, bytes), bytes);
}

static void starve(int rank, size_t bytes)
{
    fill(data, 7, LARGE);
    if (rank == 0) {
        sender(bytes);
    } else if (rank <= BUSY) {
        struct msg_request request = {.completed = NULL};
        struct msg_where from = {world, 0, EACH};
        static unsigned char large[LARGE];
        struct type_buffer buffer = {.base = large, .count = LARGE};
        CHECK_EQUAL(vmsg_recv_start(&request, &from, &buffer), OK);
        for (int i = 0; i < 1000 && request.peer == NULL; i++) {
            vmsg_progress();
            sleep_ms(1);
        }
        CHECK_EQUAL(poll(&(struct pollfd){.fd = served[0], .events = POLLIN}, 1, PATIENCE_MS), 1);
        for (int i = 0; i < EACH; i++)
            receive(i, EAGER);
        CHECK_EQUAL(vmsg_wait(&request), OK);
        CHECK_EQUAL(first_wrong(large, 7, LARGE), LARGE);
    } else {
        receive(1, bytes);
        receive(1, bytes);
        CHECK_EQUAL(vmsg_send(world, 0, 2, "", 1), OK);
    }
}

/* The pipe of a case: it is read by nobody, so all see it. */
static void run(void (*body)(int rank))
{
    CHECK_EQUAL(pipe(served), 0);
    harness_run(BUSY + 2, body);
    close(served[0]);
    close(served[1]);
}

static void eager(int rank) { starve(rank, EAGER); }
static void large(int rank) { starve(rank, LARGE); }

int main(void)
{
    run(eager);
    setenv("VIADUCT_SINGLE_COPY", "no", 1);
    run(eager);
    run(large);
    return check_done();
}
