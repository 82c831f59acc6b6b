/* Two processes over a segment: a ping-pong of every size around the limits, checked byte by byte.
 * timeout: 30 */
#include "check.h"
#include "base/settings.h"
#include "vi/shm/segment.h"
#include "vi/vi.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static struct vi *other;
static struct vi_nic *the_nic;
static size_t got_length;
static uint64_t got_header;
static int got;

static bool received(struct vi *vi, uint64_t header, const void *data, size_t length)
{
    const unsigned char *bytes = data;

    CHECK(vi == other);
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != check_byte((unsigned)header, i)) {
            CHECK_EQUAL(bytes[i], check_byte((unsigned)header, i));
            break;
        }
    got_length = length;
    got_header = header;
    got++;
    return true;
}

static void arrived(struct vi *vi, uint32_t immediate) { (void)vi, (void)immediate; }
static void done(struct vi *vi, void *cookie, int status) { (void)vi, (void)cookie, (void)status; }
static void down(struct vi *vi, int cause) { (void)vi, (void)cause; }
static void called(struct vi_nic *nic, uint32_t peer) { CHECK_EQUAL(vi_accept(nic, peer, NULL, &other), OK); }

static void receive(void)
{
    while (!got) {
        if (vi_poll(the_nic, 16) == 0)
            sched_yield();
    }
    got = 0;
}

static void send_one(unsigned number, size_t length)
{
    static unsigned char data[70000];
    struct iovec piece = {data, length};

    for (size_t i = 0; i < length; i++)
        data[i] = check_byte(number, i);
    int error;
    while ((error = vi_send(other, number, &piece, 1)) == ERR_AGAIN)
        vi_poll(the_nic, 1);
    CHECK_EQUAL(error, OK);
}

static void run(int fd, uint32_t rank)
{
    static const struct vi_sink sink = {NULL, received, arrived, done, called, down};
    static const int ranks[] = {0, 1};
    struct vi_setup setup = {.rank = rank, .ranks = 2, .local_index = rank, .local_count = 2, .local_ranks = ranks,
                             .node_fd = fd, .sink = &sink};

    CHECK_EQUAL(vi_nic_open(&vi_providers[0], &setup, &the_nic), OK);
    if (rank == 0) {
        struct vi_address to = {.peer = 1};
        CHECK_EQUAL(vi_connect(the_nic, &to, NULL, &other), OK);
    }
    for (unsigned n = 0; n < 1000; n++) {
        size_t length = n < 100 ? n : (n * 37) % 16449;
        if (rank == 0)
            send_one(n, length);
        receive();
        CHECK_EQUAL(got_header, n);
        CHECK_EQUAL(got_length, length);
        if (rank == 1)
            send_one(n, length);
    }
    vi_disconnect(other);
    vi_nic_close(the_nic);
}

int main(void)
{
    int fd, status;

    CHECK_EQUAL(vbase_settings_read(), OK);
    CHECK_EQUAL(shm_segment_create(2, &fd), OK);
    pid_t child = fork();
    run(fd, child == 0);
    if (child == 0)
        return check_done();
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    return check_done();
}
