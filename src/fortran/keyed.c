/* Entries by hand: keys and attributes of communicators, datatypes and windows, and those of MPI-1, whose values are
 * default integers. */
#include "fortran/attributes.h"
#include "fortran/own.h"

#define KEYED(Name, name, create, set, get, number, narrow)                                                            \
    OWN_ENTRY(create, void *copy_fn, void *delete_fn, int *keyval, const number *state, int *ierror)                   \
    {                                                                                                                  \
        struct fortran_key *key = fortran_key_make(copy_fn, delete_fn, *state, narrow);                                \
        int error = key ? C(Name##_create_keyval)(fortran_##name##_copy, fortran_##name##_delete, keyval, key)         \
                        : MPI_ERR_NO_MEM;                                                                              \
        ierror_set(ierror, error);                                                                                     \
    }                                                                                                                  \
    OWN_ENTRY(set, const int *handle, const int *keyval, const number *value, int *ierror)                             \
    {                                                                                                                  \
        void *box = fortran_attribute_box(*value);                                                                     \
        int error = box ? C(Name##_set_attr)(MPI_##Name##_fromint(*handle), *keyval, box) : MPI_ERR_NO_MEM;            \
        if (error)                                                                                                     \
            fortran_attribute_drop(box);                                                                               \
        ierror_set(ierror, error);                                                                                     \
    }                                                                                                                  \
    OWN_ENTRY(get, const int *handle, const int *keyval, number *value, int *flag, int *ierror)                        \
    {                                                                                                                  \
        void *attribute = NULL;                                                                                        \
        int key = fortran_key(*keyval);                                                                                \
        int error = C(Name##_get_attr)(MPI_##Name##_fromint(*handle), key, &attribute, flag);                          \
        if (!error && *flag)                                                                                           \
            *value = (number)fortran_attribute_value(key, attribute);                                                  \
        ierror_set(ierror, error);                                                                                     \
    }
KEYED(Comm, comm, comm_create_keyval, comm_set_attr, comm_get_attr, MPI_Aint, false)
KEYED(Type, type, type_create_keyval, type_set_attr, type_get_attr, MPI_Aint, false)
KEYED(Win, win, win_create_keyval, win_set_attr, win_get_attr, MPI_Aint, false)
KEYED(Comm, comm, keyval_create, attr_put, attr_get, int, true)

OWN_ENTRY(keyval_free, int *keyval, int *ierror) { ierror_set(ierror, C(Comm_free_keyval)(keyval)); }

OWN_ENTRY(attr_delete, const int *comm, const int *keyval, int *ierror)
{
    ierror_set(ierror, C(Comm_delete_attr)(MPI_Comm_fromint(*comm), *keyval));
}
