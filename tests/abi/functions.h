/* Reads the table of calls as FUNCTION(result, name, (parameters)), which is defined before: each function of the
 * standard ABI once. The names are in the preprocessed text, so scripts read them from there. */
#include "mpi/calls.h"
#define FUNCTION_OF(...)        FUNCTION(__VA_ARGS__)
#define CALL(Name, name, ...)   FUNCTION_OF(int, MPI_##Name, C_PARAMETERS(SMALL, __VA_ARGS__))
#define CALL_C(Name, name, ...) \
    CALL(Name, name, __VA_ARGS__) FUNCTION_OF(int, MPI_##Name##_c, C_PARAMETERS(LARGE, __VA_ARGS__))
#define BUFFER CALL
#define BUFFER_C CALL_C
#define OWN CALL
#define OWN_C CALL_C
#define OLD CALL
#include "mpi/calls.def"

/* Functions without an error code, or of C alone. */
FUNCTION(MPI_Aint, MPI_Aint_add, (MPI_Aint, MPI_Aint))
FUNCTION(MPI_Aint, MPI_Aint_diff, (MPI_Aint, MPI_Aint))
FUNCTION(double, MPI_Wtick, (void))
FUNCTION(double, MPI_Wtime, (void))
FUNCTION(int, MPI_Pcontrol, (const int, ...))
/* Tool information */
FUNCTION(int, MPI_T_enum_get_info, (MPI_T_enum, int *, char *, int *))
FUNCTION(int, MPI_T_enum_get_item, (MPI_T_enum, int, int *, char *, int *))
FUNCTION(int, MPI_T_finalize, (void))
FUNCTION(int, MPI_T_init_thread, (int, int *))
FUNCTION(int, MPI_T_cvar_get_index, (const char *, int *))
FUNCTION(int, MPI_T_cvar_get_info,
         (int, char *, int *, int *, MPI_Datatype *, MPI_T_enum *, char *, int *, int *, int *))
FUNCTION(int, MPI_T_cvar_get_num, (int *))
FUNCTION(int, MPI_T_cvar_handle_alloc, (int, void *, MPI_T_cvar_handle *, int *))
FUNCTION(int, MPI_T_cvar_handle_free, (MPI_T_cvar_handle *))
FUNCTION(int, MPI_T_cvar_read, (MPI_T_cvar_handle, void *))
FUNCTION(int, MPI_T_cvar_write, (MPI_T_cvar_handle, const void *))
FUNCTION(int, MPI_T_pvar_get_index, (const char *, int, int *))
FUNCTION(int, MPI_T_pvar_get_info,
         (int, char *, int *, int *, int *, MPI_Datatype *, MPI_T_enum *, char *, int *, int *, int *, int *, int *))
FUNCTION(int, MPI_T_pvar_get_num, (int *))
FUNCTION(int, MPI_T_pvar_handle_alloc, (MPI_T_pvar_session, int, void *, MPI_T_pvar_handle *, int *))
FUNCTION(int, MPI_T_pvar_handle_free, (MPI_T_pvar_session, MPI_T_pvar_handle *))
FUNCTION(int, MPI_T_pvar_read, (MPI_T_pvar_session, MPI_T_pvar_handle, void *))
FUNCTION(int, MPI_T_pvar_readreset, (MPI_T_pvar_session, MPI_T_pvar_handle, void *))
FUNCTION(int, MPI_T_pvar_reset, (MPI_T_pvar_session, MPI_T_pvar_handle))
FUNCTION(int, MPI_T_pvar_session_create, (MPI_T_pvar_session *))
FUNCTION(int, MPI_T_pvar_session_free, (MPI_T_pvar_session *))
FUNCTION(int, MPI_T_pvar_start, (MPI_T_pvar_session, MPI_T_pvar_handle))
FUNCTION(int, MPI_T_pvar_stop, (MPI_T_pvar_session, MPI_T_pvar_handle))
FUNCTION(int, MPI_T_pvar_write, (MPI_T_pvar_session, MPI_T_pvar_handle, const void *))
FUNCTION(int, MPI_T_event_callback_get_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info *))
FUNCTION(int, MPI_T_event_callback_set_info, (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info))
FUNCTION(int, MPI_T_event_copy, (MPI_T_event_instance, void *))
FUNCTION(int, MPI_T_event_get_index, (const char *, int *))
FUNCTION(int, MPI_T_event_get_info,
         (int, char *, int *, int *, MPI_Datatype *, MPI_Aint *, int *, MPI_T_enum *, MPI_Info *, char *, int *, int *))
FUNCTION(int, MPI_T_event_get_num, (int *))
FUNCTION(int, MPI_T_event_get_source, (MPI_T_event_instance, int *))
FUNCTION(int, MPI_T_event_get_timestamp, (MPI_T_event_instance, MPI_Count *))
FUNCTION(int, MPI_T_event_handle_alloc, (int, void *, MPI_Info, MPI_T_event_registration *))
FUNCTION(int, MPI_T_event_handle_free, (MPI_T_event_registration, void *, MPI_T_event_free_cb_function))
FUNCTION(int, MPI_T_event_handle_get_info, (MPI_T_event_registration, MPI_Info *))
FUNCTION(int, MPI_T_event_handle_set_info, (MPI_T_event_registration, MPI_Info))
FUNCTION(int, MPI_T_event_read, (MPI_T_event_instance, int, void *))
FUNCTION(int, MPI_T_event_register_callback,
         (MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void *, MPI_T_event_cb_function))
FUNCTION(int, MPI_T_event_set_dropped_handler, (MPI_T_event_registration, MPI_T_event_dropped_cb_function))
FUNCTION(int, MPI_T_source_get_info,
         (int, char *, int *, char *, int *, MPI_T_source_order *, MPI_Count *, MPI_Count *, MPI_Info *))
FUNCTION(int, MPI_T_source_get_num, (int *))
FUNCTION(int, MPI_T_source_get_timestamp, (int, MPI_Count *))
FUNCTION(int, MPI_T_category_changed, (int *))
FUNCTION(int, MPI_T_category_get_categories, (int, int, int *))
FUNCTION(int, MPI_T_category_get_cvars, (int, int, int *))
FUNCTION(int, MPI_T_category_get_events, (int, int, int *))
FUNCTION(int, MPI_T_category_get_index, (const char *, int *))
FUNCTION(int, MPI_T_category_get_info, (int, char *, int *, char *, int *, int *, int *, int *))
FUNCTION(int, MPI_T_category_get_num, (int *))
FUNCTION(int, MPI_T_category_get_num_events, (int, int *))
FUNCTION(int, MPI_T_category_get_pvars, (int, int, int *))
/* Handles as numbers */
#define NUMBERED(Name, type) FUNCTION(type, MPI_##Name##_fromint, (int)) FUNCTION(int, MPI_##Name##_toint, (type))
NUMBERED(Comm, MPI_Comm)
NUMBERED(Errhandler, MPI_Errhandler)
NUMBERED(File, MPI_File)
NUMBERED(Group, MPI_Group)
NUMBERED(Info, MPI_Info)
NUMBERED(Message, MPI_Message)
NUMBERED(Op, MPI_Op)
NUMBERED(Request, MPI_Request)
NUMBERED(Session, MPI_Session)
NUMBERED(Type, MPI_Datatype)
NUMBERED(Win, MPI_Win)
