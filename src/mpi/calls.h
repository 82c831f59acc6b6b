/* What calls.def, the table of all functions of the standard, is read with. The reader defines CALL and its kin for the
 * rows that it wants. EACH(M, x, arguments) expands to M(x, kind, name, ...) for each argument of a row; EACH_LISTED
 * puts commas between. C_KIND(size, ...) is the type of an argument in C; size is SMALL, or LARGE for the form of the
 * call whose name ends in _c. Macros alone: whatever needs the table (tests, Fortran) includes this file. */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

#define SMALL(small, large) small
#define LARGE(small, large) large

#define CALLS_APPLY(M, ...)  M(__VA_ARGS__)
#define CALLS_OPEN(...)      __VA_ARGS__
#define CALLS_ITEM(M, x, a)  CALLS_APPLY(M, x, CALLS_OPEN a)
#define CALLS_EACH_1(M, x, s, a)       CALLS_ITEM(M, x, a)
#define CALLS_EACH_2(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_1(M, x, s, __VA_ARGS__)
#define CALLS_EACH_3(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_2(M, x, s, __VA_ARGS__)
#define CALLS_EACH_4(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_3(M, x, s, __VA_ARGS__)
#define CALLS_EACH_5(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_4(M, x, s, __VA_ARGS__)
#define CALLS_EACH_6(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_5(M, x, s, __VA_ARGS__)
#define CALLS_EACH_7(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_6(M, x, s, __VA_ARGS__)
#define CALLS_EACH_8(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_7(M, x, s, __VA_ARGS__)
#define CALLS_EACH_9(M, x, s, a, ...)  CALLS_ITEM(M, x, a)s() CALLS_EACH_8(M, x, s, __VA_ARGS__)
#define CALLS_EACH_10(M, x, s, a, ...) CALLS_ITEM(M, x, a)s() CALLS_EACH_9(M, x, s, __VA_ARGS__)
#define CALLS_EACH_11(M, x, s, a, ...) CALLS_ITEM(M, x, a)s() CALLS_EACH_10(M, x, s, __VA_ARGS__)
#define CALLS_EACH_12(M, x, s, a, ...) CALLS_ITEM(M, x, a)s() CALLS_EACH_11(M, x, s, __VA_ARGS__)
#define CALLS_EACH_13(M, x, s, a, ...) CALLS_ITEM(M, x, a)s() CALLS_EACH_12(M, x, s, __VA_ARGS__)
#define CALLS_EACH_14(M, x, s, a, ...) CALLS_ITEM(M, x, a)s() CALLS_EACH_13(M, x, s, __VA_ARGS__)
#define CALLS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, picked, ...) picked
#define CALLS_SEPARATED(M, x, separator, ...) \
    CALLS_PICK(__VA_ARGS__, CALLS_EACH_14, CALLS_EACH_13, CALLS_EACH_12, CALLS_EACH_11, CALLS_EACH_10, CALLS_EACH_9, \
               CALLS_EACH_8, CALLS_EACH_7, CALLS_EACH_6, CALLS_EACH_5, CALLS_EACH_4, CALLS_EACH_3, CALLS_EACH_2, \
               CALLS_EACH_1, )(M, x, separator, __VA_ARGS__)
#define CALLS_NOTHING()
#define CALLS_COMMA()        ,
#define EACH(M, x, ...)        CALLS_SEPARATED(M, x, CALLS_NOTHING, __VA_ARGS__)
#define EACH_LISTED(M, x, ...) CALLS_SEPARATED(M, x, CALLS_COMMA, __VA_ARGS__)

/* A call as C declares it, of one size: C_PARAMETERS(size, arguments). */
#define C_PARAMETER(size, kind, ...) C_##kind(size, __VA_ARGS__)
#define C_PARAMETERS(size, ...) (EACH_LISTED(C_PARAMETER, size, __VA_ARGS__))

#define C_NONE(size, name)       void
#define C_INT(size, name)        int
#define C_COUNT(size, name)      size(int, MPI_Count)
#define C_BIG(size, name)        MPI_Count
#define C_AINT(size, name)       MPI_Aint
#define C_DISP(size, name)       size(int, MPI_Aint)
#define C_EXTENT(size, name)     size(MPI_Aint, MPI_Count)
#define C_OFFSET(size, name)     MPI_Offset
#define C_LOGICAL(size, name)    int
#define C_BOOLEAN(size, name)    void *
#define C_LEVEL(size, name)      const int, ...
#define C_INT_OUT(size, name)    int *
#define C_COUNT_OUT(size, name)  size(int, MPI_Count) *
#define C_BIG_OUT(size, name)    MPI_Count *
#define C_AINT_OUT(size, name)   MPI_Aint *
#define C_DISP_OUT(size, name)   size(int, MPI_Aint) *
#define C_EXTENT_OUT(size, name) size(MPI_Aint, MPI_Count) *
#define C_OFFSET_OUT(size, name) MPI_Offset *
#define C_LOGICAL_OUT(size, name) int *
#define C_BOOLEAN_OUT(size, name) void *
#define C_INDEX_OUT(size, name)  int *
#define C_DONE_OUT(size, name)   int *
#define C_INT_IO(size, name)     int *
#define C_COUNT_IO(size, name)   size(int, MPI_Count) *
#define C_BIG_IO(size, name)     MPI_Count *
#define C_EXTENT_IO(size, name)  size(MPI_Aint, MPI_Count) *

#define C_INTS(size, name)       const int *
#define C_COUNTS(size, name)     const size(int, MPI_Count) *
#define C_BIGS(size, name)       const MPI_Count *
#define C_AINTS(size, name)      const MPI_Aint *
#define C_DISPS(size, name)      const size(int, MPI_Aint) *
#define C_EXTENTS(size, name)    const size(MPI_Aint, MPI_Count) *
#define C_RANGES(size, name)     int (*)[3]
#define C_LOGICALS(size, name, ...) const int *
#define C_WEIGHTS(size, name)    const int *
#define C_INTS_OUT(size, name)   int *
#define C_INTS_IO(size, name)    int *
#define C_BIGS_OUT(size, name)   MPI_Count *
#define C_AINTS_OUT(size, name)  MPI_Aint *
#define C_WEIGHTS_OUT(size, name) int *
#define C_LOGICALS_OUT(size, name, ...) int *
#define C_INDICES_OUT(size, name, length) int *
#define C_ERRCODES(size, name)   int *

#define C_COMM(size, name)       MPI_Comm
#define C_ERRHANDLER(size, name) MPI_Errhandler
#define C_FILE(size, name)       MPI_File
#define C_GROUP(size, name)      MPI_Group
#define C_INFO(size, name)       MPI_Info
#define C_MESSAGE(size, name)    MPI_Message
#define C_OP(size, name)         MPI_Op
#define C_REQUEST(size, name)    MPI_Request
#define C_SESSION(size, name)    MPI_Session
#define C_TYPE(size, name)       MPI_Datatype
#define C_WIN(size, name)        MPI_Win
#define C_COMM_OUT(size, name)       MPI_Comm *
#define C_ERRHANDLER_OUT(size, name) MPI_Errhandler *
#define C_FILE_OUT(size, name)       MPI_File *
#define C_GROUP_OUT(size, name)      MPI_Group *
#define C_INFO_OUT(size, name)       MPI_Info *
#define C_MESSAGE_OUT(size, name)    MPI_Message *
#define C_OP_OUT(size, name)         MPI_Op *
#define C_REQUEST_OUT(size, name)    MPI_Request *
#define C_SESSION_OUT(size, name)    MPI_Session *
#define C_TYPE_OUT(size, name)       MPI_Datatype *
#define C_WIN_OUT(size, name)        MPI_Win *
#define C_COMM_IO(size, name)        MPI_Comm *
#define C_ERRHANDLER_IO(size, name)  MPI_Errhandler *
#define C_FILE_IO(size, name)        MPI_File *
#define C_GROUP_IO(size, name)       MPI_Group *
#define C_INFO_IO(size, name)        MPI_Info *
#define C_MESSAGE_IO(size, name)     MPI_Message *
#define C_OP_IO(size, name)          MPI_Op *
#define C_REQUEST_IO(size, name)     MPI_Request *
#define C_SESSION_IO(size, name)     MPI_Session *
#define C_TYPE_IO(size, name)        MPI_Datatype *
#define C_WIN_IO(size, name)         MPI_Win *
#define C_TYPES(size, name, length)         const MPI_Datatype *
#define C_TYPES_TO(size, name, buffer, comm)      const MPI_Datatype *
#define C_TYPES_FROM(size, name, buffer, comm)    const MPI_Datatype *
#define C_TYPES_OUTWARD(size, name, buffer, comm) const MPI_Datatype *
#define C_TYPES_INWARD(size, name, buffer, comm)  const MPI_Datatype *
#define C_TYPES_OUT(size, name, length)     MPI_Datatype *
#define C_INFOS(size, name, length)         const MPI_Info *
#define C_REQUESTS(size, name, length)      const MPI_Request *
#define C_REQUESTS_IO(size, name, length)   MPI_Request *

#define C_STATUS(size, name)       const MPI_Status *
#define C_STATUS_OUT(size, name)   MPI_Status *
#define C_STATUS_IO(size, name)    MPI_Status *
#define C_STATUSES_OUT(size, name) MPI_Status *

#define C_SEND(size, name, count, type) const void *
#define C_RECV(size, name, count, type) void *
#define C_SEND_FLAT(size, name)    const void *
#define C_RECV_FLAT(size, name)    void *
#define C_ADDRESS(size, name)      const void *
#define C_ADDRESS_OUT(size, name)  void *
#define C_POINTER_OUT(size, name)  void *
#define C_DETACHED(size, name)     void *

#define C_TEXT(size, name)         const char *
#define C_KEY(size, name)          const char *
#define C_TEXT_OUT(size, name, length) char *
#define C_COMMANDS(size, name)     char **
#define C_ARGV(size, name)         char **
#define C_ARGVS(size, name)        char ***
#define C_ARGUMENTS(size, name)    int, char **
#define C_ARGUMENT_ADDRESSES(size, name) int *, char ***

#define C_FUNCTION(size, name, type)       type *
#define C_COUNT_FUNCTION(size, name, type) size(type, type##_c) *
#define C_STATE(size, name)        void *
#define C_ATTRIBUTE(size, name)    void *
#define C_ATTRIBUTE_OUT(size, name) void *

#endif
