/* Entries by hand: start and end, operations, error handlers, texts of any length, generalized requests. The attributes
 * are in keyed.c. */
#include "fortran/callbacks.h"
#include "fortran/once.h"
#include "fortran/own.h"

/* ---- start ---- */

OWN_ENTRY(init, int *ierror)
{
    int error = C(Init)(NULL, NULL);
    if (!error)
        fortran_told();
    tell(ierror, error);
}

OWN_ENTRY(init_thread, const int *required, int *provided, int *ierror)
{
    int error = C(Init_thread)(NULL, NULL, *required, provided);
    if (!error)
        fortran_told();
    tell(ierror, error);
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
        tell(ierror, error);                                                                                           \
    }
OPERATION(Op_create, op_create, MPI_User_function)
OPERATION(Op_create_c, op_create_c, MPI_User_function_c)

OWN_ENTRY(op_free, int *op, int *ierror)
{
    MPI_Op freed = MPI_Op_fromint(*op);
    int error = C(Op_free)(&freed);
    if (!error)
        *op = MPI_Op_toint(freed);
    tell(ierror, error);
}

#define HANDLER(Name, name, kind)                                                                                      \
    OWN_ENTRY(name##_create_errhandler, void *function, int *errhandler, int *ierror)                                  \
    {                                                                                                                  \
        MPI_Errhandler made;                                                                                           \
        void *callee = fortran_callback("MPI_" #Name "_create_errhandler", kind, function);                            \
        int error = callee ? C(Name##_create_errhandler)((MPI_##Name##_errhandler_function *)callee, &made)            \
                           : MPI_ERR_OTHER;                                                                            \
        if (!error)                                                                                                    \
            *errhandler = MPI_Errhandler_toint(made);                                                                  \
        tell(ierror, error);                                                                                           \
    }
HANDLER(Comm, comm, CALLEE_COMM)
HANDLER(File, file, CALLEE_FILE)
HANDLER(Session, session, CALLEE_SESSION)
HANDLER(Win, win, CALLEE_WIN)

/* ---- texts whose length the program says ---- */

OWN_ENTRY(info_create_env, int *info, int *ierror)
{
    MPI_Info made;
    int error = C(Info_create_env)(0, NULL, &made);
    if (!error)
        *info = MPI_Info_toint(made);
    tell(ierror, error);
}

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
    tell(ierror, error);
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
    tell(ierror, error);
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
    tell(ierror, error);
}

/* ---- generalized requests ---- */

OWN_ENTRY(grequest_start, void *query_fn, void *free_fn, void *cancel_fn, MPI_Aint *extra_state, int *request,
          int *ierror)
{
    void *const function[3] = {query_fn, free_fn, cancel_fn};
    tell(ierror, fortran_generalized(C(Grequest_start), function, extra_state, request));
}

/* ---- chapters that are not there yet: C says so ---- */

OWN_ENTRY(comm_spawn, const char *command, const char *argv, const int *maxprocs, const int *info, const int *root,
          const int *comm, int *intercomm, int *errcodes, int *ierror, fortran_length command_length,
          fortran_length argv_length)
{
    TEMPORARY room;
    MPI_Comm made;
    const char *name = fortran_text(&room, command, command_length, false);
    (void)argv;
    (void)argv_length;
    (void)errcodes;
    int error = name ? C(Comm_spawn)(name, MPI_ARGV_NULL, *maxprocs, MPI_Info_fromint(*info), *root,
                                     MPI_Comm_fromint(*comm), &made, MPI_ERRCODES_IGNORE)
                     : MPI_ERR_NO_MEM;
    if (!error)
        *intercomm = MPI_Comm_toint(made);
    tell(ierror, error);
}

OWN_ENTRY(comm_spawn_multiple, const int *count, const char *commands, const char *argv, const int *maxprocs,
          const int *info, const int *root, const int *comm, int *intercomm, int *errcodes, int *ierror)
{
    MPI_Comm made;
    (void)commands;
    (void)argv;
    (void)maxprocs;
    (void)info;
    (void)errcodes;
    int error = C(Comm_spawn_multiple)(*count, NULL, MPI_ARGVS_NULL, NULL, NULL, *root, MPI_Comm_fromint(*comm), &made,
                                       MPI_ERRCODES_IGNORE);
    if (!error)
        *intercomm = MPI_Comm_toint(made);
    tell(ierror, error);
}

#define DATAREP(Name, name)                                                                                            \
    OWN_ENTRY(name, const char *datarep, void *read_fn, void *write_fn, void *extent_fn, MPI_Aint *extra_state,        \
              int *ierror, fortran_length datarep_length)                                                              \
    {                                                                                                                  \
        TEMPORARY room;                                                                                                \
        const char *text = fortran_text(&room, datarep, datarep_length, false);                                        \
        (void)read_fn;                                                                                                 \
        (void)write_fn;                                                                                                \
        (void)extent_fn;                                                                                               \
        tell(ierror, text ? C(Name)(text, NULL, NULL, NULL, extra_state) : MPI_ERR_NO_MEM);                            \
    }
DATAREP(Register_datarep, register_datarep)
DATAREP(Register_datarep_c, register_datarep_c)
