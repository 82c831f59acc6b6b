/* Entries by hand: start, operations, error handlers, texts of any length, generalized requests. The attributes
 * are in keyed.c. */
#include "fortran/callbacks.h"
#include "fortran/own.h"

/* ---- start ---- */

OWN_ENTRY(init, int *ierror)
{
    int error = C(Init)(NULL, NULL);
    if (!error)
        fortran_told();
    ierror_set(ierror, error);
}

OWN_ENTRY(init_thread, const int *required, int *provided, int *ierror)
{
    int error = C(Init_thread)(NULL, NULL, *required, provided);
    if (!error)
        fortran_told();
    ierror_set(ierror, error);
}

/* ---- operations and error handlers ---- */

#define OPERATION(Name, name, type)                                                                                    \
    OWN_ENTRY(name, void *function, const int *commute, int *op, int *ierror)                                          \
    {                                                                                                                  \
        MPI_Op made;                                                                                                   \
        void *callee = fortran_callback("MPI_" #Name, CALLEE_OP, function);                                            \
        int error = callee ? C(Name)((type *)callee, *commute, &made) : MPI_ERR_OTHER;                                 \
        if (!error)                                                                                                    \
            *op = MPI_Op_toint(made);                                                                                  \
        ierror_set(ierror, error);                                                                                     \
    }
OPERATION(Op_create, op_create, MPI_User_function)
OPERATION(Op_create_c, op_create_c, MPI_User_function_c)

#define HANDLER(Name, name, kind)                                                                                      \
    OWN_ENTRY(name##_create_errhandler, void *function, int *errhandler, int *ierror)                                  \
    {                                                                                                                  \
        MPI_Errhandler made;                                                                                           \
        void *callee = fortran_callback("MPI_" #Name "_create_errhandler", kind, function);                            \
        int error = callee ? C(Name##_create_errhandler)((MPI_##Name##_errhandler_function *)callee, &made)            \
                           : MPI_ERR_OTHER;                                                                            \
        if (!error)                                                                                                    \
            *errhandler = MPI_Errhandler_toint(made);                                                                  \
        ierror_set(ierror, error);                                                                                     \
    }
HANDLER(Comm, comm, CALLEE_COMM)
HANDLER(File, file, CALLEE_FILE)
HANDLER(Session, session, CALLEE_SESSION)
HANDLER(Win, win, CALLEE_WIN)

/* ---- texts whose length the program says ---- */

OWN_ENTRY(info_get, const int *info, const char *key, const int *valuelen, char *value, int *flag, int *ierror,
          fortran_length key_length, fortran_length value_length)
{
    TEMPORARY key_room;
    TEMPORARY value_room;
    const char *name = fortran_text(&key_room, key, key_length, true);
    char *text = fortran_take(&value_room, *valuelen > 0 ? (size_t)*valuelen + 1 : 1);
    int error = name && text ? C(Info_get)(MPI_Info_fromint(*info), name, *valuelen, text, flag) : MPI_ERR_NO_MEM;
    if (!error && *flag)
        fortran_pad(value, value_length, text);
    ierror_set(ierror, error);
}

/* In C the length counts the zero behind the text, in Fortran there is none. */
OWN_ENTRY(info_get_string, const int *info, const char *key, int *buflen, char *value, int *flag, int *ierror,
          fortran_length key_length, fortran_length value_length)
{
    TEMPORARY key_room;
    TEMPORARY value_room;
    const char *name = fortran_text(&key_room, key, key_length, true);
    int room = *buflen > 0 ? *buflen + 1 : 0;
    char *text = fortran_take(&value_room, (size_t)room + 1);
    int error = MPI_ERR_NO_MEM;
    if (name && text)
        error = C(Info_get_string)(MPI_Info_fromint(*info), name, &room, text, flag);
    if (!error && *flag && *buflen > 0)
        fortran_pad(value, value_length, text);
    if (!error && *flag)
        *buflen = room > 0 ? room - 1 : 0;
    ierror_set(ierror, error);
}

OWN_ENTRY(session_get_nth_pset, const int *session, const int *info, const int *n, int *pset_len, char *pset_name,
          int *ierror, fortran_length pset_name_length)
{
    TEMPORARY room;
    int length = *pset_len > 0 ? *pset_len + 1 : 0;
    char *text = fortran_take(&room, (size_t)length + 1);
    int error = MPI_ERR_NO_MEM;
    if (text)
        error = C(Session_get_nth_pset)(MPI_Session_fromint(*session), MPI_Info_fromint(*info), *n, &length, text);
    if (!error && *pset_len > 0)
        fortran_pad(pset_name, pset_name_length, text);
    if (!error)
        *pset_len = length > 0 ? length - 1 : 0;
    ierror_set(ierror, error);
}

/* ---- generalized requests ---- */

OWN_ENTRY(grequest_start, void *query_fn, void *free_fn, void *cancel_fn, MPI_Aint *extra_state, int *request,
          int *ierror)
{
    void *const function[3] = {query_fn, free_fn, cancel_fn};
    ierror_set(ierror, fortran_generalized(C(Grequest_start), function, extra_state, request));
}
