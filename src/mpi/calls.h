/* What calls.def, the table of the functions of the standard, is read with. The reader defines CALL and its kin for the
 * rows that it wants. EACH(M, x, arguments) expands to M(x, kind, name, form, ...) for each argument of a row, where
 * the form of what is read is empty; EACH_LISTED puts commas between. KIND_kind(size) is what is known of a kind; size
 * is SMALL, or LARGE for the form of the call whose name ends in _c. Macros alone: whatever needs the table (tests,
 * Fortran) includes this file. */
#ifndef MPI_CALLS_H
#define MPI_CALLS_H

#define SMALL(small, large) small
#define LARGE(small, large) large

#define CALLS_APPLY(M, ...)  M(__VA_ARGS__)
#define CALLS_OPEN(...)      __VA_ARGS__
#define CALLS_ITEM(M, x, a)  CALLS_APPLY(M, x, CALLS_OPEN a, , )
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
#define C_PARAMETERS(size, ...) (EACH_LISTED(C_PARAMETER, size, __VA_ARGS__))
#define C_PARAMETER(size, kind, name, ...) C_PARAMETER_OF(size, KIND_##kind(size), __VA_ARGS__)
#define C_PARAMETER_OF(...)                C_PARAMETER_IN(__VA_ARGS__)
#define C_PARAMETER_IN(size, class, type, fortran, stem, form, ...) C_FORM_##form(size, type, __VA_ARGS__)

#define C_FORM_(size, type, ...)             type
#define C_FORM_OUT(size, type, ...)          type *
#define C_FORM_IO(size, type, ...)           type *
#define C_FORM_ALL(size, type, ...)          const type *
#define C_FORM_AT_ROOT                       C_FORM_ALL /* elsewhere nothing may be there */
#define C_FORM_ALL_OUT(size, type, ...)      type *
#define C_FORM_ALL_IO(size, type, ...)       type *
#define C_FORM_EACH(size, type, ...)         const type *
#define C_FORM_EACH_OUTWARD(size, type, ...) const type *
#define C_FORM_EACH_INWARD(size, type, ...)  const type *
#define C_FORM_READ(size, type, ...)         const type * /* by its address */
#define C_FORM_INTO(size, type, ...)         type         /* written, and a pointer as it is */
#define C_FORM_SECTION(size, type, ...)      type
#define C_FORM_OF(size, type, of, ...)       of *
#define C_FORM_OF_COUNT(size, type, of, ...) size(of, of##_c) *
#define C_FORM_COUNTED(size, type, ...)      int, type
#define C_FORM_ADDRESSES(size, type, ...)    int *, type *

/* The kinds: its class, which says how it is treated, its types in C and in Fortran, and what a class needs besides: of
 * a handle the stem of its conversions, of a text whether blanks in front of it are dropped. */
#define KIND_NONE(size)       NOTHING, void, ,
#define KIND_INT(size)        NUMBER, int, integer,
#define KIND_COUNT(size)      NUMBER, size(int, MPI_Count), size(integer, FORTRAN_COUNT),
#define KIND_BIG(size)        NUMBER, MPI_Count, FORTRAN_COUNT,
#define KIND_AINT(size)       NUMBER, MPI_Aint, FORTRAN_ADDRESS,
#define KIND_DISP(size)       NUMBER, size(int, MPI_Aint), size(integer, FORTRAN_ADDRESS),
#define KIND_EXTENT(size)     NUMBER, size(MPI_Aint, MPI_Count), size(FORTRAN_ADDRESS, FORTRAN_COUNT),
#define KIND_OFFSET(size)     NUMBER, MPI_Offset, FORTRAN_OFFSET,
#define KIND_LOGICAL(size)    NUMBER, int, logical,
#define KIND_BOOLEAN(size)    OPAQUE, void *, logical,
#define KIND_ATTRIBUTE(size)  OPAQUE, void *, FORTRAN_ADDRESS,
#define KIND_INDEX(size)      INDEX, int, integer,
#define KIND_DONE(size)       DONE, int, integer,
#define KIND_WEIGHTS(size)    WEIGHTS, int, integer,
#define KIND_RANGES(size)     RANGES, int (*)[3], integer,
#define KIND_COMM(size)       HANDLE, MPI_Comm, FORTRAN_HANDLE(MPI_Comm), Comm
#define KIND_ERRHANDLER(size) HANDLE, MPI_Errhandler, FORTRAN_HANDLE(MPI_Errhandler), Errhandler
#define KIND_FILE(size)       HANDLE, MPI_File, FORTRAN_HANDLE(MPI_File), File
#define KIND_GROUP(size)      HANDLE, MPI_Group, FORTRAN_HANDLE(MPI_Group), Group
#define KIND_INFO(size)       HANDLE, MPI_Info, FORTRAN_HANDLE(MPI_Info), Info
#define KIND_MESSAGE(size)    HANDLE, MPI_Message, FORTRAN_HANDLE(MPI_Message), Message
#define KIND_OP(size)         HANDLE, MPI_Op, FORTRAN_HANDLE(MPI_Op), Op
#define KIND_REQUEST(size)    HANDLE, MPI_Request, FORTRAN_HANDLE(MPI_Request), Request
#define KIND_SESSION(size)    HANDLE, MPI_Session, FORTRAN_HANDLE(MPI_Session), Session
#define KIND_TYPE(size)       HANDLE, MPI_Datatype, FORTRAN_HANDLE(MPI_Datatype), Type
#define KIND_WIN(size)        HANDLE, MPI_Win, FORTRAN_HANDLE(MPI_Win), Win
#define KIND_STATUS(size)     STATUS, MPI_Status, ,
#define KIND_SEND(size)       CHOICE, const void *, ,
#define KIND_RECV(size)       CHOICE, void *, ,
#define KIND_ADDRESS(size)    ADDRESS, const void *, ,
#define KIND_ADDRESS_OUT(size) ADDRESS, void *, ,
#define KIND_POINTER(size)    POINTER, void *, ,
#define KIND_DETACHED(size)   DETACHED, void *, ,
#define KIND_TEXT(size)       TEXT, const char *, , false
#define KIND_KEY(size)        TEXT, const char *, , true
#define KIND_STRING(size)     STRING, char, , /* a text that is returned */
#define KIND_COMMANDS(size)   TEXTS, char **, ,
#define KIND_ARGV(size)       TEXTS, char **, ,
#define KIND_ARGVS(size)      ARGVS, char ***, ,
#define KIND_ARGUMENTS(size)  NOTHING, char **, ,
#define KIND_FUNCTION(size)   FUNCTION, , ,
#define KIND_STATE(size)      STATE, void *, ,

#endif
