/* The kinds of calls.def as Fortran has them. Each belongs to a class, with the type in C and the name of its
 * conversion where there is one. For each class there are six steps:
 *
 *   P  its parameter            L  what follows behind all parameters: the length of a text
 *   B  before the call          S  then, where a section of an array becomes a datatype
 *   V  what the call is given   A  after the call, whose result is ERROR
 *
 * What has another form in C than in Fortran is held in c_NAME meanwhile. */
#pragma once

#include "fortran/fortran.h"
#include "mpi/calls.h"

#define STEP(step, size, kind, ...)  STEP_OF(step, size, kind, CLASS_##kind, __VA_ARGS__)
#define STEP_OF(step, size, kind, ...) STEP_IN(step, size, kind, __VA_ARGS__)
#define STEP_IN(step, size, kind, class, type, stem, name, ...) \
    step##_##class(size, kind, type, stem, name, __VA_ARGS__)
#define PARAMETER(size, ...) STEP(P, size, __VA_ARGS__)
#define LENGTH(size, ...)    STEP(L, size, __VA_ARGS__)
#define BEFORE(size, ...)    STEP(B, size, __VA_ARGS__)
#define SECTION(size, ...)   STEP(S, size, __VA_ARGS__)
#define VALUE(size, ...)     STEP(V, size, __VA_ARGS__)
#define AFTER(size, ...)     STEP(A, size, __VA_ARGS__)

#define CLASS_NONE         NOTHING, ,
#define CLASS_INT          NUMBER, ,
#define CLASS_COUNT        COUNTED, ,
#define CLASS_BIG          NUMBER, ,
#define CLASS_AINT         NUMBER, ,
#define CLASS_DISP         NUMBER, ,
#define CLASS_EXTENT       NUMBER, ,
#define CLASS_OFFSET       NUMBER, ,
#define CLASS_LOGICAL      NUMBER, ,
#define CLASS_LEVEL        LEVEL, ,
#define CLASS_BOOLEAN      POINTER, ,
#define CLASS_BOOLEAN_OUT  POINTER, ,
#define CLASS_INT_OUT      POINTER, ,
#define CLASS_COUNT_OUT    POINTER, ,
#define CLASS_BIG_OUT      POINTER, ,
#define CLASS_AINT_OUT     POINTER, ,
#define CLASS_DISP_OUT     POINTER, ,
#define CLASS_EXTENT_OUT   POINTER, ,
#define CLASS_OFFSET_OUT   POINTER, ,
#define CLASS_LOGICAL_OUT  POINTER, ,
#define CLASS_INT_IO       POINTER, ,
#define CLASS_COUNT_IO     POINTER, ,
#define CLASS_BIG_IO       POINTER, ,
#define CLASS_EXTENT_IO    POINTER, ,
#define CLASS_INTS         POINTER, ,
#define CLASS_COUNTS       POINTER, ,
#define CLASS_BIGS         POINTER, ,
#define CLASS_AINTS        POINTER, ,
#define CLASS_DISPS        POINTER, ,
#define CLASS_EXTENTS      POINTER, ,
#define CLASS_LOGICALS     POINTER, ,
#define CLASS_INTS_OUT     POINTER, ,
#define CLASS_INTS_IO      POINTER, ,
#define CLASS_BIGS_OUT     POINTER, ,
#define CLASS_AINTS_OUT    POINTER, ,
#define CLASS_LOGICALS_OUT POINTER, ,
#define CLASS_POINTER_OUT  POINTER, ,
#define CLASS_RANGES       RANGES, ,
#define CLASS_WEIGHTS      WEIGHTS, ,
#define CLASS_WEIGHTS_OUT  WEIGHTS, ,
#define CLASS_INDEX_OUT    INDEX, ,
#define CLASS_DONE_OUT     DONE, ,
#define CLASS_INDICES_OUT  INDICES, ,
#define CLASS_STATUS       STATUS, ,
#define CLASS_STATUS_OUT   STATUS, ,
#define CLASS_STATUS_IO    STATUS, ,
#define CLASS_STATUSES_OUT STATUSES, ,
#define CLASS_SEND         SECTIONED, ,
#define CLASS_RECV         SECTIONED, ,
#define CLASS_SEND_FLAT    FLAT, ,
#define CLASS_RECV_FLAT    FLAT, ,
#define CLASS_ADDRESS      PLACE, ,
#define CLASS_ADDRESS_OUT  PLACE, ,
#define CLASS_DETACHED     DETACHED, ,
#define CLASS_TEXT         TEXT, false,
#define CLASS_KEY          TEXT, true,
#define CLASS_TEXT_OUT     TEXT_OUT, ,

#define CLASS_COMM           HANDLE, MPI_Comm, Comm
#define CLASS_ERRHANDLER     HANDLE, MPI_Errhandler, Errhandler
#define CLASS_FILE           HANDLE, MPI_File, File
#define CLASS_GROUP          HANDLE, MPI_Group, Group
#define CLASS_INFO           HANDLE, MPI_Info, Info
#define CLASS_MESSAGE        HANDLE, MPI_Message, Message
#define CLASS_OP             HANDLE, MPI_Op, Op
#define CLASS_REQUEST        HANDLE, MPI_Request, Request
#define CLASS_SESSION        HANDLE, MPI_Session, Session
#define CLASS_TYPE           HANDLE, MPI_Datatype, Type
#define CLASS_WIN            HANDLE, MPI_Win, Win
#define CLASS_COMM_OUT       HANDLE_OUT, MPI_Comm, Comm
#define CLASS_ERRHANDLER_OUT HANDLE_OUT, MPI_Errhandler, Errhandler
#define CLASS_FILE_OUT       HANDLE_OUT, MPI_File, File
#define CLASS_GROUP_OUT      HANDLE_OUT, MPI_Group, Group
#define CLASS_INFO_OUT       HANDLE_OUT, MPI_Info, Info
#define CLASS_MESSAGE_OUT    HANDLE_OUT, MPI_Message, Message
#define CLASS_OP_OUT         HANDLE_OUT, MPI_Op, Op
#define CLASS_REQUEST_OUT    HANDLE_OUT, MPI_Request, Request
#define CLASS_SESSION_OUT    HANDLE_OUT, MPI_Session, Session
#define CLASS_TYPE_OUT       HANDLE_OUT, MPI_Datatype, Type
#define CLASS_WIN_OUT        HANDLE_OUT, MPI_Win, Win
#define CLASS_COMM_IO        HANDLE_IO, MPI_Comm, Comm
#define CLASS_ERRHANDLER_IO  HANDLE_IO, MPI_Errhandler, Errhandler
#define CLASS_FILE_IO        HANDLE_IO, MPI_File, File
#define CLASS_GROUP_IO       HANDLE_IO, MPI_Group, Group
#define CLASS_INFO_IO        HANDLE_IO, MPI_Info, Info
#define CLASS_MESSAGE_IO     HANDLE_IO, MPI_Message, Message
#define CLASS_OP_IO          HANDLE_IO, MPI_Op, Op
#define CLASS_REQUEST_IO     HANDLE_IO, MPI_Request, Request
#define CLASS_SESSION_IO     HANDLE_IO, MPI_Session, Session
#define CLASS_TYPE_IO        HANDLE_IO, MPI_Datatype, Type
#define CLASS_WIN_IO         HANDLE_IO, MPI_Win, Win
#define CLASS_TYPES          HANDLES, MPI_Datatype, Type
#define CLASS_REQUESTS       HANDLES, MPI_Request, Request
#define CLASS_REQUESTS_IO    HANDLES_IO, MPI_Request, Request
#define CLASS_TYPES_OUT      HANDLES_OUT, MPI_Datatype, Type
#define CLASS_TYPES_TO       TYPES_OF, PEERS_ALL,
#define CLASS_TYPES_FROM     TYPES_OF, PEERS_ALL,
#define CLASS_TYPES_OUTWARD  TYPES_OF, PEERS_OUTWARD,
#define CLASS_TYPES_INWARD   TYPES_OF, PEERS_INWARD,

/* ---- P ---- */
#define P_NOTHING(size, kind, type, stem, name, ...)
#define P_NUMBER(size, kind, type, stem, name, ...)      const C_##kind(size, name) *name,
#define P_COUNTED(size, kind, type, stem, name, ...)     const C_##kind(size, name) *name,
#define P_LEVEL(size, kind, type, stem, name, ...)       const int *name,
#define P_POINTER(size, kind, type, stem, name, ...)     C_##kind(size, name) name,
#define P_RANGES(size, kind, type, stem, name, ...)      int (*name)[3],
#define P_WEIGHTS(size, kind, type, stem, name, ...)     int *name,
#define P_INDEX(size, kind, type, stem, name, ...)       int *name,
#define P_DONE(size, kind, type, stem, name, ...)        int *name,
#define P_INDICES(size, kind, type, stem, name, ...)     int *name,
#define P_STATUS(size, kind, type, stem, name, ...)      int *name,
#define P_STATUSES   P_STATUS
#define P_HANDLE(size, kind, type, stem, name, ...)      const int *name,
#define P_HANDLE_OUT(size, kind, type, stem, name, ...)  int *name,
#define P_HANDLE_IO(size, kind, type, stem, name, ...)   int *name,
#define P_HANDLES(size, kind, type, stem, name, ...)     const int *name,
#define P_HANDLES_IO(size, kind, type, stem, name, ...)  int *name,
#define P_HANDLES_OUT(size, kind, type, stem, name, ...) int *name,
#define P_TYPES_OF(size, kind, type, stem, name, ...)    const int *name,
#define P_SECTIONED(size, kind, type, stem, name, ...)   BUFFER_PARAMETER(name),
#define P_FLAT(size, kind, type, stem, name, ...)        BUFFER_PARAMETER(name),
#define P_PLACE(size, kind, type, stem, name, ...)       BUFFER_PARAMETER(name),
#define P_DETACHED(size, kind, type, stem, name, ...)    void **name,
#define P_TEXT(size, kind, type, stem, name, ...)        TEXT_PARAMETER(name),
#define P_TEXT_OUT(size, kind, type, stem, name, ...)    char *name,

/* ---- L ---- */
#define L_NOTHING(size, kind, type, stem, name, ...)
#define L_NUMBER     L_NOTHING
#define L_COUNTED    L_NOTHING
#define L_LEVEL      L_NOTHING
#define L_POINTER    L_NOTHING
#define L_RANGES     L_NOTHING
#define L_WEIGHTS    L_NOTHING
#define L_INDEX      L_NOTHING
#define L_DONE       L_NOTHING
#define L_INDICES    L_NOTHING
#define L_STATUS     L_NOTHING
#define L_STATUSES   L_NOTHING
#define L_HANDLE     L_NOTHING
#define L_HANDLE_OUT L_NOTHING
#define L_HANDLE_IO  L_NOTHING
#define L_HANDLES    L_NOTHING
#define L_HANDLES_IO L_NOTHING
#define L_HANDLES_OUT L_NOTHING
#define L_TYPES_OF   L_NOTHING
#define L_SECTIONED  L_NOTHING
#define L_FLAT       L_NOTHING
#define L_PLACE      L_NOTHING
#define L_DETACHED   L_NOTHING
#define L_TEXT(size, kind, type, stem, name, ...)     TEXT_LENGTH(name)
#define L_TEXT_OUT(size, kind, type, stem, name, ...) , fortran_length name##_length

/* ---- B ---- */
#define B_NOTHING(size, kind, type, stem, name, ...)
#define B_NUMBER     B_NOTHING
#define B_LEVEL      B_NOTHING
#define B_POINTER    B_NOTHING
#define B_RANGES     B_NOTHING
#define B_WEIGHTS    B_NOTHING
#define B_INDICES    B_NOTHING
#define B_STATUS     B_NOTHING
#define B_STATUSES(size, kind, type, stem, name, ...)                                                                  \
    if (unlikely(FORTRAN_IS(name, status_ignore)))                                                                     \
        error = fortran_wants_array(call, #name);
#define B_COUNTED(size, kind, type, stem, name, ...)    C_##kind(size, name) c_##name = *name;
#define B_INDEX(size, kind, type, stem, name, ...)      int c_##name = MPI_UNDEFINED;
#define B_DONE(size, kind, type, stem, name, ...)       int c_##name = MPI_UNDEFINED;
#define B_HANDLE(size, kind, type, stem, name, ...)     type c_##name = fortran_from(type, stem, *name);
#define B_HANDLE_OUT(size, kind, type, stem, name, ...) type c_##name = 0;
#define B_HANDLE_IO     B_HANDLE
#define B_ARRAY(type, name, length)                                                                                    \
    TEMPORARY t_##name;                                                                                                \
    size_t n_##name = length;                                                                                          \
    type *c_##name = fortran_take(&t_##name, n_##name * sizeof(type));                                                 \
    error = c_##name ? error : MPI_ERR_NO_MEM;
#define B_HANDLES(size, kind, type, stem, name, length, ...)                                                           \
    B_ARRAY(type, name, *length > 0 ? (size_t)*length : 0)                                                             \
    for (size_t i = 0; c_##name && i < n_##name; i++)                                                                  \
        c_##name[i] = fortran_from(type, stem, name[i]);
#define B_HANDLES_IO    B_HANDLES
#define B_HANDLES_OUT(size, kind, type, stem, name, length, ...) B_ARRAY(type, name, *length > 0 ? (size_t)*length : 0)
#define B_TYPES_OF(size, kind, peers, stem, name, buffer, comm, ...)                                                   \
    B_ARRAY(MPI_Datatype, name, FORTRAN_IS(BASE(buffer), in_place) ? 0                                                 \
                                : fortran_peers(fortran_from(MPI_Comm, Comm, *comm), peers))                           \
    for (size_t i = 0; c_##name && i < n_##name; i++)                                                                  \
        c_##name[i] = fortran_from(MPI_Datatype, Type, name[i]);
#define B_SECTIONED(size, kind, type, stem, name, ...)  BUFFER_BEFORE(name) void *c_##name = PLACE_OF(name);
#define B_FLAT          B_SECTIONED
#define B_PLACE         B_SECTIONED
#define B_DETACHED(size, kind, type, stem, name, ...)   void *c_##name = NULL;
#define B_TEXT(size, kind, both_ends, stem, name, ...)                                                                 \
    TEMPORARY t_##name;                                                                                                \
    char *c_##name = fortran_text(&t_##name, TEXT_OF(name), both_ends);                                                \
    error = c_##name ? error : MPI_ERR_NO_MEM;
#define B_TEXT_OUT(size, kind, type, stem, name, most, ...)                                                            \
    char c_##name[(most) + 1];                                                                                         \
    c_##name[0] = 0;

/* ---- S: of BUFFER rows with descriptors alone ---- */
#define S_NOTHING(size, kind, type, stem, name, ...)
#define S_NUMBER     S_NOTHING
#define S_COUNTED    S_NOTHING
#define S_LEVEL      S_NOTHING
#define S_POINTER    S_NOTHING
#define S_RANGES     S_NOTHING
#define S_WEIGHTS    S_NOTHING
#define S_INDEX      S_NOTHING
#define S_DONE       S_NOTHING
#define S_INDICES    S_NOTHING
#define S_STATUS     S_NOTHING
#define S_STATUSES   S_NOTHING
#define S_HANDLE     S_NOTHING
#define S_HANDLE_OUT S_NOTHING
#define S_HANDLE_IO  S_NOTHING
#define S_HANDLES    S_NOTHING
#define S_HANDLES_IO S_NOTHING
#define S_HANDLES_OUT S_NOTHING
#define S_TYPES_OF   S_NOTHING
#define S_PLACE      S_NOTHING
#define S_DETACHED   S_NOTHING
#define S_TEXT       S_NOTHING
#define S_TEXT_OUT   S_NOTHING
#define S_SECTIONED(size, kind, type, stem, name, count, datatype, ...)                                                \
    MPI_Datatype own_##name = MPI_DATATYPE_NULL;                                                                       \
    if (unlikely(!fortran_contiguous(name)) && c_##name == name->base && !error) {                                     \
        error = fortran_section(call, name, c_##count, c_##datatype, &own_##name);                                     \
        c_##count = 1;                                                                                                 \
        c_##datatype = own_##name;                                                                                     \
    }
#define S_FLAT(size, kind, type, stem, name, ...)                                                                      \
    if (unlikely(!fortran_contiguous(name)) && c_##name == name->base && !error)                                       \
        error = fortran_refuse(call, #name);

/* ---- V ---- */
#define V_NOTHING(size, kind, type, stem, name, ...)
#define V_NUMBER(size, kind, type, stem, name, ...)     *name
#define V_LEVEL      V_NUMBER
#define V_COUNTED(size, kind, type, stem, name, ...)    c_##name
#define V_POINTER(size, kind, type, stem, name, ...)    name
#define V_RANGES     V_POINTER
#define V_INDICES    V_POINTER
#define V_WEIGHTS(size, kind, type, stem, name, ...)    fortran_weights(name)
#define V_INDEX(size, kind, type, stem, name, ...)      &c_##name
#define V_DONE       V_INDEX
#define V_STATUS(size, kind, type, stem, name, ...)     fortran_status(name)
#define V_STATUSES   V_STATUS
#define V_HANDLE     V_COUNTED
#define V_HANDLE_OUT V_INDEX
#define V_HANDLE_IO  V_INDEX
#define V_HANDLES    V_COUNTED
#define V_HANDLES_IO V_COUNTED
#define V_HANDLES_OUT V_COUNTED
#define V_TYPES_OF   V_COUNTED
#define V_SECTIONED  V_COUNTED
#define V_FLAT       V_COUNTED
#define V_PLACE      V_COUNTED
#define V_DETACHED   V_INDEX
#define V_TEXT       V_COUNTED
#define V_TEXT_OUT   V_COUNTED

/* ---- A ---- */
#define A_NOTHING(size, kind, type, stem, name, ...)
#define A_NUMBER     A_NOTHING
#define A_COUNTED    A_NOTHING
#define A_LEVEL      A_NOTHING
#define A_POINTER    A_NOTHING
#define A_RANGES     A_NOTHING
#define A_WEIGHTS    A_NOTHING
#define A_STATUS     A_NOTHING
#define A_STATUSES   A_NOTHING
#define A_HANDLE     A_NOTHING
#define A_HANDLES    A_NOTHING
#define A_TYPES_OF   A_NOTHING
#define A_FLAT       A_NOTHING
#define A_PLACE      A_NOTHING
#define A_TEXT       A_NOTHING
#define A_INDEX(size, kind, type, stem, name, ...) /* from 1 on; also of a request that failed */                      \
    if (!error || c_##name != MPI_UNDEFINED)                                                                           \
        *name = c_##name == MPI_UNDEFINED ? MPI_UNDEFINED : c_##name + 1;
#define A_DONE(size, kind, type, stem, name, ...)                                                                      \
    if (!error || c_##name != MPI_UNDEFINED)                                                                           \
        *name = c_##name;
#define A_INDICES(size, kind, type, stem, name, length, ...)                                                           \
    for (int i = 0; i < c_##length; i++)                                                                               \
        name[i]++;
#define A_HANDLE_OUT(size, kind, type, stem, name, ...)                                                                \
    if (!error)                                                                                                        \
        *name = fortran_to(stem, c_##name);
#define A_HANDLE_IO(size, kind, type, stem, name, ...) /* a number that is no handle in C stays */                     \
    if (!error || c_##name)                                                                                            \
        *name = fortran_to(stem, c_##name);
#define A_HANDLES_IO(size, kind, type, stem, name, ...)                                                                \
    for (size_t i = 0; c_##name && i < n_##name; i++)                                                                  \
        if (!error || c_##name[i])                                                                                     \
            name[i] = fortran_to(stem, c_##name[i]);
#define A_HANDLES_OUT(size, kind, type, stem, name, ...)                                                               \
    for (size_t i = 0; c_##name && !error && i < n_##name; i++)                                                        \
        if (c_##name[i])                                                                                               \
            name[i] = fortran_to(stem, c_##name[i]);
#define A_SECTIONED(size, kind, type, stem, name, ...) SECTION_END(name)
#define A_DETACHED(size, kind, type, stem, name, ...) DETACHED_END(name)
#define A_TEXT_OUT(size, kind, type, stem, name, ...)                                                                  \
    if (!error)                                                                                                        \
        fortran_pad(name, name##_length, c_##name);
