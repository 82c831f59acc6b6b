/* The double of liburing: its first calls answer with what they were given. */
#include <stddef.h>

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, void *ring, void *params);
int io_uring_queue_init_mem(unsigned entries, void *ring, void *params, void *memory, size_t size);
int io_uring_setup(unsigned entries, void *params);

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    return ring ? -1 : (int)(entries + flags);
}
int io_uring_queue_init_params(unsigned entries, void *ring, void *params)
{
    return ring || params ? -1 : (int)entries + 100;
}
int io_uring_queue_init_mem(unsigned entries, void *ring, void *params, void *memory, size_t size)
{
    return ring || params || memory ? -1 : (int)(entries + size + 200);
}
int io_uring_setup(unsigned entries, void *params) { return params ? -1 : (int)entries + 300; }
