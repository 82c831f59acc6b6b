/* A child of a rank is no rank: every call says so and touches nothing, its exit tears nothing down, and the parent
 * goes on as if nothing had been; also when the parent was in the middle of operations. tcp: 1 */
#include "harness.h"

static void in_child(struct msg_request *pending, struct msg_context *context)
{
    char byte = 0;
    struct msg_where where = {context, 1, 1};
    struct type_buffer buffer = {.base = &byte, .count = 1};
    struct msg_request request = {0};
    struct msg_context *other;
    struct msg_result result;
    bool found;
    CHECK_EQUAL(vmsg_start(), ERR_STATE);
    CHECK(strstr(vbase_error_detail(), "fork") != NULL);
    CHECK_EQUAL(vmsg_send(context, 1, 1, &byte, 1), ERR_STATE);
    CHECK_EQUAL(vmsg_recv(context, 1, 1, &byte, 1, NULL), ERR_STATE);
    CHECK_EQUAL(vmsg_send_start(&request, &where, &buffer, MSG_STANDARD), ERR_STATE);
    CHECK_EQUAL(vmsg_recv_start(&request, &where, &buffer), ERR_STATE);
    CHECK_EQUAL(vmsg_probe(&where, &found, &result), ERR_STATE);
    CHECK_EQUAL(vmsg_context_open(3, NULL, 2, 0, &other), ERR_STATE);
    CHECK_EQUAL(vmsg_wait(pending), ERR_STATE);
    CHECK(!vmsg_progress());
    vmsg_cancel(pending);
    vmsg_context_close(context);
    vmsg_stop();
    exit(check_done()); /* atexit handlers run here, too */
}

static void body(int rank)
{
    enum { BYTES = 200000 };
    unsigned char *data = malloc(BYTES);
    if (rank == 1) {
        CHECK_EQUAL(vmsg_send(world, 0, 2, "x", 1), OK);
        CHECK_EQUAL(vmsg_recv(world, 0, 1, data, BYTES, NULL), OK);
        CHECK_EQUAL(first_wrong(data, 1, BYTES), BYTES);
    } else {
        char byte;
        struct msg_request send = {0};
        struct msg_where where = {world, 1, 1};
        struct type_buffer buffer = {.base = data, .count = BYTES};
        fill(data, 1, BYTES);
        CHECK_EQUAL(vmsg_recv(world, 1, 2, &byte, 1, NULL), OK);
        CHECK_EQUAL(vmsg_send_start(&send, &where, &buffer, MSG_SYNCHRONOUS), OK);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            in_child(&send, world);
        int status = -1;
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK_EQUAL(status, 0);
        CHECK_EQUAL(vmsg_wait(&send), OK);
        CHECK_EQUAL(system("exit 3") >> 8, 3);
    }
    free(data);
}

int main(void)
{
    harness_run(2, body);
    return check_done();
}
