/* The memory of unread bytes, which every program that inherited it can write: several take bytes from it at once, each
 * byte goes to one of them; and whatever another one writes there, nobody waits for ever or reads elsewhere. */
#include "check.h"
#include "sock/real.h"
#include "sock/rest.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 3000000, READERS = 3, HEAD = 65536, ROUNDS = 3000 };

static uint64_t draw(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Of bytes that are all different in a way: the sum of what this process took. */
static uint64_t take(uint64_t name, uint64_t seed)
{
    static char data[20000];
    uint64_t sum = 0;
    for (;;) {
        struct iovec piece[2] = {{data, 1 + draw(&seed) % 9000}, {data + 10000, draw(&seed) % 9000}};
        struct sock_pieces to = {piece, 2, 0};
        int flags = draw(&seed) % 4 ? 0 : MSG_PEEK;
        ssize_t n = sock_rest_read(name, &to, flags);
        CHECK(n >= 0);
        if (n <= 0)
            return sum;
        for (ssize_t i = 0; !flags && i < n; i++)
            sum += (unsigned char)(i < (ssize_t)piece[0].iov_len ? data[i] : data[10000 + i - (ssize_t)piece[0].iov_len]);
    }
}

static void each_byte_once(void)
{
    char *data = malloc(BYTES);
    uint64_t *sums = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), sum = 0, all = 0;
    for (int i = 0; i < BYTES; i++)
        sum += (unsigned char)(data[i] = (char)(i * 31 + i / 255));
    uint64_t name = sock_rest_begin(BYTES);
    CHECK(name && sock_rest_add(name, data, 1000) && sock_rest_add(name, data + 1000, BYTES - 1000));
    CHECK(!sock_rest_add(name, data, 1));
    CHECK_EQUAL(sock_rest_left(name), BYTES);
    for (uint64_t i = 0; i < READERS; i++)
        if (fork() == 0) {
            sums[i] = take(name, check_seed() + i);
            _exit(check_failed);
        }
    for (int i = 0, status; i < READERS; i++) {
        CHECK(wait(&status) > 0 && status == 0);
    }
    for (int i = 0; i < READERS; i++)
        all += sums[i];
    CHECK_EQUAL(all, sum);
    CHECK_EQUAL(sock_rest_left(name), 0);
    free(data);
}

static void spoiled(void)
{
    _Atomic uint64_t *head = mmap(NULL, HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, sock_rest_descriptor(), 0);
    char data[5000] = "";
    uint64_t seed = check_seed();
    pid_t child = fork();
    if (child == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) {
        for (int i = 1; i < 300; i++) /* if it were a lock: somebody has it */
            head[i] = 1;
        head[HEAD / 8 - 1] = 1;
        for (usleep(2000);;)
            head[draw(&seed) % 300] = draw(&seed) >> (draw(&seed) % 64);
    }
    while (!head[HEAD / 8 - 1])
        usleep(100);
    for (int i = 0; i < ROUNDS; i++) {
        struct iovec piece = {data, sizeof(data)};
        struct sock_pieces to = {&piece, 1, 0};
        uint64_t name = sock_rest_begin(1 + draw(&seed) % sizeof(data));
        (void)sock_rest_add(name, data, draw(&seed) % sizeof(data));
        (void)sock_rest_left(name);
        CHECK(sock_rest_read(name, &to, 0) <= (ssize_t)sizeof(data));
        sock_rest_drop(name);
    }
    kill(child, SIGKILL);
    wait(NULL);
}

int main(void)
{
    sock_real_find();
    alarm(30); /* for one that waits for ever */
    CHECK(sock_rest_open());
    each_byte_once();
    spoiled();
    return check_done();
}
