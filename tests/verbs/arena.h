/* Memory of the double that processes share, at one address in all of them, so that pointers hold: those that a process has
 * forked, or all that have the same file in DOUBLE_MEMORY. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARENA_ADDRESS ((void *)0x510000000000)
#define ARENA_FIRST   (1u << 20) /* for what one structure holds */

void *arena_first(void);       /* that structure, zeroed once */
void arena_lock(void);         /* all processes; a holder that dies gives it back */
void arena_unlock(void);
void *arena_take(size_t size); /* zeroed; under the lock, and so is the next */
void arena_give(void *memory);

/* Bytes between memory of process PID and a row of our own; false: it is not there. */
bool arena_read(pid_t pid, const void *from, void *row, size_t length);
bool arena_write(pid_t pid, void *to, const void *row, size_t length);

/* Something to wait for by a descriptor, told by any process. */
struct arena_bell {
    uint32_t name;
};
int arena_bell_make(struct arena_bell *bell); /* the descriptor */
void arena_bell_ring(const struct arena_bell *bell);
