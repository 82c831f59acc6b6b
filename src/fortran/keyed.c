/* Entries by hand: keys and attributes of communicators, datatypes and windows, and those of MPI-1, whose values are
 * default integers. */
#include "fortran/keys.h"
#include "fortran/own.h"

#define KEYED(Name, name, type)                                                                                        \
    OWN_ENTRY(name##_create_keyval, void *copy_fn, void *delete_fn, int *keyval, const MPI_Aint *state, int *ierror)   \
    {                                                                                                                  \
        struct fortran_key *key = fortran_key_make(copy_fn, delete_fn, *state, false);                                 \
        int error = key ? C(Name##_create_keyval)(fortran_##name##_copy, fortran_##name##_delete, keyval, key)         \
                        : MPI_ERR_NO_MEM;                                                                              \
        tell(ierror, error);                                                                                           \
    }                                                                                                                  \
    OWN_ENTRY(name##_set_attr, const int *handle, const int *keyval, const MPI_Aint *value, int *ierror)               \
    {                                                                                                                  \
        void *box = fortran_attribute_box(*value);                                                                     \
        int error = box ? C(Name##_set_attr)(MPI_##Name##_fromint(*handle), *keyval, box) : MPI_ERR_NO_MEM;            \
        if (error)                                                                                                     \
            fortran_attribute_drop(box);                                                                               \
        tell(ierror, error);                                                                                           \
    }                                                                                                                  \
    OWN_ENTRY(name##_get_attr, const int *handle, const int *keyval, MPI_Aint *value, int *flag, int *ierror)          \
    {                                                                                                                  \
        void *attribute = NULL;                                                                                        \
        int key = fortran_key(*keyval);                                                                                \
        int error = C(Name##_get_attr)(MPI_##Name##_fromint(*handle), key, &attribute, flag);                          \
        if (!error && *flag)                                                                                           \
            *value = fortran_attribute_value(key, attribute);                                                          \
        tell(ierror, error);                                                                                           \
    }
KEYED(Comm, comm, MPI_Comm)
KEYED(Type, type, MPI_Datatype)
KEYED(Win, win, MPI_Win)

OWN_ENTRY(keyval_create, void *copy_fn, void *delete_fn, int *keyval, const int *state, int *ierror)
{
    struct fortran_key *key = fortran_key_make(copy_fn, delete_fn, *state, true);
    int error = key ? C(Comm_create_keyval)(fortran_comm_copy, fortran_comm_delete, keyval, key) : MPI_ERR_NO_MEM;
    tell(ierror, error);
}

OWN_ENTRY(keyval_free, int *keyval, int *ierror) { tell(ierror, C(Comm_free_keyval)(keyval)); }

OWN_ENTRY(attr_put, const int *comm, const int *keyval, const int *value, int *ierror)
{
    void *box = fortran_attribute_box(*value);
    int error = box ? C(Comm_set_attr)(MPI_Comm_fromint(*comm), *keyval, box) : MPI_ERR_NO_MEM;
    if (error)
        fortran_attribute_drop(box);
    tell(ierror, error);
}

OWN_ENTRY(attr_get, const int *comm, const int *keyval, int *value, int *flag, int *ierror)
{
    void *attribute = NULL;
    int error = C(Comm_get_attr)(MPI_Comm_fromint(*comm), fortran_key(*keyval), &attribute, flag);
    if (!error && *flag)
        *value = (int)fortran_attribute_value(fortran_key(*keyval), attribute);
    tell(ierror, error);
}

OWN_ENTRY(attr_delete, const int *comm, const int *keyval, int *ierror)
{
    tell(ierror, C(Comm_delete_attr)(MPI_Comm_fromint(*comm), *keyval));
}
