/* What handles are in each ABI: how kind, generation and index of an object make one, and which of the numbers are
 * predefined handles. Handles that are ints become words of the size of a pointer by their sign, so that the rest of
 * this room sees words alone. Where predefined handles are addresses, a table made at the start knows them. */
#pragma once

#include "mpi/entry.h"

/* A handle of any kind but files, where only its place is known. */
static inline const void *mpi_handle_read(const void *place)
{
    MPI_Comm handle;
    __builtin_memcpy(&handle, place, sizeof handle);
    return (const void *)(intptr_t)handle;
}
static inline void mpi_handle_write(void *place, const void *handle)
{
    MPI_Comm written = (MPI_Comm)(intptr_t)handle;
    __builtin_memcpy(place, &written, sizeof written);
}

#ifdef MPI_INT_HANDLES

/* 2 << 30 | kind << 26 | generation << 21 | index. The generation is never 0; predefined handles have 0 there. */
#define MPI_INDEX_MASK  0x1FFFFFu
#define MPI_GENERATIONS 0x1Fu
static inline uintptr_t mpi_identity(unsigned kind, unsigned generation, uint32_t index)
{
    return (uintptr_t)(int32_t)(0x80000000u | kind << 26 | generation << 21 | index);
}
static inline unsigned mpi_identity_kind(uintptr_t identity) { return (unsigned)(identity >> 26 & 0xF); }
static inline unsigned mpi_identity_generation(uintptr_t identity)
{
    return (unsigned)(identity >> 21 & MPI_GENERATIONS);
}
static inline bool mpi_identity_predefined(uintptr_t identity) { return mpi_identity_generation(identity) == 0; }

/* Where a predefined datatype lies in the table of them; beyond it: it is none. Numbers of one byte, but the five pairs
 * of different types, which are objects with the indices 0 to 4. */
static inline uintptr_t mpi_type_number(MPI_Datatype handle)
{
    unsigned value = (unsigned)handle;
    return (value & 0xFFFF0000u) == 0x4c000000u ? (value & 0xFF) : value - 0x8c000000u < 5 ? 0xF0 + (value & 7) : 256;
}

/* The same of operations: below 32. */
static inline uintptr_t mpi_op_number(MPI_Op handle) { return (uintptr_t)handle - 0x58000000u; }

/* Of MPI_X_toint: a handle is its number. */
static inline int mpi_identity_to_int(uintptr_t identity) { return (int)identity; }

#elif defined(MPI_ADDRESS_HANDLES)

/* 1 << 63 | kind << 40 | generation << 24 | index: no address of a program. */
#define MPI_INDEX_MASK  0xFFFFFFu
#define MPI_GENERATIONS 0xFFFFu
#define MPI_FIRST_INT   4096
static inline uintptr_t mpi_identity(unsigned kind, unsigned generation, uint32_t index)
{
    return (uintptr_t)1 << 63 | (uintptr_t)kind << 40 | (uintptr_t)generation << 24 | index;
}
static inline unsigned mpi_identity_kind(uintptr_t identity) { return (unsigned)(identity >> 40) & 0xFF; }
static inline unsigned mpi_identity_generation(uintptr_t identity)
{
    return (unsigned)(identity >> 24 & MPI_GENERATIONS);
}
static inline bool mpi_identity_predefined(uintptr_t identity) { return !(identity >> 63); }

/* Where each predefined object lies: a hash table, made in openmpi/objects.c. A handle of none finds an empty row. */
#define MPI_KNOWN   512u
#define MPI_NUMBERS 96u
struct mpi_known {
    uintptr_t address; /* 0: an empty row */
    uint32_t number;   /* kind << 8 | number in Fortran */
};
#pragma GCC visibility push(hidden)
extern struct mpi_known mpi_known[MPI_KNOWN];
extern void *mpi_known_handles[][MPI_NUMBERS]; /* by kind and number */
#pragma GCC visibility pop
static inline uint32_t mpi_known_row(uintptr_t address) { return (uint32_t)(address >> 5) * 0x9E3779B1u >> 23; }
static inline const struct mpi_known *mpi_known_at(uintptr_t address)
{
    uint32_t i = mpi_known_row(address);
    while (mpi_known[i].address != address && mpi_known[i].address)
        i = (i + 1) % MPI_KNOWN;
    return &mpi_known[i];
}
static inline uintptr_t mpi_known_number(unsigned kind, const void *handle)
{
    const struct mpi_known *known = &mpi_known[mpi_known_row((uintptr_t)handle)];
    if (unlikely(known->address != (uintptr_t)handle))
        known = mpi_known_at((uintptr_t)handle);
    return likely(known->address != 0) ? known->number - (kind << 8) : UINTPTR_MAX;
}

/* Where a predefined datatype and operation lie in the tables of them; beyond these: it is none. */
#define MPI_KIND_OF_TYPES 3
#define MPI_KIND_OF_OPS   4
static inline uintptr_t mpi_type_number(MPI_Datatype handle) { return mpi_known_number(MPI_KIND_OF_TYPES, handle); }
static inline uintptr_t mpi_op_number(MPI_Op handle) { return mpi_known_number(MPI_KIND_OF_OPS, handle); }

static inline int mpi_identity_to_int(uintptr_t identity)
{
    return mpi_identity_predefined(identity) ? (int)(mpi_known_at(identity)->number & 0xFF)
                                             : MPI_FIRST_INT + (int)(identity & MPI_INDEX_MASK);
}
/* The predefined handle of that kind and number, NULL: there is none. */
static inline void *mpi_known_handle(unsigned kind, int number)
{
    return (unsigned)number < MPI_NUMBERS ? mpi_known_handles[kind][number] : NULL;
}

#else

/* kind << 40 | generation << 24 | index. Predefined ones are below 4096. */
#define MPI_INDEX_MASK  0xFFFFFFu
#define MPI_GENERATIONS 0xFFFFu
#define MPI_FIRST_INT   4096 /* of MPI_X_toint for handles that are not predefined */
static inline uintptr_t mpi_identity(unsigned kind, unsigned generation, uint32_t index)
{
    return (uintptr_t)kind << 40 | (uintptr_t)generation << 24 | index;
}
static inline unsigned mpi_identity_kind(uintptr_t identity) { return (unsigned)(identity >> 40); }
static inline unsigned mpi_identity_generation(uintptr_t identity)
{
    return (unsigned)(identity >> 24 & MPI_GENERATIONS);
}
static inline bool mpi_identity_predefined(uintptr_t identity) { return identity < MPI_FIRST_INT; }

static inline uintptr_t mpi_type_number(MPI_Datatype handle) { return (uintptr_t)handle - 0x200; }
static inline uintptr_t mpi_op_number(MPI_Op handle) { return (uintptr_t)handle - 0x20; }

static inline int mpi_identity_to_int(uintptr_t identity)
{
    return identity < MPI_FIRST_INT ? (int)identity : MPI_FIRST_INT + (int)(identity & MPI_INDEX_MASK);
}
static inline void *mpi_known_handle(unsigned kind, int number)
{
    return (void)kind, (void *)(uintptr_t)(number > 0 ? number : 0);
}

#endif

/* What an object is called when its slot is used the next time. The generation is never 0. */
static inline uintptr_t mpi_next_identity(uintptr_t identity)
{
    const uintptr_t one = mpi_identity(0, 1, 0) - mpi_identity(0, 0, 0);
    uintptr_t next = identity + one;
    return likely((mpi_identity_generation(next)) != 0) ? next : next - (MPI_GENERATIONS + (uintptr_t)1) * one + one;
}
