/* Checking the arguments of calls by their list; making and freeing handles for the program. See arguments.h. */
#include "mpi/comm.h"
#include "mpi/type.h"

static void *object_at(const struct mpi_kind_row *kind, const void *handle)
{
    return kind->at ? kind->at((void *)handle) : mpi_object_at(kind->kind, handle, kind->size);
}

int mpi_object_make(const char *call, const struct mpi_kind_row *kind, const void *like, void *handle)
{
    struct mpi_object *object = mpi_object_take_raw(kind);
    if (!object)
        return mpi_error(NULL, call, MPI_ERR_NO_MEM, "no memory for one more %s", kind->name);
    memcpy(object + 1, (const struct mpi_object *)like + 1, kind->size - sizeof *object);
    mpi_handle_write(handle, mpi_object_deliver(object));
    return MPI_SUCCESS;
}

int mpi_free_handle(const char *call, const struct mpi_kind_row *kind, void *place)
{
    const void *handle = mpi_handle_read(place);
    void *object = object_at(kind, handle);
    if (!object || !mpi_object_unpublish(object))
        return mpi_wrong(NULL, call, kind, handle);
    mpi_drop(object);
    mpi_handle_write(place, kind->none);
    return MPI_SUCCESS;
}

int mpi_wrong_type(struct mpi_comm *comm, const char *call, MPI_Datatype handle, const char *side)
{
    const struct mpi_type *type = mpi_type_at(handle);
    if (type)
        return mpi_error(comm, call, MPI_ERR_TYPE, "%s%s is not committed: call MPI_Type_commit", side,
                         mpi_type_text(type));
    if (handle == MPI_DATATYPE_NULL)
        return mpi_error(comm, call, MPI_ERR_TYPE, "the %sdatatype is MPI_DATATYPE_NULL", side);
    return mpi_error(comm, call, MPI_ERR_TYPE, "the %sdatatype %p is none, or was freed", side, (void *)handle);
}

/* One that wants an object; THING: where its error goes. */
static int object_check(const char *call, const struct mpi_argument *one, struct mpi_thing *thing, void **object)
{
    static const struct {
        int kind;
        const char *name;
    } kinds[] = {{MPI_CART, "Cartesian topology"}, {MPI_GRAPH, "graph"}, {MPI_DIST_GRAPH, "distributed graph"}};
    const void *handle = one->value;
    char name[64];
    if (one->want == WANT_BEHIND)
        handle = mpi_handle_read(handle);
    *object = object_at(one->kind, handle);
    if (!*object)
        return mpi_wrong(thing, call, one->kind, handle);
    if ((one->want == WANT_PLAIN || one->want == WANT_INTER) &&
        mpi_comm_is_inter(*object) != (one->want == WANT_INTER))
        return mpi_error(*object, call, MPI_ERR_COMM, "%s is %s intercommunicator", mpi_thing_name(*object, name),
                         one->want == WANT_INTER ? "no" : "an");
    if (one->want >= WANT_GRID && one->want <= WANT_DIST_GRAPH) {
        const struct mpi_topology *topology = ((struct mpi_comm *)*object)->topology;
        if (!topology || topology->kind != kinds[one->want - WANT_GRID].kind)
            return mpi_error(*object, call, MPI_ERR_TOPOLOGY, "%s has no %s", mpi_thing_name(*object, name),
                             kinds[one->want - WANT_GRID].name);
    }
    if (one->found)
        memcpy(one->found, object, sizeof *object);
    return MPI_SUCCESS;
}

/* These may be made and freed at any time. */
static bool kind_is_free(enum mpi_kind kind) { return kind == KIND_INFO || kind == KIND_ERRHANDLER; }

int mpi_arguments(const char *call, const struct mpi_argument *list)
{
    struct mpi_thing *thing = NULL;
    int error = MPI_SUCCESS;
    for (const struct mpi_argument *one = list; one->want && !error; one++) {
        void *object = NULL;
        if (one->want == WANT_RUNNING || (one->kind && !kind_is_free(one->kind->kind)))
            mpi_enter(call);
        if (!one->value && (one->want == WANT_GIVEN || one->want == WANT_BEHIND))
            error = mpi_null(thing, call, one->name);
        else if (one->kind && !(one->want == WANT_HINTS && one->value == one->kind->none))
            error = object_check(call, one, thing, &object);
        if (object && !thing && (one->kind->kind == KIND_COMM || one->kind->kind == KIND_SESSION))
            thing = object;
        if (!thing && one->want == WANT_THING)
            thing = (struct mpi_thing *)one->value;
    }
    return error;
}
