/* MPI 5.0 in its standard ABI, version 1.0. A program built with this header runs on any library of that ABI.
 *
 * Compiles alone, as C and as C++ of any year that has 64-bit integers. Needs libmpi_abi and nothing else. All that
 * the standard removed is left out; of what it only deprecated, attributes by their names of MPI-1 are there, because
 * other headers of this ABI have them. MPI_Fint and its conversions, no part of the ABI, are other names of what is. A
 * function whose name ends in _c takes counts of 64 bits. Weights are declared as pointers, not as arrays: compilers
 * warn when an array lies at an address like MPI_UNWEIGHTED.
 *
 * Order: types; constants and handles; callbacks; the tool interface's constants and types; the functions, chapter by
 * chapter as in the standard, each with its profiling name, PMPI_. */
#ifndef MPI_H
#define MPI_H

/* What a compiler warns of is the program's own lines: not macros that C89 and C++98 lack (-pedantic), nor the casts of
 * handles (-Wold-style-cast). */
#pragma GCC system_header

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION        5
#define MPI_SUBVERSION     0
#define MPI_ABI_VERSION    1
#define MPI_ABI_SUBVERSION 0

/* The library itself is also compiled with the numbers of other ABIs. */
#ifdef MPI_OTHER_NUMBERS
#include MPI_OTHER_NUMBERS
#else
/* ==== Types ==== */

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* 32 bytes, aligned to 4. The three fields in capitals are the user's, the rest is the library's. */
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* Handles are the size of a pointer and point to nothing a program may look at. Never 0. */
typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

/* ==== Constants ==== */

/* Wildcards and absent values; all negative */
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG    (-2)
#define MPI_PROC_NULL  (-3)
#define MPI_ROOT       (-4)
#define MPI_UNDEFINED  (-32766)

/* Addresses with a meaning of their own */
#define MPI_BOTTOM           ((void *)0)
#define MPI_IN_PLACE         ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)

/* Absent arguments */
#define MPI_ARGV_NULL       ((char **)0)
#define MPI_ARGVS_NULL      ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)
#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_UNWEIGHTED      ((int *)10)
#define MPI_WEIGHTS_EMPTY   ((int *)11)

/* Sizes of strings, the closing zero included */
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_ERROR_STRING           512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME            128
#define MPI_MAX_PORT_NAME              1024
#define MPI_MAX_INFO_KEY               256
#define MPI_MAX_INFO_VAL               1024
#define MPI_MAX_STRINGTAG_LEN          1024
#define MPI_MAX_PSET_NAME_LEN          1024
#define MPI_MAX_DATAREP_STRING         128

/* Bytes that a buffered message needs besides its data */
#define MPI_BSEND_OVERHEAD 512

/* Thread support, growing */
#define MPI_THREAD_SINGLE     0
#define MPI_THREAD_FUNNELED   1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE   4096

/* Results of comparing */
#define MPI_IDENT     201
#define MPI_CONGRUENT 202
#define MPI_SIMILAR   203
#define MPI_UNEQUAL   204

/* Topologies */
#define MPI_CART       211
#define MPI_GRAPH      212
#define MPI_DIST_GRAPH 213

/* Ways to split a communicator */
#define MPI_COMM_TYPE_SHARED          221
#define MPI_COMM_TYPE_HW_UNGUIDED     222
#define MPI_COMM_TYPE_HW_GUIDED       223
#define MPI_COMM_TYPE_RESOURCE_GUIDED 224

/* Array order and distribution */
#define MPI_ORDER_C              12
#define MPI_ORDER_FORTRAN        15
#define MPI_DISTRIBUTE_NONE      16
#define MPI_DISTRIBUTE_BLOCK     17
#define MPI_DISTRIBUTE_CYCLIC    18
#define MPI_DISTRIBUTE_DFLT_DARG 19

/* How a datatype was made */
#define MPI_COMBINER_NAMED          101
#define MPI_COMBINER_DUP            102
#define MPI_COMBINER_CONTIGUOUS     103
#define MPI_COMBINER_VECTOR         104
#define MPI_COMBINER_HVECTOR        105
#define MPI_COMBINER_INDEXED        106
#define MPI_COMBINER_HINDEXED       107
#define MPI_COMBINER_INDEXED_BLOCK  108
#define MPI_COMBINER_HINDEXED_BLOCK 109
#define MPI_COMBINER_STRUCT         110
#define MPI_COMBINER_SUBARRAY       111
#define MPI_COMBINER_DARRAY         112
#define MPI_COMBINER_F90_REAL       113
#define MPI_COMBINER_F90_COMPLEX    114
#define MPI_COMBINER_F90_INTEGER    115
#define MPI_COMBINER_RESIZED        116
#define MPI_COMBINER_VALUE_INDEX    117

/* Classes of types by size */
#define MPI_TYPECLASS_INTEGER 192
#define MPI_TYPECLASS_REAL    193
#define MPI_TYPECLASS_COMPLEX 194

/* Windows: locks, flavors, memory models */
#define MPI_LOCK_EXCLUSIVE      301
#define MPI_LOCK_SHARED         302
#define MPI_WIN_FLAVOR_CREATE   311
#define MPI_WIN_FLAVOR_ALLOCATE 312
#define MPI_WIN_FLAVOR_DYNAMIC  313
#define MPI_WIN_FLAVOR_SHARED   314
#define MPI_WIN_UNIFIED         321
#define MPI_WIN_SEPARATE        322

/* Windows: assertions, one bit each */
#define MPI_MODE_NOCHECK   1024
#define MPI_MODE_NOPRECEDE 2048
#define MPI_MODE_NOPUT     4096
#define MPI_MODE_NOSTORE   8192
#define MPI_MODE_NOSUCCEED 16384

/* Files: how to open, one bit each */
#define MPI_MODE_APPEND          1
#define MPI_MODE_CREATE          2
#define MPI_MODE_DELETE_ON_CLOSE 4
#define MPI_MODE_EXCL            8
#define MPI_MODE_RDONLY          16
#define MPI_MODE_RDWR            32
#define MPI_MODE_SEQUENTIAL      64
#define MPI_MODE_UNIQUE_OPEN     128
#define MPI_MODE_WRONLY          256

/* Files: positions */
#define MPI_SEEK_CUR             401
#define MPI_SEEK_END             402
#define MPI_SEEK_SET             403
#define MPI_DISPLACEMENT_CURRENT (-1)

/* Attribute keys of communicators (HOST is deprecated) */
#define MPI_KEYVAL_INVALID  0
#define MPI_TAG_UB          501
#define MPI_IO              502
#define MPI_HOST            503
#define MPI_WTIME_IS_GLOBAL 504
#define MPI_APPNUM          505
#define MPI_LASTUSEDCODE    506
#define MPI_UNIVERSE_SIZE   507

/* Attribute keys of windows */
#define MPI_WIN_BASE          601
#define MPI_WIN_DISP_UNIT     602
#define MPI_WIN_SIZE          603
#define MPI_WIN_CREATE_FLAVOR 604
#define MPI_WIN_MODEL         605

/* A status as seen by Fortran */
#define MPI_F_STATUS_SIZE 8
#define MPI_F_SOURCE      0
#define MPI_F_TAG         1
#define MPI_F_ERROR       2

/* Error classes */
#define MPI_SUCCESS                       0
#define MPI_ERR_BUFFER                    1
#define MPI_ERR_COUNT                     2
#define MPI_ERR_TYPE                      3
#define MPI_ERR_TAG                       4
#define MPI_ERR_COMM                      5
#define MPI_ERR_RANK                      6
#define MPI_ERR_REQUEST                   7
#define MPI_ERR_ROOT                      8
#define MPI_ERR_GROUP                     9
#define MPI_ERR_OP                        10
#define MPI_ERR_TOPOLOGY                  11
#define MPI_ERR_DIMS                      12
#define MPI_ERR_ARG                       13
#define MPI_ERR_UNKNOWN                   14
#define MPI_ERR_TRUNCATE                  15
#define MPI_ERR_OTHER                     16
#define MPI_ERR_INTERN                    17
#define MPI_ERR_PENDING                   18
#define MPI_ERR_IN_STATUS                 19
#define MPI_ERR_ACCESS                    20
#define MPI_ERR_AMODE                     21
#define MPI_ERR_ASSERT                    22
#define MPI_ERR_BAD_FILE                  23
#define MPI_ERR_BASE                      24
#define MPI_ERR_CONVERSION                25
#define MPI_ERR_DISP                      26
#define MPI_ERR_DUP_DATAREP               27
#define MPI_ERR_FILE_EXISTS               28
#define MPI_ERR_FILE_IN_USE               29
#define MPI_ERR_FILE                      30
#define MPI_ERR_INFO_KEY                  31
#define MPI_ERR_INFO_NOKEY                32
#define MPI_ERR_INFO_VALUE                33
#define MPI_ERR_INFO                      34
#define MPI_ERR_IO                        35
#define MPI_ERR_KEYVAL                    36
#define MPI_ERR_LOCKTYPE                  37
#define MPI_ERR_NAME                      38
#define MPI_ERR_NO_MEM                    39
#define MPI_ERR_NOT_SAME                  40
#define MPI_ERR_NO_SPACE                  41
#define MPI_ERR_NO_SUCH_FILE              42
#define MPI_ERR_PORT                      43
#define MPI_ERR_QUOTA                     44
#define MPI_ERR_READ_ONLY                 45
#define MPI_ERR_RMA_ATTACH                46
#define MPI_ERR_RMA_CONFLICT              47
#define MPI_ERR_RMA_RANGE                 48
#define MPI_ERR_RMA_SHARED                49
#define MPI_ERR_RMA_SYNC                  50
#define MPI_ERR_SERVICE                   51
#define MPI_ERR_SIZE                      52
#define MPI_ERR_SPAWN                     53
#define MPI_ERR_UNSUPPORTED_DATAREP       54
#define MPI_ERR_UNSUPPORTED_OPERATION     55
#define MPI_ERR_WIN                       56
#define MPI_ERR_RMA_FLAVOR                57
#define MPI_ERR_PROC_ABORTED              58
#define MPI_ERR_VALUE_TOO_LARGE           59
#define MPI_ERR_SESSION                   60
#define MPI_ERR_ERRHANDLER                61
#define MPI_ERR_ABI                       62
#define MPI_ERR_LASTCODE                  16383

/* Error classes of the tool interface */
enum {
    MPI_T_ERR_CANNOT_INIT = 1001, MPI_T_ERR_NOT_ACCESSIBLE, MPI_T_ERR_NOT_INITIALIZED, MPI_T_ERR_NOT_SUPPORTED,
    MPI_T_ERR_MEMORY, MPI_T_ERR_INVALID, MPI_T_ERR_INVALID_INDEX, MPI_T_ERR_INVALID_ITEM, MPI_T_ERR_INVALID_SESSION,
    MPI_T_ERR_INVALID_HANDLE, MPI_T_ERR_INVALID_NAME, MPI_T_ERR_OUT_OF_HANDLES, MPI_T_ERR_OUT_OF_SESSIONS,
    MPI_T_ERR_CVAR_SET_NOT_NOW, MPI_T_ERR_CVAR_SET_NEVER, MPI_T_ERR_PVAR_NO_WRITE, MPI_T_ERR_PVAR_NO_STARTSTOP,
    MPI_T_ERR_PVAR_NO_ATOMIC
};

/* ==== Predefined handles: compile-time constants, all below 4096 ==== */

/* Communicators */
#define MPI_COMM_NULL  ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF  ((MPI_Comm)0x102)

/* Groups */
#define MPI_GROUP_NULL  ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)

/* Other null handles */
#define MPI_WIN_NULL     ((MPI_Win)0x110)
#define MPI_FILE_NULL    ((MPI_File)0x118)
#define MPI_SESSION_NULL ((MPI_Session)0x120)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)

/* Messages */
#define MPI_MESSAGE_NULL    ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)

/* Infos */
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_INFO_ENV  ((MPI_Info)0x131)

/* Error handlers */
#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT     ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)0x143)

/* Operations */
#define MPI_OP_NULL     ((MPI_Op)0x20)
#define MPI_SUM         ((MPI_Op)0x21)
#define MPI_MIN         ((MPI_Op)0x22)
#define MPI_MAX         ((MPI_Op)0x23)
#define MPI_PROD        ((MPI_Op)0x24)
#define MPI_BAND        ((MPI_Op)0x28)
#define MPI_BOR         ((MPI_Op)0x29)
#define MPI_BXOR        ((MPI_Op)0x2a)
#define MPI_LAND        ((MPI_Op)0x30)
#define MPI_LOR         ((MPI_Op)0x31)
#define MPI_LXOR        ((MPI_Op)0x32)
#define MPI_MINLOC      ((MPI_Op)0x38)
#define MPI_MAXLOC      ((MPI_Op)0x39)
#define MPI_REPLACE     ((MPI_Op)0x3c)
#define MPI_NO_OP       ((MPI_Op)0x3d)

/* Datatypes: MPI's own */
#define MPI_DATATYPE_NULL     ((MPI_Datatype)0x200)
#define MPI_AINT              ((MPI_Datatype)0x201)
#define MPI_COUNT             ((MPI_Datatype)0x202)
#define MPI_OFFSET            ((MPI_Datatype)0x203)
#define MPI_PACKED            ((MPI_Datatype)0x207)

/* Datatypes: C integers */
#define MPI_SHORT                  ((MPI_Datatype)0x208)
#define MPI_INT                    ((MPI_Datatype)0x209)
#define MPI_LONG                   ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG_INT          ((MPI_Datatype)0x20b)
#define MPI_LONG_LONG              ((MPI_Datatype)0x20b)
#define MPI_UNSIGNED_SHORT         ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED               ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG          ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG     ((MPI_Datatype)0x20f)

/* Datatypes: C and C++ reals, complex numbers, booleans, characters */
#define MPI_FLOAT                       ((MPI_Datatype)0x210)
#define MPI_C_COMPLEX                   ((MPI_Datatype)0x212)
#define MPI_C_FLOAT_COMPLEX             ((MPI_Datatype)0x212)
#define MPI_CXX_FLOAT_COMPLEX           ((MPI_Datatype)0x213)
#define MPI_DOUBLE                      ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX            ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX          ((MPI_Datatype)0x217)
#define MPI_LONG_DOUBLE                 ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX       ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX     ((MPI_Datatype)0x225)
#define MPI_C_BOOL                      ((MPI_Datatype)0x238)
#define MPI_CXX_BOOL                    ((MPI_Datatype)0x239)
#define MPI_WCHAR                       ((MPI_Datatype)0x23c)

/* Datatypes of a fixed size: its power of two is in bits 3 to 5 */
#define MPI_INT8_T            ((MPI_Datatype)0x240)
#define MPI_UINT8_T           ((MPI_Datatype)0x241)
#define MPI_CHAR              ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR       ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR     ((MPI_Datatype)0x245)
#define MPI_BYTE              ((MPI_Datatype)0x247)
#define MPI_INT16_T           ((MPI_Datatype)0x248)
#define MPI_UINT16_T          ((MPI_Datatype)0x249)
#define MPI_INT32_T           ((MPI_Datatype)0x250)
#define MPI_UINT32_T          ((MPI_Datatype)0x251)
#define MPI_INT64_T           ((MPI_Datatype)0x258)
#define MPI_UINT64_T          ((MPI_Datatype)0x259)

/* Datatypes: pairs for MINLOC and MAXLOC */
#define MPI_FLOAT_INT             ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT            ((MPI_Datatype)0x229)
#define MPI_LONG_INT              ((MPI_Datatype)0x22a)
#define MPI_2INT                  ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT             ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT       ((MPI_Datatype)0x22d)
#define MPI_2REAL                 ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION     ((MPI_Datatype)0x231)
#define MPI_2INTEGER              ((MPI_Datatype)0x232)

/* Datatypes: Fortran */
#define MPI_LOGICAL              ((MPI_Datatype)0x218)
#define MPI_INTEGER              ((MPI_Datatype)0x219)
#define MPI_REAL                 ((MPI_Datatype)0x21a)
#define MPI_COMPLEX              ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION     ((MPI_Datatype)0x21c)
#define MPI_DOUBLE_COMPLEX       ((MPI_Datatype)0x21d)
#define MPI_CHARACTER            ((MPI_Datatype)0x21e)

/* Datatypes: Fortran, of a fixed size, each optional */
#define MPI_LOGICAL1      ((MPI_Datatype)0x2c0)
#define MPI_INTEGER1      ((MPI_Datatype)0x2c1)
#define MPI_LOGICAL2      ((MPI_Datatype)0x2c8)
#define MPI_INTEGER2      ((MPI_Datatype)0x2c9)
#define MPI_REAL2         ((MPI_Datatype)0x2ca)
#define MPI_LOGICAL4      ((MPI_Datatype)0x2d0)
#define MPI_INTEGER4      ((MPI_Datatype)0x2d1)
#define MPI_REAL4         ((MPI_Datatype)0x2d2)
#define MPI_COMPLEX4      ((MPI_Datatype)0x2d3)
#define MPI_LOGICAL8      ((MPI_Datatype)0x2d8)
#define MPI_INTEGER8      ((MPI_Datatype)0x2d9)
#define MPI_REAL8         ((MPI_Datatype)0x2da)
#define MPI_COMPLEX8      ((MPI_Datatype)0x2db)
#define MPI_LOGICAL16     ((MPI_Datatype)0x2e0)
#define MPI_INTEGER16     ((MPI_Datatype)0x2e1)
#define MPI_REAL16        ((MPI_Datatype)0x2e2)
#define MPI_COMPLEX16     ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32     ((MPI_Datatype)0x2eb)
#endif

/* ==== Callbacks ==== */

typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *datatype);

typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn; /* older spellings */
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;

typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int comm_keyval, void *extra_state, void *attribute_val_in,
                                        void *attribute_val_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int comm_keyval, void *attribute_val, void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int type_keyval, void *extra_state,
                                        void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int type_keyval, void *attribute_val,
                                          void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int win_keyval, void *extra_state, void *attribute_val_in,
                                       void *attribute_val_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int win_keyval, void *attribute_val, void *extra_state);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
                                            MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf,
                                              MPI_Offset position, void *extra_state);

#ifndef MPI_OTHER_NUMBERS
/* Callbacks that are absent (0) or built in (1): sentinels, never called */
#define MPI_COMM_NULL_COPY_FN     ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN           ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN   ((MPI_Comm_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN     ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN           ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN   ((MPI_Type_delete_attr_function *)0)
#define MPI_WIN_NULL_COPY_FN      ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN            ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN    ((MPI_Win_delete_attr_function *)0)
#define MPI_CONVERSION_FN_NULL    ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C  ((MPI_Datarep_conversion_function_c *)0)

/* The same by their names of MPI-1 */
#define MPI_NULL_COPY_FN   ((MPI_Copy_function *)0)
#define MPI_DUP_FN         ((MPI_Copy_function *)1)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *)0)

/* ==== Tool interface: constants ==== */

typedef enum MPI_T_source_order { MPI_T_SOURCE_ORDERED = 1, MPI_T_SOURCE_UNORDERED = 2 } MPI_T_source_order;

/* What a callback may do; each level is a subset of the bits of the next. */
typedef enum MPI_T_cb_safety {
    MPI_T_CB_REQUIRE_NONE = 0x00,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03,
    MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0f,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3f
} MPI_T_cb_safety;

/* Null handles */
#define MPI_T_ENUM_NULL         ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL  ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)
#define MPI_T_PVAR_HANDLE_NULL  ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_ALL_HANDLES  ((MPI_T_pvar_handle)1)

/* Whom a variable is for */
enum {
    MPI_T_VERBOSITY_USER_BASIC = 0x09, MPI_T_VERBOSITY_USER_DETAIL = 0x0a, MPI_T_VERBOSITY_USER_ALL = 0x0c,
    MPI_T_VERBOSITY_TUNER_BASIC = 0x11, MPI_T_VERBOSITY_TUNER_DETAIL = 0x12, MPI_T_VERBOSITY_TUNER_ALL = 0x14,
    MPI_T_VERBOSITY_MPIDEV_BASIC = 0x21, MPI_T_VERBOSITY_MPIDEV_DETAIL = 0x22, MPI_T_VERBOSITY_MPIDEV_ALL = 0x24
};

/* What a variable belongs to */
enum {
    MPI_T_BIND_NO_OBJECT = 1, MPI_T_BIND_MPI_COMM, MPI_T_BIND_MPI_DATATYPE, MPI_T_BIND_MPI_ERRHANDLER,
    MPI_T_BIND_MPI_FILE, MPI_T_BIND_MPI_GROUP, MPI_T_BIND_MPI_OP, MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN,
    MPI_T_BIND_MPI_MESSAGE, MPI_T_BIND_MPI_INFO, MPI_T_BIND_MPI_SESSION
};

/* Where a change of a control variable acts */
enum {
    MPI_T_SCOPE_CONSTANT = 1, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL, MPI_T_SCOPE_GROUP, MPI_T_SCOPE_GROUP_EQ,
    MPI_T_SCOPE_ALL, MPI_T_SCOPE_ALL_EQ
};

/* Classes of performance variables */
enum {
    MPI_T_PVAR_CLASS_STATE = 1, MPI_T_PVAR_CLASS_LEVEL, MPI_T_PVAR_CLASS_SIZE, MPI_T_PVAR_CLASS_PERCENTAGE,
    MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_T_PVAR_CLASS_COUNTER,
    MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_TIMER, MPI_T_PVAR_CLASS_GENERIC
};
#endif

/* ==== Tool interface: types ==== */

typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;

typedef void MPI_T_event_cb_function(MPI_T_event_instance event_instance, MPI_T_event_registration event_registration,
                                     MPI_T_cb_safety cb_safety, void *user_data);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                          void *user_data);
typedef void MPI_T_event_dropped_cb_function(MPI_Count count, MPI_T_event_registration event_registration,
                                             int source_index, MPI_T_cb_safety cb_safety, void *user_data);

/* ==== Functions ==== */

/* Macros whose names end in _ are this header's own. Each function has two names: a tool that defines MPI_X itself
 * calls PMPI_X. To see one as the compiler does: cc -E -P mpi.h | grep -o 'int MPI_Bcast *([^;]*;' */
#define MPI_BOTH_(result, name, parameters) result name parameters; result P##name parameters;

/* Two that differ in the types of counts (N) and displacements (A), of 64 bits in NAME_C. TAKES(N, A) comes first. */
#define MPI_TWINS_(name, name_c, takes, ...)                                                                           \
    MPI_BOTH_(int, name, (takes(int, int), __VA_ARGS__))                                                               \
    MPI_BOTH_(int, name_c, (takes(MPI_Count, MPI_Aint), __VA_ARGS__))
/* Two that differ in a type A as well, which is MPI_Count in NAME_C. */
#define MPI_WIDENED_(name, name_c, A, takes)                                                                           \
    MPI_BOTH_(int, name, (takes(int, A)))                                                                              \
    MPI_BOTH_(int, name_c, (takes(MPI_Count, MPI_Count)))
/* The six forms of a collective: blocking, nonblocking and persistent. Their names may be one macro. */
#define MPI_SIX_(run, run_c, start, start_c, prepare, prepare_c, takes, ...)                                           \
    MPI_TWINS_(run, run_c, takes, __VA_ARGS__)                                                                         \
    MPI_TWINS_(start, start_c, takes, __VA_ARGS__, MPI_Request *request)                                               \
    MPI_TWINS_(prepare, prepare_c, takes, __VA_ARGS__, MPI_Info info, MPI_Request *request)
#define MPI_FORMS_(...) MPI_SIX_(__VA_ARGS__)

#define MPI_DATA_(N, A)       void *buf, N count, MPI_Datatype datatype
#define MPI_BUFFER_(N, A)     void *buffer, N count, MPI_Datatype datatype
#define MPI_SENT_(N)          const void *sendbuf, N sendcount, MPI_Datatype sendtype
#define MPI_RECEIVED_(N)      void *recvbuf, N recvcount, MPI_Datatype recvtype
#define MPI_EXCHANGED_(N, A)  MPI_SENT_(N), int dest, int sendtag, MPI_RECEIVED_(N)
#define MPI_SENT_V_(N, A)     const void *sendbuf, const N sendcounts[], const A sdispls[]
#define MPI_RECEIVED_V_(N, A) void *recvbuf, const N recvcounts[], const A rdispls[]
#define MPI_ONE_ONE_(N, A)    MPI_SENT_(N), MPI_RECEIVED_(N)
#define MPI_ONE_MANY_(N, A)   MPI_SENT_(N), MPI_RECEIVED_V_(N, A), MPI_Datatype recvtype
#define MPI_MANY_ONE_(N, A)   MPI_SENT_V_(N, A), MPI_Datatype sendtype, MPI_RECEIVED_(N)
#define MPI_MANY_MANY_(N, A)  MPI_SENT_V_(N, A), MPI_Datatype sendtype, MPI_RECEIVED_V_(N, A), MPI_Datatype recvtype
#define MPI_TYPED_(N, A) \
    MPI_SENT_V_(N, A), const MPI_Datatype sendtypes[], MPI_RECEIVED_V_(N, A), const MPI_Datatype recvtypes[]
#define MPI_TYPED_FAR_(N, A)  MPI_TYPED_(N, MPI_Aint)
#define MPI_REDUCED_(N, A)    const void *sendbuf, void *recvbuf, N count, MPI_Datatype datatype, MPI_Op op
#define MPI_SHARED_OUT_(N, A) const void *sendbuf, void *recvbuf, const N recvcounts[], MPI_Datatype datatype, MPI_Op op
#define MPI_ORIGIN_(N)        void *origin_addr, N origin_count, MPI_Datatype origin_datatype
#define MPI_RESULT_(N)        void *result_addr, N result_count, MPI_Datatype result_datatype
#define MPI_TARGET_(N)        int target_rank, MPI_Aint target_disp, N target_count, MPI_Datatype target_datatype
#define MPI_GOT_(N, A)        MPI_ORIGIN_(N), MPI_TARGET_(N)
#define MPI_PUT_ROW_(N, A)        const MPI_ORIGIN_(N), MPI_TARGET_(N)
#define MPI_FETCHED_(N, A)    const MPI_ORIGIN_(N), MPI_RESULT_(N), MPI_TARGET_(N)
#define MPI_READ_(N, A)       MPI_File fh, void *buf, N count
#define MPI_WRITTEN_(N, A)    MPI_File fh, const void *buf, N count
#define MPI_READ_AT_(N, A)    MPI_File fh, MPI_Offset offset, void *buf, N count
#define MPI_WRITTEN_AT_(N, A) MPI_File fh, MPI_Offset offset, const void *buf, N count

/* ---- Point-to-point communication ---- */
/* Blocking */
MPI_TWINS_(MPI_Send, MPI_Send_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm)
MPI_TWINS_(MPI_Bsend, MPI_Bsend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm)
MPI_TWINS_(MPI_Ssend, MPI_Ssend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm)
MPI_TWINS_(MPI_Rsend, MPI_Rsend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm)
MPI_TWINS_(MPI_Recv, MPI_Recv_c, MPI_DATA_, int source, int tag, MPI_Comm comm, MPI_Status *status)
MPI_TWINS_(MPI_Sendrecv, MPI_Sendrecv_c, MPI_EXCHANGED_, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
MPI_TWINS_(MPI_Sendrecv_replace, MPI_Sendrecv_replace_c, MPI_DATA_, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Status *status)

/* Nonblocking */
MPI_TWINS_(MPI_Isend, MPI_Isend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Ibsend, MPI_Ibsend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Issend, MPI_Issend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Irsend, MPI_Irsend_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Irecv, MPI_Irecv_c, MPI_DATA_, int source, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Isendrecv, MPI_Isendrecv_c, MPI_EXCHANGED_, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Isendrecv_replace, MPI_Isendrecv_replace_c, MPI_DATA_, int dest, int sendtag, int source, int recvtag,
    MPI_Comm comm, MPI_Request *request)

/* Persistent */
MPI_TWINS_(MPI_Send_init, MPI_Send_init_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Bsend_init, MPI_Bsend_init_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Ssend_init, MPI_Ssend_init_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Rsend_init, MPI_Rsend_init_c, const MPI_DATA_, int dest, int tag, MPI_Comm comm, MPI_Request *request)
MPI_TWINS_(MPI_Recv_init, MPI_Recv_init_c, MPI_DATA_, int source, int tag, MPI_Comm comm, MPI_Request *request)
MPI_BOTH_(int, MPI_Start, (MPI_Request *request))
MPI_BOTH_(int, MPI_Startall, (int count, MPI_Request array_of_requests[]))

/* Probe and matched receive */
MPI_BOTH_(int, MPI_Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
MPI_BOTH_(int, MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
MPI_BOTH_(int, MPI_Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
MPI_BOTH_(int, MPI_Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
MPI_TWINS_(MPI_Mrecv, MPI_Mrecv_c, MPI_DATA_, MPI_Message *message, MPI_Status *status)
MPI_TWINS_(MPI_Imrecv, MPI_Imrecv_c, MPI_DATA_, MPI_Message *message, MPI_Request *request)
MPI_BOTH_(int, MPI_Cancel, (MPI_Request *request))

/* Completion */
MPI_BOTH_(int, MPI_Wait, (MPI_Request *request, MPI_Status *status))
MPI_BOTH_(int, MPI_Waitany, (int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status))
MPI_BOTH_(int, MPI_Waitall, (int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses))
MPI_BOTH_(int, MPI_Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status *array_of_statuses))
MPI_BOTH_(int, MPI_Test, (MPI_Request *request, int *flag, MPI_Status *status))
MPI_BOTH_(int, MPI_Testany, (int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status))
MPI_BOTH_(int, MPI_Testall, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses))
MPI_BOTH_(int, MPI_Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status *array_of_statuses))
MPI_BOTH_(int, MPI_Request_free, (MPI_Request *request))
MPI_BOTH_(int, MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
MPI_BOTH_(int, MPI_Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag,
    MPI_Status *array_of_statuses))
MPI_BOTH_(int, MPI_Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status))
MPI_BOTH_(int, MPI_Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status *array_of_statuses))

/* Status */
#define MPI_COUNTED_(N, A) const MPI_Status *status, MPI_Datatype datatype, N *count
MPI_WIDENED_(MPI_Get_count, MPI_Get_count_c, int, MPI_COUNTED_)
MPI_WIDENED_(MPI_Get_elements, MPI_Get_elements_c, int, MPI_COUNTED_)
MPI_BOTH_(int, MPI_Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
MPI_BOTH_(int, MPI_Status_get_error, (const MPI_Status *status, int *error))
MPI_BOTH_(int, MPI_Status_get_source, (const MPI_Status *status, int *source))
MPI_BOTH_(int, MPI_Status_get_tag, (const MPI_Status *status, int *tag))
MPI_BOTH_(int, MPI_Status_set_cancelled, (MPI_Status *status, int flag))
MPI_BOTH_(int, MPI_Status_set_error, (MPI_Status *status, int error))
MPI_BOTH_(int, MPI_Status_set_source, (MPI_Status *status, int source))
MPI_BOTH_(int, MPI_Status_set_tag, (MPI_Status *status, int tag))
MPI_BOTH_(int, MPI_Test_cancelled, (const MPI_Status *status, int *flag))

/* Buffers of the buffered mode */
#define MPI_ATTACH_(N, A)      void *buffer, N size
#define MPI_DETACH_(N, A)      void *buffer_addr, N *size
#define MPI_COMM_ATTACH_(N, A) MPI_Comm comm, MPI_ATTACH_(N, A)
#define MPI_COMM_DETACH_(N, A) MPI_Comm comm, MPI_DETACH_(N, A)
MPI_WIDENED_(MPI_Buffer_attach, MPI_Buffer_attach_c, int, MPI_ATTACH_)
MPI_WIDENED_(MPI_Buffer_detach, MPI_Buffer_detach_c, int, MPI_DETACH_)
MPI_BOTH_(int, MPI_Buffer_flush, (void))
MPI_BOTH_(int, MPI_Buffer_iflush, (MPI_Request *request))
MPI_WIDENED_(MPI_Comm_attach_buffer, MPI_Comm_attach_buffer_c, int, MPI_COMM_ATTACH_)
MPI_WIDENED_(MPI_Comm_detach_buffer, MPI_Comm_detach_buffer_c, int, MPI_COMM_DETACH_)
MPI_BOTH_(int, MPI_Comm_flush_buffer, (MPI_Comm comm))
MPI_BOTH_(int, MPI_Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request))
MPI_BOTH_(int, MPI_Session_attach_buffer, (MPI_Session session, MPI_ATTACH_(int, )))
MPI_BOTH_(int, MPI_Session_attach_buffer_c, (MPI_Session session, MPI_ATTACH_(MPI_Count, )))
MPI_BOTH_(int, MPI_Session_detach_buffer, (MPI_Session session, MPI_DETACH_(int, )))
MPI_BOTH_(int, MPI_Session_detach_buffer_c, (MPI_Session session, MPI_DETACH_(MPI_Count, )))
MPI_BOTH_(int, MPI_Session_flush_buffer, (MPI_Session session))
MPI_BOTH_(int, MPI_Session_iflush_buffer, (MPI_Session session, MPI_Request *request))

/* ---- Partitioned communication ---- */
MPI_BOTH_(int, MPI_Parrived, (MPI_Request request, int partition, int *flag))
MPI_BOTH_(int, MPI_Pready, (int partition, MPI_Request request))
MPI_BOTH_(int, MPI_Pready_list, (int length, const int array_of_partitions[], MPI_Request request))
MPI_BOTH_(int, MPI_Pready_range, (int partition_low, int partition_high, MPI_Request request))
#ifdef MPI_OTHER_NUMBERS /* MPI 4.0 had MPI_Count here, and so have MPICH and Open MPI */
#define MPI_PARTS_(N, A) void *buf, int partitions, MPI_Count count, MPI_Datatype datatype
#else
#define MPI_PARTS_(N, A) void *buf, int partitions, N count, MPI_Datatype datatype
#endif
MPI_TWINS_(MPI_Precv_init, MPI_Precv_init_c, MPI_PARTS_, int dest, int tag, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)
MPI_TWINS_(MPI_Psend_init, MPI_Psend_init_c, const MPI_PARTS_, int dest, int tag, MPI_Comm comm, MPI_Info info,
    MPI_Request *request)

/* ---- Datatypes ---- */
/* Constructors */
MPI_BOTH_(int, MPI_Type_commit, (MPI_Datatype *datatype))
MPI_BOTH_(int, MPI_Type_free, (MPI_Datatype *datatype))
MPI_BOTH_(int, MPI_Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype))
#define MPI_MADE_                   MPI_Datatype oldtype, MPI_Datatype *newtype
#define MPI_CONTIGUOUS_(N, A)       N count, MPI_MADE_
#define MPI_VECTOR_(N, A)           N count, N blocklength, A stride, MPI_MADE_
#define MPI_BLOCKS_(N, A)           N count, const N array_of_blocklengths[], const A array_of_displacements[]
#define MPI_INDEXED_(N, A)          MPI_BLOCKS_(N, A), MPI_MADE_
#define MPI_INDEXED_BLOCK_(N, A)    N count, N blocklength, const A array_of_displacements[], MPI_MADE_
#define MPI_STRUCT_(N, A)           MPI_BLOCKS_(N, A), const MPI_Datatype array_of_types[], MPI_Datatype *newtype
#define MPI_RESIZED_(N, A)          MPI_Datatype oldtype, A lb, A extent, MPI_Datatype *newtype
#define MPI_SUBARRAY_(N, A)                                                                                            \
    int ndims, const N array_of_sizes[], const N array_of_subsizes[], const N array_of_starts[], int order, MPI_MADE_
#define MPI_DARRAY_(N, A)                                                                                              \
    int size, int rank, int ndims, const N array_of_gsizes[], const int array_of_distribs[],                           \
        const int array_of_dargs[], const int array_of_psizes[], int order, MPI_MADE_
MPI_WIDENED_(MPI_Type_contiguous, MPI_Type_contiguous_c, int, MPI_CONTIGUOUS_)
MPI_WIDENED_(MPI_Type_vector, MPI_Type_vector_c, int, MPI_VECTOR_)
MPI_WIDENED_(MPI_Type_create_hvector, MPI_Type_create_hvector_c, MPI_Aint, MPI_VECTOR_)
MPI_WIDENED_(MPI_Type_indexed, MPI_Type_indexed_c, int, MPI_INDEXED_)
MPI_WIDENED_(MPI_Type_create_hindexed, MPI_Type_create_hindexed_c, MPI_Aint, MPI_INDEXED_)
MPI_WIDENED_(MPI_Type_create_indexed_block, MPI_Type_create_indexed_block_c, int, MPI_INDEXED_BLOCK_)
MPI_WIDENED_(MPI_Type_create_hindexed_block, MPI_Type_create_hindexed_block_c, MPI_Aint, MPI_INDEXED_BLOCK_)
MPI_WIDENED_(MPI_Type_create_struct, MPI_Type_create_struct_c, MPI_Aint, MPI_STRUCT_)
MPI_WIDENED_(MPI_Type_create_resized, MPI_Type_create_resized_c, MPI_Aint, MPI_RESIZED_)
MPI_WIDENED_(MPI_Type_create_subarray, MPI_Type_create_subarray_c, int, MPI_SUBARRAY_)
MPI_WIDENED_(MPI_Type_create_darray, MPI_Type_create_darray_c, int, MPI_DARRAY_)

/* Queries */
MPI_BOTH_(int, MPI_Get_address, (const void *location, MPI_Aint *address))
MPI_BOTH_(int, MPI_Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
    int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]))
MPI_BOTH_(int, MPI_Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]))
MPI_BOTH_(int, MPI_Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses,
    int *num_datatypes, int *combiner))
MPI_BOTH_(int, MPI_Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
    MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner))
MPI_BOTH_(int, MPI_Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))
MPI_BOTH_(int, MPI_Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
MPI_BOTH_(int, MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
MPI_BOTH_(int, MPI_Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen))
MPI_BOTH_(int, MPI_Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
MPI_BOTH_(int, MPI_Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
MPI_BOTH_(int, MPI_Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
MPI_BOTH_(int, MPI_Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type))
MPI_BOTH_(int, MPI_Type_set_name, (MPI_Datatype datatype, const char *type_name))
#define MPI_SIZE_(N, A) MPI_Datatype datatype, N *size
MPI_WIDENED_(MPI_Type_size, MPI_Type_size_c, int, MPI_SIZE_)
MPI_BOTH_(int, MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size))

/* Packing */
#define MPI_PACKED_(N, A)     const void *inbuf, N incount, MPI_Datatype datatype, void *outbuf, A outsize, A *position
#define MPI_UNPACKED_(N, A)   const void *inbuf, A insize, A *position, void *outbuf, N outcount, MPI_Datatype datatype
#define MPI_PACK_ROW_(N, A)       MPI_PACKED_(N, A), MPI_Comm comm
#define MPI_PACK_SIZE_ROW_(N, A)  N incount, MPI_Datatype datatype, MPI_Comm comm, A *size
#define MPI_UNPACK_ROW_(N, A)     MPI_UNPACKED_(N, A), MPI_Comm comm
#define MPI_EXTERNAL_(N, A)   const char *datarep, MPI_PACKED_(N, A)
#define MPI_EXTERNAL_SIZE_(N, A) const char *datarep, N incount, MPI_Datatype datatype, A *size
#define MPI_INTERNAL_(N, A)   const char datarep[], MPI_UNPACKED_(N, A)
MPI_WIDENED_(MPI_Pack, MPI_Pack_c, int, MPI_PACK_ROW_)
MPI_WIDENED_(MPI_Pack_size, MPI_Pack_size_c, int, MPI_PACK_SIZE_ROW_)
MPI_WIDENED_(MPI_Unpack, MPI_Unpack_c, int, MPI_UNPACK_ROW_)
MPI_WIDENED_(MPI_Pack_external, MPI_Pack_external_c, MPI_Aint, MPI_EXTERNAL_)
MPI_WIDENED_(MPI_Pack_external_size, MPI_Pack_external_size_c, MPI_Aint, MPI_EXTERNAL_SIZE_)
MPI_WIDENED_(MPI_Unpack_external, MPI_Unpack_external_c, MPI_Aint, MPI_INTERNAL_)

/* ---- Collective communication ---- */
/* Reduction operations */
MPI_BOTH_(int, MPI_Op_commutative, (MPI_Op op, int *commute))
MPI_BOTH_(int, MPI_Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op))
MPI_BOTH_(int, MPI_Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op))
MPI_BOTH_(int, MPI_Op_free, (MPI_Op *op))
#define MPI_LOCAL_(N, A) const void *inbuf, void *inoutbuf, N count, MPI_Datatype datatype, MPI_Op op
MPI_WIDENED_(MPI_Reduce_local, MPI_Reduce_local_c, int, MPI_LOCAL_)

/* The collectives */
MPI_BOTH_(int, MPI_Barrier, (MPI_Comm comm))
MPI_BOTH_(int, MPI_Ibarrier, (MPI_Comm comm, MPI_Request *request))
MPI_BOTH_(int, MPI_Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request))
#define MPI_BCAST_ROW_ MPI_Bcast, MPI_Bcast_c, MPI_Ibcast, MPI_Ibcast_c, MPI_Bcast_init, MPI_Bcast_init_c
MPI_FORMS_(MPI_BCAST_ROW_, MPI_BUFFER_, int root, MPI_Comm comm)
#define MPI_GATHER_ROW_ MPI_Gather, MPI_Gather_c, MPI_Igather, MPI_Igather_c, MPI_Gather_init, MPI_Gather_init_c
MPI_FORMS_(MPI_GATHER_ROW_, MPI_ONE_ONE_, int root, MPI_Comm comm)
#define MPI_GATHERV_ROW_ MPI_Gatherv, MPI_Gatherv_c, MPI_Igatherv, MPI_Igatherv_c, MPI_Gatherv_init, MPI_Gatherv_init_c
MPI_FORMS_(MPI_GATHERV_ROW_, MPI_ONE_MANY_, int root, MPI_Comm comm)
#define MPI_SCATTER_ROW_ MPI_Scatter, MPI_Scatter_c, MPI_Iscatter, MPI_Iscatter_c, MPI_Scatter_init, MPI_Scatter_init_c
MPI_FORMS_(MPI_SCATTER_ROW_, MPI_ONE_ONE_, int root, MPI_Comm comm)
#define MPI_SCATTERV_ROW_                                                                                              \
    MPI_Scatterv, MPI_Scatterv_c, MPI_Iscatterv, MPI_Iscatterv_c, MPI_Scatterv_init, MPI_Scatterv_init_c
MPI_FORMS_(MPI_SCATTERV_ROW_, MPI_MANY_ONE_, int root, MPI_Comm comm)
#define MPI_ALLGATHER_ROW_                                                                                             \
    MPI_Allgather, MPI_Allgather_c, MPI_Iallgather, MPI_Iallgather_c, MPI_Allgather_init, MPI_Allgather_init_c
MPI_FORMS_(MPI_ALLGATHER_ROW_, MPI_ONE_ONE_, MPI_Comm comm)
#define MPI_ALLGATHERV_ROW_                                                                                            \
    MPI_Allgatherv, MPI_Allgatherv_c, MPI_Iallgatherv, MPI_Iallgatherv_c, MPI_Allgatherv_init, MPI_Allgatherv_init_c
MPI_FORMS_(MPI_ALLGATHERV_ROW_, MPI_ONE_MANY_, MPI_Comm comm)
#define MPI_ALLTOALL_ROW_                                                                                              \
    MPI_Alltoall, MPI_Alltoall_c, MPI_Ialltoall, MPI_Ialltoall_c, MPI_Alltoall_init, MPI_Alltoall_init_c
MPI_FORMS_(MPI_ALLTOALL_ROW_, MPI_ONE_ONE_, MPI_Comm comm)
#define MPI_ALLTOALLV_ROW_                                                                                             \
    MPI_Alltoallv, MPI_Alltoallv_c, MPI_Ialltoallv, MPI_Ialltoallv_c, MPI_Alltoallv_init, MPI_Alltoallv_init_c
MPI_FORMS_(MPI_ALLTOALLV_ROW_, MPI_MANY_MANY_, MPI_Comm comm)
#define MPI_ALLTOALLW_ROW_                                                                                             \
    MPI_Alltoallw, MPI_Alltoallw_c, MPI_Ialltoallw, MPI_Ialltoallw_c, MPI_Alltoallw_init, MPI_Alltoallw_init_c
MPI_FORMS_(MPI_ALLTOALLW_ROW_, MPI_TYPED_, MPI_Comm comm)
#define MPI_REDUCE_ROW_ MPI_Reduce, MPI_Reduce_c, MPI_Ireduce, MPI_Ireduce_c, MPI_Reduce_init, MPI_Reduce_init_c
MPI_FORMS_(MPI_REDUCE_ROW_, MPI_REDUCED_, int root, MPI_Comm comm)
#define MPI_ALLREDUCE_ROW_                                                                                             \
    MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce, MPI_Iallreduce_c, MPI_Allreduce_init, MPI_Allreduce_init_c
MPI_FORMS_(MPI_ALLREDUCE_ROW_, MPI_REDUCED_, MPI_Comm comm)
#define MPI_REDUCE_SCATTER_BLOCK_ROW_                                                                                  \
    MPI_Reduce_scatter_block, MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block_c,      \
    MPI_Reduce_scatter_block_init, MPI_Reduce_scatter_block_init_c
MPI_FORMS_(MPI_REDUCE_SCATTER_BLOCK_ROW_, MPI_REDUCED_, MPI_Comm comm)
#define MPI_REDUCE_SCATTER_ROW_                                                                                        \
    MPI_Reduce_scatter, MPI_Reduce_scatter_c, MPI_Ireduce_scatter, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init,     \
    MPI_Reduce_scatter_init_c
MPI_FORMS_(MPI_REDUCE_SCATTER_ROW_, MPI_SHARED_OUT_, MPI_Comm comm)
#define MPI_SCAN_ROW_ MPI_Scan, MPI_Scan_c, MPI_Iscan, MPI_Iscan_c, MPI_Scan_init, MPI_Scan_init_c
MPI_FORMS_(MPI_SCAN_ROW_, MPI_REDUCED_, MPI_Comm comm)
#define MPI_EXSCAN_ROW_ MPI_Exscan, MPI_Exscan_c, MPI_Iexscan, MPI_Iexscan_c, MPI_Exscan_init, MPI_Exscan_init_c
MPI_FORMS_(MPI_EXSCAN_ROW_, MPI_REDUCED_, MPI_Comm comm)

/* ---- Groups ---- */
MPI_BOTH_(int, MPI_Group_compare, (MPI_Group group1, MPI_Group group2, int *result))
MPI_BOTH_(int, MPI_Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_free, (MPI_Group *group))
MPI_BOTH_(int, MPI_Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Group_rank, (MPI_Group group, int *rank))
MPI_BOTH_(int, MPI_Group_size, (MPI_Group group, int *size))
MPI_BOTH_(int, MPI_Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]))
MPI_BOTH_(int, MPI_Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))

/* ---- Communicators ---- */
MPI_BOTH_(int, MPI_Comm_size, (MPI_Comm comm, int *size))
MPI_BOTH_(int, MPI_Comm_rank, (MPI_Comm comm, int *rank))
MPI_BOTH_(int, MPI_Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
MPI_BOTH_(int, MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_free, (MPI_Comm *comm))
MPI_BOTH_(int, MPI_Comm_get_info, (MPI_Comm comm, MPI_Info *info_used))
MPI_BOTH_(int, MPI_Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen))
MPI_BOTH_(int, MPI_Comm_group, (MPI_Comm comm, MPI_Group *group))
MPI_BOTH_(int, MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
MPI_BOTH_(int, MPI_Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
MPI_BOTH_(int, MPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
MPI_BOTH_(int, MPI_Comm_remote_size, (MPI_Comm comm, int *size))
MPI_BOTH_(int, MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info))
MPI_BOTH_(int, MPI_Comm_set_name, (MPI_Comm comm, const char *comm_name))
MPI_BOTH_(int, MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_test_inter, (MPI_Comm comm, int *flag))
MPI_BOTH_(int, MPI_Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
    int tag, MPI_Comm *newintercomm))
MPI_BOTH_(int, MPI_Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm))
MPI_BOTH_(int, MPI_Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm))

/* ---- Cached attributes ---- */
#define MPI_CACHED_(type, copies, deletes, create, release, set, get, remove)                                          \
    MPI_BOTH_(int, create, (copies *copy_attr_fn, deletes *delete_attr_fn, int *keyval, void *extra_state))            \
    MPI_BOTH_(int, release, (int *keyval))                                                                             \
    MPI_BOTH_(int, set, (type object, int keyval, void *attribute_val))                                                \
    MPI_BOTH_(int, get, (type object, int keyval, void *attribute_val, int *flag))                                     \
    MPI_BOTH_(int, remove, (type object, int keyval))
MPI_CACHED_(MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Comm_create_keyval,
    MPI_Comm_free_keyval, MPI_Comm_set_attr, MPI_Comm_get_attr, MPI_Comm_delete_attr)
MPI_CACHED_(MPI_Comm, MPI_Copy_function, MPI_Delete_function, MPI_Keyval_create, MPI_Keyval_free, MPI_Attr_put,
    MPI_Attr_get, MPI_Attr_delete) /* deprecated: the same by their names of MPI-1 */
MPI_CACHED_(MPI_Datatype, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Type_create_keyval,
    MPI_Type_free_keyval, MPI_Type_set_attr, MPI_Type_get_attr, MPI_Type_delete_attr)
MPI_CACHED_(MPI_Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function, MPI_Win_create_keyval,
    MPI_Win_free_keyval, MPI_Win_set_attr, MPI_Win_get_attr, MPI_Win_delete_attr)

/* ---- Process topologies ---- */
/* Cartesian */
MPI_BOTH_(int, MPI_Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
MPI_BOTH_(int, MPI_Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
    MPI_Comm *comm_cart))
MPI_BOTH_(int, MPI_Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
MPI_BOTH_(int, MPI_Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
MPI_BOTH_(int, MPI_Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
MPI_BOTH_(int, MPI_Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
MPI_BOTH_(int, MPI_Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Cartdim_get, (MPI_Comm comm, int *ndims))
MPI_BOTH_(int, MPI_Dims_create, (int nnodes, int ndims, int dims[]))

/* Graphs */
MPI_BOTH_(int, MPI_Dist_graph_create, (MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int *weights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
MPI_BOTH_(int, MPI_Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[],
    const int *sourceweights, int outdegree, const int destinations[], const int *destweights, MPI_Info info,
    int reorder, MPI_Comm *comm_dist_graph))
MPI_BOTH_(int, MPI_Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int *sourceweights,
    int maxoutdegree, int destinations[], int *destweights))
MPI_BOTH_(int, MPI_Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
MPI_BOTH_(int, MPI_Get_hw_resource_info, (MPI_Info *hw_info))
MPI_BOTH_(int, MPI_Graph_create, (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
    MPI_Comm *comm_graph))
MPI_BOTH_(int, MPI_Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]))
MPI_BOTH_(int, MPI_Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank))
MPI_BOTH_(int, MPI_Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
MPI_BOTH_(int, MPI_Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors))
MPI_BOTH_(int, MPI_Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges))
MPI_BOTH_(int, MPI_Topo_test, (MPI_Comm comm, int *status))

/* ---- Neighborhood collectives ---- */
#define MPI_NEIGHBOR_ALLGATHER_ROW_                                                                                    \
    MPI_Neighbor_allgather, MPI_Neighbor_allgather_c, MPI_Ineighbor_allgather, MPI_Ineighbor_allgather_c,              \
    MPI_Neighbor_allgather_init, MPI_Neighbor_allgather_init_c
MPI_FORMS_(MPI_NEIGHBOR_ALLGATHER_ROW_, MPI_ONE_ONE_, MPI_Comm comm)
#define MPI_NEIGHBOR_ALLGATHERV_ROW_                                                                                   \
    MPI_Neighbor_allgatherv, MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv, MPI_Ineighbor_allgatherv_c,          \
    MPI_Neighbor_allgatherv_init, MPI_Neighbor_allgatherv_init_c
MPI_FORMS_(MPI_NEIGHBOR_ALLGATHERV_ROW_, MPI_ONE_MANY_, MPI_Comm comm)
#define MPI_NEIGHBOR_ALLTOALL_ROW_                                                                                     \
    MPI_Neighbor_alltoall, MPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoall_c,                  \
    MPI_Neighbor_alltoall_init, MPI_Neighbor_alltoall_init_c
MPI_FORMS_(MPI_NEIGHBOR_ALLTOALL_ROW_, MPI_ONE_ONE_, MPI_Comm comm)
#define MPI_NEIGHBOR_ALLTOALLV_ROW_                                                                                    \
    MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallv_c,              \
    MPI_Neighbor_alltoallv_init, MPI_Neighbor_alltoallv_init_c
MPI_FORMS_(MPI_NEIGHBOR_ALLTOALLV_ROW_, MPI_MANY_MANY_, MPI_Comm comm)
#define MPI_NEIGHBOR_ALLTOALLW_ROW_                                                                                    \
    MPI_Neighbor_alltoallw, MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoallw_c,              \
    MPI_Neighbor_alltoallw_init, MPI_Neighbor_alltoallw_init_c
MPI_FORMS_(MPI_NEIGHBOR_ALLTOALLW_ROW_, MPI_TYPED_FAR_, MPI_Comm comm)

/* ---- Error handling ---- */
MPI_BOTH_(int, MPI_Add_error_class, (int *errorclass))
MPI_BOTH_(int, MPI_Add_error_code, (int errorclass, int *errorcode))
MPI_BOTH_(int, MPI_Add_error_string, (int errorcode, const char *string))
MPI_BOTH_(int, MPI_Errhandler_free, (MPI_Errhandler *errhandler))
#define MPI_HANDLED_(type, function, create, set, get, call)                                                           \
    MPI_BOTH_(int, create, (function *errhandler_fn, MPI_Errhandler *errhandler))                                      \
    MPI_BOTH_(int, set, (type object, MPI_Errhandler errhandler))                                                      \
    MPI_BOTH_(int, get, (type object, MPI_Errhandler *errhandler))                                                     \
    MPI_BOTH_(int, call, (type object, int errorcode))
MPI_HANDLED_(MPI_Comm, MPI_Comm_errhandler_function, MPI_Comm_create_errhandler, MPI_Comm_set_errhandler,
    MPI_Comm_get_errhandler, MPI_Comm_call_errhandler)
MPI_HANDLED_(MPI_File, MPI_File_errhandler_function, MPI_File_create_errhandler, MPI_File_set_errhandler,
    MPI_File_get_errhandler, MPI_File_call_errhandler)
MPI_HANDLED_(MPI_Session, MPI_Session_errhandler_function, MPI_Session_create_errhandler, MPI_Session_set_errhandler,
    MPI_Session_get_errhandler, MPI_Session_call_errhandler)
MPI_HANDLED_(MPI_Win, MPI_Win_errhandler_function, MPI_Win_create_errhandler, MPI_Win_set_errhandler,
    MPI_Win_get_errhandler, MPI_Win_call_errhandler)
MPI_BOTH_(int, MPI_Error_class, (int errorcode, int *errorclass))
MPI_BOTH_(int, MPI_Error_string, (int errorcode, char *string, int *resultlen))
MPI_BOTH_(int, MPI_Remove_error_class, (int errorclass))
MPI_BOTH_(int, MPI_Remove_error_code, (int errorcode))
MPI_BOTH_(int, MPI_Remove_error_string, (int errorcode))

/* ---- Environment ---- */
MPI_BOTH_(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp))
MPI_BOTH_(MPI_Aint, MPI_Aint_diff, (MPI_Aint addr1, MPI_Aint addr2))
MPI_BOTH_(int, MPI_Get_library_version, (char *version, int *resultlen))
MPI_BOTH_(int, MPI_Get_processor_name, (char *name, int *resultlen))
MPI_BOTH_(int, MPI_Get_version, (int *version, int *subversion))
MPI_BOTH_(double, MPI_Wtick, (void))
MPI_BOTH_(double, MPI_Wtime, (void))

/* ---- Info ---- */
MPI_BOTH_(int, MPI_Info_create, (MPI_Info *info))
MPI_BOTH_(int, MPI_Info_create_env, (int argc, char *argv[], MPI_Info *info))
MPI_BOTH_(int, MPI_Info_delete, (MPI_Info info, const char *key))
MPI_BOTH_(int, MPI_Info_dup, (MPI_Info info, MPI_Info *newinfo))
MPI_BOTH_(int, MPI_Info_free, (MPI_Info *info))
MPI_BOTH_(int, MPI_Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag))
MPI_BOTH_(int, MPI_Info_get_nkeys, (MPI_Info info, int *nkeys))
MPI_BOTH_(int, MPI_Info_get_nthkey, (MPI_Info info, int n, char *key))
MPI_BOTH_(int, MPI_Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag))
MPI_BOTH_(int, MPI_Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag))
MPI_BOTH_(int, MPI_Info_set, (MPI_Info info, const char *key, const char *value))

/* ---- Start, end and sessions ---- */
MPI_BOTH_(int, MPI_Init, (int *argc, char ***argv))
MPI_BOTH_(int, MPI_Init_thread, (int *argc, char ***argv, int required, int *provided))
MPI_BOTH_(int, MPI_Query_thread, (int *provided))
MPI_BOTH_(int, MPI_Is_thread_main, (int *flag))
MPI_BOTH_(int, MPI_Initialized, (int *flag))
MPI_BOTH_(int, MPI_Finalize, (void))
MPI_BOTH_(int, MPI_Finalized, (int *flag))
MPI_BOTH_(int, MPI_Abort, (MPI_Comm comm, int errorcode))
MPI_BOTH_(int, MPI_Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
MPI_BOTH_(int, MPI_Session_finalize, (MPI_Session *session))
MPI_BOTH_(int, MPI_Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup))
MPI_BOTH_(int, MPI_Session_get_info, (MPI_Session session, MPI_Info *info_used))
MPI_BOTH_(int, MPI_Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name))
MPI_BOTH_(int, MPI_Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names))
MPI_BOTH_(int, MPI_Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info))

/* ---- Dynamic processes ---- */
MPI_BOTH_(int, MPI_Close_port, (const char *port_name))
MPI_BOTH_(int, MPI_Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))
MPI_BOTH_(int, MPI_Comm_disconnect, (MPI_Comm *comm))
MPI_BOTH_(int, MPI_Comm_get_parent, (MPI_Comm *parent))
MPI_BOTH_(int, MPI_Comm_join, (int fd, MPI_Comm *intercomm))
MPI_BOTH_(int, MPI_Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]))
MPI_BOTH_(int, MPI_Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
    int array_of_errcodes[]))
MPI_BOTH_(int, MPI_Lookup_name, (const char *service_name, MPI_Info info, char *port_name))
MPI_BOTH_(int, MPI_Open_port, (MPI_Info info, char *port_name))
MPI_BOTH_(int, MPI_Publish_name, (const char *service_name, MPI_Info info, const char *port_name))
MPI_BOTH_(int, MPI_Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name))

/* ---- One-sided communication ---- */
/* Memory and windows */
MPI_BOTH_(int, MPI_Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr))
MPI_BOTH_(int, MPI_Free_mem, (void *base))
#define MPI_SIZED_(N, A) MPI_Aint size, A disp_unit
MPI_TWINS_(MPI_Win_allocate, MPI_Win_allocate_c, MPI_SIZED_, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
MPI_TWINS_(MPI_Win_allocate_shared, MPI_Win_allocate_shared_c, MPI_SIZED_, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win)
MPI_BOTH_(int, MPI_Win_attach, (MPI_Win win, void *base, MPI_Aint size))
#define MPI_WINDOW_(N, A) void *base, MPI_SIZED_(N, A)
MPI_TWINS_(MPI_Win_create, MPI_Win_create_c, MPI_WINDOW_, MPI_Info info, MPI_Comm comm, MPI_Win *win)
MPI_BOTH_(int, MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win))
MPI_BOTH_(int, MPI_Win_detach, (MPI_Win win, const void *base))
MPI_BOTH_(int, MPI_Win_free, (MPI_Win *win))
MPI_BOTH_(int, MPI_Win_get_group, (MPI_Win win, MPI_Group *group))
MPI_BOTH_(int, MPI_Win_get_info, (MPI_Win win, MPI_Info *info_used))
MPI_BOTH_(int, MPI_Win_get_name, (MPI_Win win, char *win_name, int *resultlen))
MPI_BOTH_(int, MPI_Win_set_info, (MPI_Win win, MPI_Info info))
MPI_BOTH_(int, MPI_Win_set_name, (MPI_Win win, const char *win_name))
MPI_BOTH_(int, MPI_Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr))
MPI_BOTH_(int, MPI_Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr))

/* Synchronization */
MPI_BOTH_(int, MPI_Win_complete, (MPI_Win win))
MPI_BOTH_(int, MPI_Win_fence, (int assert, MPI_Win win))
MPI_BOTH_(int, MPI_Win_flush, (int rank, MPI_Win win))
MPI_BOTH_(int, MPI_Win_flush_all, (MPI_Win win))
MPI_BOTH_(int, MPI_Win_flush_local, (int rank, MPI_Win win))
MPI_BOTH_(int, MPI_Win_flush_local_all, (MPI_Win win))
MPI_BOTH_(int, MPI_Win_lock, (int lock_type, int rank, int assert, MPI_Win win))
MPI_BOTH_(int, MPI_Win_lock_all, (int assert, MPI_Win win))
MPI_BOTH_(int, MPI_Win_post, (MPI_Group group, int assert, MPI_Win win))
MPI_BOTH_(int, MPI_Win_start, (MPI_Group group, int assert, MPI_Win win))
MPI_BOTH_(int, MPI_Win_sync, (MPI_Win win))
MPI_BOTH_(int, MPI_Win_test, (MPI_Win win, int *flag))
MPI_BOTH_(int, MPI_Win_unlock, (int rank, MPI_Win win))
MPI_BOTH_(int, MPI_Win_unlock_all, (MPI_Win win))
MPI_BOTH_(int, MPI_Win_wait, (MPI_Win win))

/* Transfers */
MPI_TWINS_(MPI_Accumulate, MPI_Accumulate_c, MPI_PUT_ROW_, MPI_Op op, MPI_Win win)
MPI_BOTH_(int, MPI_Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win))
MPI_BOTH_(int, MPI_Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
    MPI_Aint target_disp, MPI_Op op, MPI_Win win))
MPI_TWINS_(MPI_Get, MPI_Get_c, MPI_GOT_, MPI_Win win)
MPI_TWINS_(MPI_Get_accumulate, MPI_Get_accumulate_c, MPI_FETCHED_, MPI_Op op, MPI_Win win)
MPI_TWINS_(MPI_Put, MPI_Put_c, MPI_PUT_ROW_, MPI_Win win)
MPI_TWINS_(MPI_Raccumulate, MPI_Raccumulate_c, MPI_PUT_ROW_, MPI_Op op, MPI_Win win, MPI_Request *request)
MPI_TWINS_(MPI_Rget, MPI_Rget_c, MPI_GOT_, MPI_Win win, MPI_Request *request)
MPI_TWINS_(MPI_Rget_accumulate, MPI_Rget_accumulate_c, MPI_FETCHED_, MPI_Op op, MPI_Win win, MPI_Request *request)
MPI_TWINS_(MPI_Rput, MPI_Rput_c, MPI_PUT_ROW_, MPI_Win win, MPI_Request *request)

/* ---- Generalized requests ---- */
MPI_BOTH_(int, MPI_Grequest_complete, (MPI_Request request))
MPI_BOTH_(int, MPI_Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
    MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
#define MPI_ELEMENTS_(N, A) MPI_Status *status, MPI_Datatype datatype, N count
MPI_WIDENED_(MPI_Status_set_elements, MPI_Status_set_elements_c, int, MPI_ELEMENTS_)
MPI_BOTH_(int, MPI_Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))

/* ---- Files ---- */
/* Management */
MPI_BOTH_(int, MPI_File_close, (MPI_File *fh))
MPI_BOTH_(int, MPI_File_delete, (const char *filename, MPI_Info info))
MPI_BOTH_(int, MPI_File_get_amode, (MPI_File fh, int *amode))
MPI_BOTH_(int, MPI_File_get_atomicity, (MPI_File fh, int *flag))
MPI_BOTH_(int, MPI_File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp))
MPI_BOTH_(int, MPI_File_get_group, (MPI_File fh, MPI_Group *group))
MPI_BOTH_(int, MPI_File_get_info, (MPI_File fh, MPI_Info *info_used))
MPI_BOTH_(int, MPI_File_get_position, (MPI_File fh, MPI_Offset *offset))
MPI_BOTH_(int, MPI_File_get_position_shared, (MPI_File fh, MPI_Offset *offset))
MPI_BOTH_(int, MPI_File_get_size, (MPI_File fh, MPI_Offset *size))
MPI_BOTH_(int, MPI_File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent))
MPI_BOTH_(int, MPI_File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent))
MPI_BOTH_(int, MPI_File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
    char *datarep))
MPI_BOTH_(int, MPI_File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
MPI_BOTH_(int, MPI_File_preallocate, (MPI_File fh, MPI_Offset size))
MPI_BOTH_(int, MPI_File_seek, (MPI_File fh, MPI_Offset offset, int whence))
MPI_BOTH_(int, MPI_File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence))
MPI_BOTH_(int, MPI_File_set_atomicity, (MPI_File fh, int flag))
MPI_BOTH_(int, MPI_File_set_info, (MPI_File fh, MPI_Info info))
MPI_BOTH_(int, MPI_File_set_size, (MPI_File fh, MPI_Offset size))
MPI_BOTH_(int, MPI_File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
    const char *datarep, MPI_Info info))
MPI_BOTH_(int, MPI_File_sync, (MPI_File fh))
MPI_BOTH_(int, MPI_Register_datarep, (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
    MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state))
MPI_BOTH_(int, MPI_Register_datarep_c, (const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
    MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state))

/* Individual access */
MPI_TWINS_(MPI_File_iread, MPI_File_iread_c, MPI_READ_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iread_at, MPI_File_iread_at_c, MPI_READ_AT_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iwrite, MPI_File_iwrite_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iwrite_at, MPI_File_iwrite_at_c, MPI_WRITTEN_AT_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_read, MPI_File_read_c, MPI_READ_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_read_at, MPI_File_read_at_c, MPI_READ_AT_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write, MPI_File_write_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write_at, MPI_File_write_at_c, MPI_WRITTEN_AT_, MPI_Datatype datatype, MPI_Status *status)

/* Collective access */
MPI_TWINS_(MPI_File_iread_all, MPI_File_iread_all_c, MPI_READ_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iread_at_all, MPI_File_iread_at_all_c, MPI_READ_AT_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iwrite_all, MPI_File_iwrite_all_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iwrite_at_all, MPI_File_iwrite_at_all_c, MPI_WRITTEN_AT_, MPI_Datatype datatype,
    MPI_Request *request)
MPI_TWINS_(MPI_File_read_all, MPI_File_read_all_c, MPI_READ_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_read_all_begin, MPI_File_read_all_begin_c, MPI_READ_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status))
MPI_TWINS_(MPI_File_read_at_all, MPI_File_read_at_all_c, MPI_READ_AT_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_read_at_all_begin, MPI_File_read_at_all_begin_c, MPI_READ_AT_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status))
MPI_TWINS_(MPI_File_write_all, MPI_File_write_all_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write_all_begin, MPI_File_write_all_begin_c, MPI_WRITTEN_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status))
MPI_TWINS_(MPI_File_write_at_all, MPI_File_write_at_all_c, MPI_WRITTEN_AT_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write_at_all_begin, MPI_File_write_at_all_begin_c, MPI_WRITTEN_AT_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status))

/* Shared pointer */
MPI_TWINS_(MPI_File_iread_shared, MPI_File_iread_shared_c, MPI_READ_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_iwrite_shared, MPI_File_iwrite_shared_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Request *request)
MPI_TWINS_(MPI_File_read_ordered, MPI_File_read_ordered_c, MPI_READ_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_read_ordered_begin, MPI_File_read_ordered_begin_c, MPI_READ_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status))
MPI_TWINS_(MPI_File_read_shared, MPI_File_read_shared_c, MPI_READ_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write_ordered, MPI_File_write_ordered_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Status *status)
MPI_TWINS_(MPI_File_write_ordered_begin, MPI_File_write_ordered_begin_c, MPI_WRITTEN_, MPI_Datatype datatype)
MPI_BOTH_(int, MPI_File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status))
MPI_TWINS_(MPI_File_write_shared, MPI_File_write_shared_c, MPI_WRITTEN_, MPI_Datatype datatype, MPI_Status *status)

/* ---- Profiling ---- */
MPI_BOTH_(int, MPI_Pcontrol, (const int level, ...))

/* ---- Tool information ---- */
/* Start and enumerations */
MPI_BOTH_(int, MPI_T_enum_get_info, (MPI_T_enum enumtype, int *num, char *name, int *name_len))
MPI_BOTH_(int, MPI_T_enum_get_item, (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len))
MPI_BOTH_(int, MPI_T_finalize, (void))
MPI_BOTH_(int, MPI_T_init_thread, (int required, int *provided))

/* Control variables */
MPI_BOTH_(int, MPI_T_cvar_get_index, (const char *name, int *cvar_index))
MPI_BOTH_(int, MPI_T_cvar_get_info, (int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
    MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope))
MPI_BOTH_(int, MPI_T_cvar_get_num, (int *num_cvar))
MPI_BOTH_(int, MPI_T_cvar_handle_alloc, (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count))
MPI_BOTH_(int, MPI_T_cvar_handle_free, (MPI_T_cvar_handle *handle))
MPI_BOTH_(int, MPI_T_cvar_read, (MPI_T_cvar_handle handle, void *buf))
MPI_BOTH_(int, MPI_T_cvar_write, (MPI_T_cvar_handle handle, const void *buf))

/* Performance variables */
MPI_BOTH_(int, MPI_T_pvar_get_index, (const char *name, int var_class, int *pvar_index))
MPI_BOTH_(int, MPI_T_pvar_get_info, (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
    int *atomic))
MPI_BOTH_(int, MPI_T_pvar_get_num, (int *num_pvar))
MPI_BOTH_(int, MPI_T_pvar_handle_alloc, (MPI_T_pvar_session session, int pvar_index, void *obj_handle,
    MPI_T_pvar_handle *handle, int *count))
MPI_BOTH_(int, MPI_T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle *handle))
MPI_BOTH_(int, MPI_T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
MPI_BOTH_(int, MPI_T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf))
MPI_BOTH_(int, MPI_T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MPI_BOTH_(int, MPI_T_pvar_session_create, (MPI_T_pvar_session *session))
MPI_BOTH_(int, MPI_T_pvar_session_free, (MPI_T_pvar_session *session))
MPI_BOTH_(int, MPI_T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MPI_BOTH_(int, MPI_T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle))
MPI_BOTH_(int, MPI_T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf))

/* Events */
MPI_BOTH_(int, MPI_T_event_callback_get_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info *info_used))
MPI_BOTH_(int, MPI_T_event_callback_set_info, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info info))
MPI_BOTH_(int, MPI_T_event_copy, (MPI_T_event_instance event_instance, void *buffer))
MPI_BOTH_(int, MPI_T_event_get_index, (const char *name, int *event_index))
MPI_BOTH_(int, MPI_T_event_get_info, (int event_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype,
    MPI_Info *info, char *desc, int *desc_len, int *bind))
MPI_BOTH_(int, MPI_T_event_get_num, (int *num_events))
MPI_BOTH_(int, MPI_T_event_get_source, (MPI_T_event_instance event_instance, int *source_index))
MPI_BOTH_(int, MPI_T_event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp))
MPI_BOTH_(int, MPI_T_event_handle_alloc, (int event_index, void *obj_handle, MPI_Info info,
    MPI_T_event_registration *event_registration))
MPI_BOTH_(int, MPI_T_event_handle_free, (MPI_T_event_registration event_registration, void *user_data,
    MPI_T_event_free_cb_function free_cb_function))
MPI_BOTH_(int, MPI_T_event_handle_get_info, (MPI_T_event_registration event_registration, MPI_Info *info_used))
MPI_BOTH_(int, MPI_T_event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info))
MPI_BOTH_(int, MPI_T_event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer))
MPI_BOTH_(int, MPI_T_event_register_callback, (MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function))
MPI_BOTH_(int, MPI_T_event_set_dropped_handler, (MPI_T_event_registration event_registration,
    MPI_T_event_dropped_cb_function dropped_cb_function))
MPI_BOTH_(int, MPI_T_source_get_info, (int source_index, char *name, int *name_len, char *desc, int *desc_len,
    MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info))
MPI_BOTH_(int, MPI_T_source_get_num, (int *num_sources))
MPI_BOTH_(int, MPI_T_source_get_timestamp, (int source_index, MPI_Count *timestamp))

/* Categories */
MPI_BOTH_(int, MPI_T_category_changed, (int *update_number))
MPI_BOTH_(int, MPI_T_category_get_categories, (int cat_index, int len, int indices[]))
MPI_BOTH_(int, MPI_T_category_get_cvars, (int cat_index, int len, int indices[]))
MPI_BOTH_(int, MPI_T_category_get_events, (int cat_index, int len, int indices[]))
MPI_BOTH_(int, MPI_T_category_get_index, (const char *name, int *cat_index))
MPI_BOTH_(int, MPI_T_category_get_info, (int cat_index, char *name, int *name_len, char *desc, int *desc_len,
    int *num_cvars, int *num_pvars, int *num_categories))
MPI_BOTH_(int, MPI_T_category_get_num, (int *num_cat))
MPI_BOTH_(int, MPI_T_category_get_num_events, (int cat_index, int *num_events))
MPI_BOTH_(int, MPI_T_category_get_pvars, (int cat_index, int len, int indices[]))

/* ---- Fortran types ---- */
MPI_BOTH_(int, MPI_Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype))
MPI_BOTH_(int, MPI_Type_create_f90_integer, (int r, MPI_Datatype *newtype))
MPI_BOTH_(int, MPI_Type_create_f90_real, (int p, int r, MPI_Datatype *newtype))
MPI_BOTH_(int, MPI_Type_match_size, (int typeclass, int size, MPI_Datatype *datatype))

/* ---- The ABI itself ---- */
MPI_BOTH_(int, MPI_Abi_get_fortran_booleans, (int logical_size, void *logical_true, void *logical_false, int *is_set))
MPI_BOTH_(int, MPI_Abi_get_fortran_info, (MPI_Info *info))
MPI_BOTH_(int, MPI_Abi_get_info, (MPI_Info *info))
MPI_BOTH_(int, MPI_Abi_get_version, (int *abi_major, int *abi_minor))
MPI_BOTH_(int, MPI_Abi_set_fortran_booleans, (int logical_size, void *logical_true, void *logical_false))
MPI_BOTH_(int, MPI_Abi_set_fortran_info, (MPI_Info info))
#define MPI_NUMBERED_(type, to, from) MPI_BOTH_(int, to, (type handle)) MPI_BOTH_(type, from, (int number))
MPI_NUMBERED_(MPI_Comm, MPI_Comm_toint, MPI_Comm_fromint)
MPI_NUMBERED_(MPI_Errhandler, MPI_Errhandler_toint, MPI_Errhandler_fromint)
MPI_NUMBERED_(MPI_File, MPI_File_toint, MPI_File_fromint)
MPI_NUMBERED_(MPI_Group, MPI_Group_toint, MPI_Group_fromint)
MPI_NUMBERED_(MPI_Info, MPI_Info_toint, MPI_Info_fromint)
MPI_NUMBERED_(MPI_Message, MPI_Message_toint, MPI_Message_fromint)
MPI_NUMBERED_(MPI_Op, MPI_Op_toint, MPI_Op_fromint)
MPI_NUMBERED_(MPI_Request, MPI_Request_toint, MPI_Request_fromint)
MPI_NUMBERED_(MPI_Session, MPI_Session_toint, MPI_Session_fromint)
MPI_NUMBERED_(MPI_Datatype, MPI_Type_toint, MPI_Type_fromint)
MPI_NUMBERED_(MPI_Win, MPI_Win_toint, MPI_Win_fromint)

/* ==== Handles for Fortran ==== */

/* The default INTEGER of Fortran compilers. A status of Fortran is its eight integers. */
typedef int MPI_Fint;
#define MPI_Comm_f2c MPI_Comm_fromint
#define PMPI_Comm_f2c PMPI_Comm_fromint
#define MPI_Comm_c2f MPI_Comm_toint
#define PMPI_Comm_c2f PMPI_Comm_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define PMPI_Errhandler_f2c PMPI_Errhandler_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define PMPI_Errhandler_c2f PMPI_Errhandler_toint
#define MPI_File_f2c MPI_File_fromint
#define PMPI_File_f2c PMPI_File_fromint
#define MPI_File_c2f MPI_File_toint
#define PMPI_File_c2f PMPI_File_toint
#define MPI_Group_f2c MPI_Group_fromint
#define PMPI_Group_f2c PMPI_Group_fromint
#define MPI_Group_c2f MPI_Group_toint
#define PMPI_Group_c2f PMPI_Group_toint
#define MPI_Info_f2c MPI_Info_fromint
#define PMPI_Info_f2c PMPI_Info_fromint
#define MPI_Info_c2f MPI_Info_toint
#define PMPI_Info_c2f PMPI_Info_toint
#define MPI_Message_f2c MPI_Message_fromint
#define PMPI_Message_f2c PMPI_Message_fromint
#define MPI_Message_c2f MPI_Message_toint
#define PMPI_Message_c2f PMPI_Message_toint
#define MPI_Op_f2c MPI_Op_fromint
#define PMPI_Op_f2c PMPI_Op_fromint
#define MPI_Op_c2f MPI_Op_toint
#define PMPI_Op_c2f PMPI_Op_toint
#define MPI_Request_f2c MPI_Request_fromint
#define PMPI_Request_f2c PMPI_Request_fromint
#define MPI_Request_c2f MPI_Request_toint
#define PMPI_Request_c2f PMPI_Request_toint
#define MPI_Session_f2c MPI_Session_fromint
#define PMPI_Session_f2c PMPI_Session_fromint
#define MPI_Session_c2f MPI_Session_toint
#define PMPI_Session_c2f PMPI_Session_toint
#define MPI_Type_f2c MPI_Type_fromint
#define PMPI_Type_f2c PMPI_Type_fromint
#define MPI_Type_c2f MPI_Type_toint
#define PMPI_Type_c2f PMPI_Type_toint
#define MPI_Win_f2c MPI_Win_fromint
#define PMPI_Win_f2c PMPI_Win_fromint
#define MPI_Win_c2f MPI_Win_toint
#define PMPI_Win_c2f PMPI_Win_toint

static __inline int MPI_Status_f2c(const MPI_Fint *f, MPI_Status *c)
{
    __builtin_memcpy(c, f, sizeof *c);
    return MPI_SUCCESS;
}

static __inline int MPI_Status_c2f(const MPI_Status *c, MPI_Fint *f)
{
    __builtin_memcpy(f, c, sizeof *c);
    return MPI_SUCCESS;
}
#define PMPI_Status_f2c MPI_Status_f2c
#define PMPI_Status_c2f MPI_Status_c2f

typedef MPI_Status MPI_F08_status;

static __inline int MPI_Status_c2f08(const MPI_Status *c, MPI_F08_status *f08)
{
    *f08 = *c;
    return MPI_SUCCESS;
}
#define MPI_Status_f082c MPI_Status_c2f08
#define MPI_Status_f2f08 MPI_Status_f2c
#define MPI_Status_f082f MPI_Status_c2f
#define PMPI_Status_c2f08 MPI_Status_c2f08
#define PMPI_Status_f082c MPI_Status_c2f08
#define PMPI_Status_f2f08 MPI_Status_f2c
#define PMPI_Status_f082f MPI_Status_c2f

#ifdef __cplusplus
}
#endif

#endif
