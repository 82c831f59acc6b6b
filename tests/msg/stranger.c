/* Messages for a context whose members at the receiver are others (an id came again while messages of its former life
 * were under way): they are dropped with a warning, but their senders complete and the window is given back. tcp: 1 */
#include "harness.h"
#include "base/counters.h"

static unsigned char data[100000];

static void stranger(int rank)
{
    static const int both[] = {0, 1}, alone[] = {1};
    struct msg_context *context;
    char byte = 0;
    CHECK_EQUAL(vmsg_context_open(7, rank ? alone : both, rank ? 1 : 2, 0, &context), OK);
    CHECK_EQUAL(vmsg_send(world, 1 - rank, 1, &byte, 1), OK);
    CHECK_EQUAL(vmsg_recv(world, 1 - rank, 1, &byte, 1, NULL), OK);
    for (int i = 0; i < 100; i++) {
        if (rank == 0) {
            struct msg_where to = {context, 1, i};
            struct type_buffer small = {.base = data, .count = 8000}, large = {.base = data, .count = sizeof data};
            struct msg_request sync = {.completed = NULL}, announced = {.completed = NULL};
            CHECK_EQUAL(vmsg_send(context, 1, i, data, 8000), OK);
            CHECK_EQUAL(vmsg_send_start(&sync, &to, &small, MSG_SYNCHRONOUS), OK);
            CHECK_EQUAL(vmsg_send_start(&announced, &to, &large, MSG_STANDARD), OK);
            CHECK_EQUAL(vmsg_wait(&sync), OK);
            CHECK_EQUAL(vmsg_wait(&announced), OK);
        }
        CHECK_EQUAL(vmsg_send(world, 1 - rank, 1, &byte, 1), OK);
        CHECK_EQUAL(vmsg_recv(world, 1 - rank, 1, &byte, 1, NULL), OK);
    }
    CHECK_EQUAL(vbase_counters->window_empty, 0);
    CHECK_EQUAL(vbase_counters->refused, rank ? 300 : 0);
    vmsg_context_close(context);
}

int main(void)
{
    setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
    harness_run(2, stranger);
    return check_done();
}
