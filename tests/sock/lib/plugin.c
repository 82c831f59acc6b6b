/* A plugin that uses liburing: each of its first calls, by number. */
#include <stddef.h>

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, void *ring, void *params);
int io_uring_queue_init_mem(unsigned entries, void *ring, void *params, void *memory, size_t size);
int io_uring_setup(unsigned entries, void *params);
int plugin_begin(int call);

int plugin_begin(int call)
{
    switch (call) {
    case 0: return io_uring_queue_init(8, NULL, 2);
    case 1: return io_uring_queue_init_params(9, NULL, NULL);
    case 2: return io_uring_queue_init_mem(10, NULL, NULL, NULL, 4);
    default: return io_uring_setup(11, NULL);
    }
}
