/* Datatypes, and the operations of reductions over them. A datatype holds its layout and the datatypes it was made
 * of. */
#pragma once

#include "mpi/arguments.h"
#include "type/layout.h"
#include "type/reduce.h"

#pragma GCC visibility push(hidden)

/* How a datatype was made, as MPI_Type_get_contents tells it. One block of memory. */
struct mpi_recipe {
    int combiner;
    uint32_t integers, addresses, larges, types;
    int64_t *value;         /* integers, then addresses, then large counts */
    struct mpi_type **type; /* each with one reference */
};

struct mpi_type {
    struct mpi_thing thing;
    uint64_t size;     /* bytes of payload in one */
    bool flat;         /* count of them are count * size bytes in a row */
    bool committed;
    /* size where it is flat, committed and no larger than this can hold; else 0: no short way is taken */
    uint32_t plain;
    uint8_t element;   /* enum type_element, for reductions */
    uint64_t elements; /* basic elements in one */
    struct type_layout *layout;
    struct mpi_recipe *recipe; /* NULL: predefined */
};

#define MPI_PREDEFINED_TYPES 256u
extern struct mpi_type mpi_types[MPI_PREDEFINED_TYPES];

/* NULL: no datatype. */
static inline struct mpi_type *mpi_type_at(MPI_Datatype handle)
{
    uintptr_t number = mpi_type_number(handle);
    if (likely(number < MPI_PREDEFINED_TYPES))
        return mpi_types[number].layout ? &mpi_types[number] : NULL;
    return mpi_object_at(KIND_TYPE, handle, sizeof(struct mpi_type));
}
static inline void mpi_type_ready(struct mpi_type *type) /* it is committed */
{
    type->committed = true;
    type->plain = type->flat && type->size <= INT32_MAX ? (uint32_t)type->size : 0;
}
const char *mpi_type_text(const struct mpi_type *type); /* its name, or that it has none */

int mpi_types_open(void);    /* the predefined ones */
int mpi_pairs_open(void);    /* of those there are; again where Fortran's numbers have got another size */
int mpi_fortran_apply(void); /* what was told of Fortran's types (abi.c), and pairs of them */
/* The name of a type that the ABI has and this library lacks, else NULL. */
const char *mpi_type_absent(MPI_Datatype handle);
/* The predefined pair of these two, or MPI_DATATYPE_NULL. */
MPI_Datatype mpi_pair_of(MPI_Datatype value, MPI_Datatype index);
/* What TYPE's type map is made of: its part I, which follows COUNT times. False: there is no more, or TYPE is basic. */
bool mpi_type_part(const struct mpi_type *type, uint32_t i, const struct mpi_type **part, uint64_t *count);

/* COUNT of TYPE at BASE as the engine wants it: bytes where they lie in a row. */
static inline struct type_buffer mpi_buffer(void *base, uint64_t count, const struct mpi_type *type)
{
    if (type->flat)
        return (struct type_buffer){base, count * type->size, NULL};
    return (struct type_buffer){base, count, type->layout};
}

/* Whether data of LAYOUT may lie at BASE. A null one is MPI_BOTTOM: good for absolute addresses, which are none of the
 * first page. */
static inline bool mpi_base_fits(const void *base, int64_t displacement, const struct type_layout *layout)
{
    return base != NULL ||
           (uint64_t)(displacement + layout->shape.true_lower_bound) - 4096 < (uint64_t)INT64_MAX - 4096;
}

static inline bool mpi_data_fits(const void *buffer, MPI_Count count, const struct mpi_type *type)
{
    uint64_t bytes;
    return likely(count >= 0) && likely(type->committed) &&
           likely(!__builtin_mul_overflow((uint64_t)count, type->size, &bytes)) &&
           likely(buffer != NULL || bytes == 0 || mpi_base_fits(buffer, 0, type->layout));
}

typedef void mpi_op_across(const void *in, void *inout, int count, MPI_Datatype type, MPI_User_function *function);
struct mpi_op {
    struct mpi_object object;
    enum type_operation operation; /* OPERATION_USER: one of the functions */
    MPI_User_function *function;
    MPI_User_function_c *function_c;
    mpi_op_across *across; /* how a function that is not written in C is called; NULL: as one in C */
    bool commutative;
};
struct mpi_op *mpi_op_at(MPI_Op handle);
const char *mpi_operation_text(enum type_operation operation);
void mpi_ops_open(void);

/* What a user's operation needs at each call. */
struct mpi_user_operation {
    struct mpi_op *op;
    struct mpi_type *type;
};
/* OP over TYPE as coll wants it; CONTEXT must live as long as the reduction. Raises MPI_ERR_OP. */
int mpi_reduction(struct mpi_comm *comm, const char *call, struct mpi_user_operation *context,
                  struct type_reduction *reduction);

#pragma GCC visibility pop
