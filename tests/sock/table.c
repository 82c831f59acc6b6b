/* One thread opens and closes a connection under the same number again and again, another one looks that number up, as a
 * call does that is under way while the descriptor is closed: each file is freed once, and none while it is open. */
#include "check.h"
#include "sock/link.h"
#include "sock/place.h"
#include "sock/policy.h"
#include "sock/real.h"
#include "sock/file.h"

#include <pthread.h>

#define FD     5
#define ROUNDS 300000

static _Atomic bool over;

static void *look(void *nothing)
{
    while (!atomic_load(&over)) {
        struct sock_file *file = sock_hold(FD);
        if (file)
            sock_drop(file);
    }
    return nothing;
}

int main(void)
{
    pthread_t thread;
    uint64_t id;
    int fd;
    sock_real_find();
    sock_policy.on = true;
    CHECK(sock_board_open(&id, &fd));
    struct sock_peer *held = sock_peer_take(id, fd);
    CHECK(pthread_create(&thread, NULL, look, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct sock_file *file = sock_file_open(STAGE_PLAIN, false);
        CHECK(file != NULL);
        file->peer = sock_peer_take(id, fd); /* counted: what is freed twice gives back one that is not its own */
        sock_file_add(FD, file);
        CHECK(sock_file_remove(FD, file));
        sock_file_close(FD, file);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    CHECK(sock_peer_take(id, -1) == held);
    sock_peer_leave(held);
    sock_peer_leave(held);
    CHECK(sock_peer_take(id, -1) == NULL); /* nobody has it any more: it would have to be mapped */
    return check_done();
}
