/* What handles are in each ABI: how kind, generation and index of an object make one, and which of the numbers are
 * predefined handles. Handles that are ints become words of the size of a pointer by their sign, so that the rest of
 * this room sees words alone. */
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
#define MPI_FIRST_OP    0x58000000u
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

/* Of MPI_X_toint and MPI_X_fromint: a handle is its number. */
static inline int mpi_identity_to_int(uintptr_t identity) { return (int)identity; }

#else

/* kind << 40 | generation << 24 | index. Predefined ones are below 4096. */
#define MPI_INDEX_MASK  0xFFFFFFu
#define MPI_GENERATIONS 0xFFFFu
#define MPI_FIRST_OP    0x20u
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

static inline int mpi_identity_to_int(uintptr_t identity)
{
    return identity < MPI_FIRST_INT ? (int)identity : MPI_FIRST_INT + (int)(identity & MPI_INDEX_MASK);
}

#endif

/* What an object is called when its slot is used the next time. The generation is never 0. */
static inline uintptr_t mpi_next_identity(uintptr_t identity)
{
    const uintptr_t one = mpi_identity(0, 1, 0) - mpi_identity(0, 0, 0);
    uintptr_t next = identity + one;
    return likely((mpi_identity_generation(next)) != 0) ? next : next - (MPI_GENERATIONS + (uintptr_t)1) * one + one;
}
