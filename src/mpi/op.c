/* Operations of reductions: the predefined ones are kernels of type, those of programs are called through a wrapper
 * that gives them the datatype's handle, in pieces where their count is an int. */
#include "mpi/message.h"

#define PREDEFINED_OPS 32u
static struct mpi_op ops[PREDEFINED_OPS]; /* a slot is in use where `commutative` is set */

static const struct {
    MPI_Op handle;
    const char *name;
} known[OPERATION_COUNT] = {
#define OP(operation, handle) [operation] = {handle, #handle}
    OP(OPERATION_SUM, MPI_SUM), OP(OPERATION_PRODUCT, MPI_PROD), OP(OPERATION_MIN, MPI_MIN),
    OP(OPERATION_MAX, MPI_MAX), OP(OPERATION_LAND, MPI_LAND), OP(OPERATION_LOR, MPI_LOR),
    OP(OPERATION_LXOR, MPI_LXOR), OP(OPERATION_BAND, MPI_BAND), OP(OPERATION_BOR, MPI_BOR),
    OP(OPERATION_BXOR, MPI_BXOR), OP(OPERATION_MINLOC, MPI_MINLOC), OP(OPERATION_MAXLOC, MPI_MAXLOC),
    OP(OPERATION_REPLACE, MPI_REPLACE), OP(OPERATION_NOTHING, MPI_NO_OP),
};

void mpi_ops_open(void)
{
    for (enum type_operation i = 0; i < OPERATION_COUNT; i++)
        if (known[i].name)
            ops[mpi_op_number(known[i].handle)] = (struct mpi_op){
                .object.identity = (uintptr_t)known[i].handle, .operation = i, .commutative = true};
}

struct mpi_op *mpi_op_at(MPI_Op handle)
{
    uintptr_t number = mpi_op_number(handle);
    if (likely(number < PREDEFINED_OPS))
        return ops[number].commutative ? &ops[number] : NULL;
    return mpi_object_at(KIND_OP, handle, sizeof(struct mpi_op));
}

const char *mpi_operation_text(enum type_operation operation)
{
    return operation < OPERATION_COUNT ? known[operation].name : "an operation of the program";
}

static void *op_at(void *handle) { return mpi_op_at(handle); }
const struct mpi_kind_row mpi_kind_op = {
    MPI_KIND(KIND_OP, "operation", struct mpi_op, MPI_ERR_OP, MPI_OP_NULL), .at = op_at};

/* A handle for the time of a call: a datatype that was freed meanwhile gets its old one back. */
static void user_call(void *context, const void *in, void *inout, size_t count)
{
    const struct mpi_user_operation *user = context;
    struct mpi_type *type = user->type;
    MPI_Datatype handle = mpi_handle(type);
    bool lent = !mpi_type_at(handle);
    if (lent)
        mpi_object_publish(type);
    MPI_Count wide = (MPI_Count)count;
    if (user->op->function_c)
        user->op->function_c((void *)in, inout, &wide, &handle);
    for (size_t done = 0; user->op->function && done < count;) {
        int part = count - done > INT_MAX ? INT_MAX : (int)(count - done);
        int64_t offset = (int64_t)done * type->layout->shape.extent;
        char *from = (char *)(void *)in + offset, *to = (char *)inout + offset;
        if (unlikely(user->op->across != NULL))
            user->op->across(from, to, part, handle, user->op->function);
        else
            user->op->function(from, to, &part, &handle);
        done += (size_t)part;
    }
    if (lent) {
        mpi_object_unpublish(type);
        mpi_drop(type);
    }
}

int mpi_reduction(struct mpi_comm *comm, const char *call, struct mpi_user_operation *context,
                  struct type_reduction *reduction)
{
    const struct mpi_op *op = context->op;
    *reduction = (struct type_reduction){.commutative = op->commutative};
    if (!mpi_predefined(op)) {
        reduction->function = user_call;
        reduction->context = context;
        return MPI_SUCCESS;
    }
    reduction->kernel = vtype_kernel(op->operation, context->type->element);
    if (likely(reduction->kernel != NULL))
        return MPI_SUCCESS;
    return mpi_error(comm, call, MPI_ERR_OP, "%s is not defined for %s", known[op->operation].name,
                     mpi_type_text(context->type));
}

/* ---- the calls ---- */

#define NEW_OP(field)                                                                                                  \
    &(struct mpi_op){.operation = OPERATION_USER, .field = user_fn, .commutative = commute != 0}
#define NEW_OP_GIVEN RUNNING, GIVEN_AS((void *)user_fn, "user_fn"), GIVEN(op)
ENTRY(MPI_Op_create)(MPI_User_function *user_fn, int commute, MPI_Op *op)
    { return CHECK(NEW_OP_GIVEN) ?: mpi_object_make(NAME, &mpi_kind_op, NEW_OP(function), op); }
ENTRY(MPI_Op_create_c)(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
    { return CHECK(NEW_OP_GIVEN) ?: mpi_object_make(NAME, &mpi_kind_op, NEW_OP(function_c), op); }

static int op_free(const char *call, MPI_Op *op)
{
    if (mpi_predefined(mpi_op_at(*op)))
        return mpi_error(NULL, call, MPI_ERR_OP, "a predefined operation cannot be freed");
    return mpi_free_handle(call, &mpi_kind_op, op);
}
ENTRY(MPI_Op_free)(MPI_Op *op) { return CHECK(BEHIND(mpi_kind_op, op)) ?: op_free(NAME, op); }
ENTRY(MPI_Op_commutative)(MPI_Op op, int *commute)
    { return CHECK(OP_OF(op), GIVEN(commute)) ?: mpi_tell(commute, mpi_op_at(op)->commutative); }

static int local_reduce(const struct mpi_message *m, void *inout, MPI_Op handle)
{
    struct mpi_user_operation user = {mpi_op_at(handle), mpi_type_at(m->type)};
    struct type_reduction reduction;
    if (!user.type || !mpi_data_fits(m->buffer, m->count, user.type) || (m->count > 0 && !inout))
        return mpi_message_wrong(*m, false);
    if (m->buffer == MPI_IN_PLACE || inout == MPI_IN_PLACE || (m->count > 0 && m->buffer == inout))
        return mpi_error(NULL, m->call, MPI_ERR_BUFFER, "%s", m->count > 0 && m->buffer == inout
                         ? "both buffers are the same" : "MPI_IN_PLACE has no meaning here");
    int error = mpi_reduction(NULL, m->call, &user, &reduction);
    if (error)
        return error;
    if (reduction.kernel)
        reduction.kernel(m->buffer, inout, (size_t)m->count);
    else
        reduction.function(reduction.context, m->buffer, inout, (size_t)m->count);
    return MPI_SUCCESS;
}

#define OPERAND &(struct mpi_message){NAME, inbuf, count, datatype, MPI_PROC_NULL, 0, MPI_COMM_SELF}
WIDENED(MPI_Reduce_local, MPI_Reduce_local_c, int, MPI_LOCAL_,
        return CHECK(OP_OF(op)) ?: local_reduce(OPERAND, inoutbuf, op))
