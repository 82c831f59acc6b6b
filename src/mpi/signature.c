/* VIADUCT_CHECK, types that do not match: a note with the signature of what is sent, its type and the place of the call
 * travels with each message, and the receiver compares. */
#include "mpi/check.h"
#include "mpi/message.h"

/* ---- signatures ---- */

/* A hash over the basic elements of a datatype in the order of the type map, by a walk over the recipes. Two
 * datatypes that a message may go from and to have the same one. Elements count by what they are in memory, so MPI_INT
 * is MPI_INT32_T and Fortran's INTEGER; bytes, characters, truth values and numbers are different things.
 *
 * A sequence is a number in a system of base BASE, modulo 2^64, so that sequences are joined by a multiplication and
 * repeated by doubling: the count does not matter. */
#define BASE 0x9E3779B97F4A7C15ull

struct sequence {
    uint64_t hash, power; /* BASE to the power of its length */
};
static const struct sequence empty = {0, 1};

static struct sequence join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.hash * b.power + b.hash, a.power * b.power};
}

static struct sequence repeat(struct sequence one, uint64_t count)
{
    struct sequence all = empty;
    for (; count; count >>= 1, one = join(one, one))
        if (count & 1)
            all = join(all, one);
    return all;
}

static struct sequence element(unsigned number)
{
    uint64_t mixed = (number + 1) * 0xBF58476D1CE4E5B9ull;
    return (struct sequence){mixed ^ mixed >> 31, BASE};
}

/* What has no kind is told apart by its size: its handle is another one in a program of another ABI. */
static struct sequence basic(const struct mpi_type *type)
{
    if (type == mpi_type_at(MPI_PACKED))
        return element(ELEMENT_BYTE);
    return element(type->element ? type->element : ELEMENT_COUNT + (unsigned)type->size);
}

static struct sequence bytes_of(const struct mpi_type *type, uint64_t bytes);

/* The first BYTES of one. A basic type that is cut is like nothing else. */
static struct sequence part_of(const struct mpi_type *type, uint64_t bytes)
{
    const struct mpi_type *part;
    struct sequence all = empty;
    uint64_t count;
    if (!mpi_type_part(type, 0, &part, &count))
        return bytes == type->size ? basic(type) : element(0);
    for (uint32_t i = 0; bytes > 0 && mpi_type_part(type, i, &part, &count); i++) {
        uint64_t some = bytes < count * part->size ? bytes : count * part->size;
        all = join(all, bytes_of(part, some));
        bytes -= some;
    }
    return all;
}

static struct sequence bytes_of(const struct mpi_type *type, uint64_t bytes)
{
    if (type->size == 0 || bytes == 0)
        return empty;
    struct sequence whole = bytes < type->size ? empty : repeat(part_of(type, type->size), bytes / type->size);
    uint64_t rest = bytes % type->size;
    return rest ? join(whole, part_of(type, rest)) : whole;
}

static uint64_t signature(const struct mpi_type *type, uint64_t bytes)
{
    uint64_t hash = bytes_of(type, bytes).hash;
    return hash ? hash : 1; /* nothing is a signature, too */
}

/* ---- types that do not match ---- */

/* About a message, as it travels. */
struct sent {
    uint64_t signature; /* of all of it; 0: fits anything */
    uint64_t count, place; /* place: see mpi_check_mark */
    char type[40];
};
_Static_assert(sizeof(struct sent) == sizeof(struct msg_note), "a note has room for this");

/* What belongs to an operation under way. */
struct checked {
    struct msg_note note; /* first: the operation points here */
    const char *call;
    struct mpi_comm *comm;
    struct mpi_type *type;
    uint64_t count;
    void *caller;
    bool sends;
};

static void describe(const struct mpi_type *type, char text[40])
{
    const struct mpi_type *inner = type;
    while (inner->recipe && inner->recipe->types > 0)
        inner = inner->recipe->type[0];
    if (type->thing.name || inner == type)
        snprintf(text, 40, "%s", mpi_type_text(type));
    else
        snprintf(text, 40, "a type made of %s%s", mpi_type_text(inner),
                 type->recipe->combiner == MPI_COMBINER_STRUCT ? ", ..." : "");
}

/* Packed data fit any type. */
static uint64_t signature_of(const struct mpi_type *type, uint64_t bytes)
{
    return type == mpi_type_at(MPI_PACKED) ? 0 : signature(type, bytes);
}

/* In a collective bytes fit anything, too: programs broadcast as bytes what others take as numbers. */
void mpi_check_data_sign(struct mpi_check_data *data, const struct mpi_type *type)
{
    uint64_t bytes = (uint64_t)data->bytes;
    data->signature = signature(type, bytes);
    if (data->signature == repeat(element(ELEMENT_BYTE), bytes).hash)
        data->signature = 0;
    describe(type, data->type);
}

void mpi_check_starts(struct msg_request *operation, const struct mpi_message *message, const struct mpi_target *target,
                      bool sends)
{
    struct checked *checked = calloc(1, sizeof *checked);
    operation->note = checked ? &checked->note : NULL;
    if (!checked)
        return;
    checked->call = message->call;
    checked->comm = target->comm;
    checked->type = target->type;
    checked->count = (uint64_t)message->count;
    checked->caller = mpi_check_caller();
    checked->sends = sends;
    mpi_keep(target->type);
    if (!sends)
        return;
    struct sent sent = {.signature = signature_of(checked->type, checked->count * checked->type->size),
                        .count = checked->count,
                        .place = mpi_check_mark(checked->caller)};
    describe(checked->type, sent.type);
    memcpy(&checked->note, &sent, sizeof sent);
}

static void compare(const struct checked *checked, const struct msg_result *result)
{
    static _Atomic int told; /* a count */
    struct sent sent;
    char name[64], type[40], here[400], there[400];
    memcpy(&sent, &checked->note, sizeof sent);
    uint64_t expected = signature_of(checked->type, result->bytes);
    if (!sent.signature || !expected || sent.signature == expected ||
        atomic_fetch_add_explicit(&told, 1, memory_order_relaxed) >= MPI_CHECK_MOST)
        return;
    describe(checked->type, type);
    sent.type[sizeof sent.type - 1] = 0;
    LOG_WARN("check: %s at %s received a message from rank %d with tag %d on %s as %llu of %s; it was sent at %s as "
             "%llu of %s",
             checked->call, mpi_check_place(checked->caller, here), result->source, result->tag,
             mpi_thing_name(checked->comm, name), (unsigned long long)checked->count, type,
             mpi_check_place(mpi_check_marked(sent.place), there),
             (unsigned long long)sent.count, sent.type);
}

void mpi_check_ends(struct msg_request *operation)
{
    struct checked *checked = (struct checked *)(void *)operation->note;
    if (!checked)
        return;
    operation->note = NULL;
    if (!checked->sends && vmsg_request_done(operation) && operation->result.error == OK)
        compare(checked, &operation->result);
    mpi_drop(checked->type);
    free(checked);
}
