/* The types and numbers of Open MPI's ABI, in the place of those of the standard's: included by mpi.h where src/mpi is
 * compiled as libmpi.so.40 (CMakeLists.txt). What Open MPI 4 lacks has the numbers of Open MPI 5, or those that neither
 * uses: programs built for them never use these. Numbers are checked against its own header by tests/abi/openmpi.sh,
 * where that is installed. */
#pragma once

#include <stdint.h>

#define MPI_ADDRESS_HANDLES 1

/* What a program is told, in the place of the standard's */
#undef MPI_VERSION
#undef MPI_SUBVERSION
#define MPI_VERSION    3
#define MPI_SUBVERSION 1

/* ==== Types ==== */

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

/* 24 bytes. The fields in capitals are the user's. */
typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    uint64_t bytes;
} MPI_Status;

/* Predefined handles are the addresses of objects that the library exports; a program may have taken them over into its
 * own memory (a copy relocation), so they are known only once it has been loaded: objects.c. */
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

#define MPI_OBJECT(kind, number, bytes, name) extern __attribute__((visibility("default"))) char name[];
#include "mpi/openmpi/objects.def"
#undef MPI_OBJECT

/* ==== Constants ==== */

/* Wildcards and absent values; MPI_ANY_TAG and MPI_PROC_NULL are the same number */
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG    (-1)
#define MPI_PROC_NULL  (-2)
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
#define MPI_UNWEIGHTED      ((int *)2)
#define MPI_WEIGHTS_EMPTY   ((int *)3)

/* Sizes of strings */
#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_ERROR_STRING           256
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#define MPI_MAX_OBJECT_NAME            64
#define MPI_MAX_PORT_NAME              1024
#define MPI_MAX_INFO_KEY               36
#define MPI_MAX_INFO_VAL               256
#define MPI_MAX_STRINGTAG_LEN          1024
#define MPI_MAX_PSET_NAME_LEN          512
#define MPI_MAX_DATAREP_STRING         128

/* Bytes that a buffered message needs besides its data */
#define MPI_BSEND_OVERHEAD 128

/* Thread support, growing */
#define MPI_THREAD_SINGLE     0
#define MPI_THREAD_FUNNELED   1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE   3

/* Results of comparing */
#define MPI_IDENT     0
#define MPI_CONGRUENT 1
#define MPI_SIMILAR   2
#define MPI_UNEQUAL   3

/* Topologies */
#define MPI_CART       1
#define MPI_GRAPH      2
#define MPI_DIST_GRAPH 3

/* Ways to split a communicator */
#define MPI_COMM_TYPE_SHARED          0
#define MPI_COMM_TYPE_HW_UNGUIDED     12
#define MPI_COMM_TYPE_HW_GUIDED       13
#define MPI_COMM_TYPE_RESOURCE_GUIDED 14

/* Array order and distribution */
#define MPI_ORDER_C              0
#define MPI_ORDER_FORTRAN        1
#define MPI_DISTRIBUTE_NONE      2
#define MPI_DISTRIBUTE_BLOCK     0
#define MPI_DISTRIBUTE_CYCLIC    1
#define MPI_DISTRIBUTE_DFLT_DARG (-1)

/* How a datatype was made */
#define MPI_COMBINER_NAMED          0
#define MPI_COMBINER_DUP            1
#define MPI_COMBINER_CONTIGUOUS     2
#define MPI_COMBINER_VECTOR         3
#define MPI_COMBINER_HVECTOR        5
#define MPI_COMBINER_INDEXED        6
#define MPI_COMBINER_HINDEXED       8
#define MPI_COMBINER_INDEXED_BLOCK  9
#define MPI_COMBINER_HINDEXED_BLOCK 18
#define MPI_COMBINER_STRUCT         11
#define MPI_COMBINER_SUBARRAY       12
#define MPI_COMBINER_DARRAY         13
#define MPI_COMBINER_F90_REAL       14
#define MPI_COMBINER_F90_COMPLEX    15
#define MPI_COMBINER_F90_INTEGER    16
#define MPI_COMBINER_RESIZED        17
#define MPI_COMBINER_VALUE_INDEX    19

/* Classes of types by size */
#define MPI_TYPECLASS_INTEGER 1
#define MPI_TYPECLASS_REAL    2
#define MPI_TYPECLASS_COMPLEX 3

/* Windows: locks, flavors, memory models */
#define MPI_LOCK_EXCLUSIVE      1
#define MPI_LOCK_SHARED         2
#define MPI_WIN_FLAVOR_CREATE   1
#define MPI_WIN_FLAVOR_ALLOCATE 2
#define MPI_WIN_FLAVOR_DYNAMIC  3
#define MPI_WIN_FLAVOR_SHARED   4
#define MPI_WIN_UNIFIED         0
#define MPI_WIN_SEPARATE        1

/* Windows: assertions, one bit each */
#define MPI_MODE_NOCHECK   1
#define MPI_MODE_NOPRECEDE 2
#define MPI_MODE_NOPUT     4
#define MPI_MODE_NOSTORE   8
#define MPI_MODE_NOSUCCEED 16

/* Files: how to open, one bit each */
#define MPI_MODE_APPEND          128
#define MPI_MODE_CREATE          1
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_EXCL            64
#define MPI_MODE_RDONLY          2
#define MPI_MODE_RDWR            8
#define MPI_MODE_SEQUENTIAL      256
#define MPI_MODE_UNIQUE_OPEN     32
#define MPI_MODE_WRONLY          4

/* Files: positions */
#define MPI_SEEK_CUR             602
#define MPI_SEEK_END             604
#define MPI_SEEK_SET             600
#define MPI_DISPLACEMENT_CURRENT (-54278278)

/* Attribute keys of communicators (HOST is deprecated) */
#define MPI_KEYVAL_INVALID  (-1)
#define MPI_TAG_UB          0
#define MPI_IO              2
#define MPI_HOST            1
#define MPI_WTIME_IS_GLOBAL 3
#define MPI_APPNUM          4
#define MPI_LASTUSEDCODE    5
#define MPI_UNIVERSE_SIZE   6

/* Attribute keys of windows */
#define MPI_WIN_BASE          7
#define MPI_WIN_DISP_UNIT     9
#define MPI_WIN_SIZE          8
#define MPI_WIN_CREATE_FLAVOR 10
#define MPI_WIN_MODEL         11

/* A status as seen by Fortran */
#define MPI_F_STATUS_SIZE 6
#define MPI_F_SOURCE      1
#define MPI_F_TAG         2
#define MPI_F_ERROR       3

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
#define MPI_ERR_PENDING                   19
#define MPI_ERR_IN_STATUS                 18
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
#define MPI_ERR_RMA_ATTACH                69
#define MPI_ERR_RMA_CONFLICT              46
#define MPI_ERR_RMA_RANGE                 68
#define MPI_ERR_RMA_SHARED                71
#define MPI_ERR_RMA_SYNC                  47
#define MPI_ERR_SERVICE                   48
#define MPI_ERR_SIZE                      49
#define MPI_ERR_SPAWN                     50
#define MPI_ERR_UNSUPPORTED_DATAREP       51
#define MPI_ERR_UNSUPPORTED_OPERATION     52
#define MPI_ERR_WIN                       53
#define MPI_ERR_RMA_FLAVOR                70
#define MPI_ERR_PROC_ABORTED              74
#define MPI_ERR_VALUE_TOO_LARGE           79
#define MPI_ERR_SESSION                   78
#define MPI_ERR_ERRHANDLER                80
#define MPI_ERR_ABI                       83
#define MPI_ERR_LASTCODE                  92

/* Error classes of the tool interface */
enum {
    MPI_T_ERR_CANNOT_INIT = 56, MPI_T_ERR_NOT_ACCESSIBLE = 81, MPI_T_ERR_NOT_INITIALIZED = 55,
    MPI_T_ERR_NOT_SUPPORTED = 82, MPI_T_ERR_MEMORY = 54, MPI_T_ERR_INVALID = 72, MPI_T_ERR_INVALID_INDEX = 57,
    MPI_T_ERR_INVALID_ITEM = 58, MPI_T_ERR_INVALID_SESSION = 62, MPI_T_ERR_INVALID_HANDLE = 59,
    MPI_T_ERR_INVALID_NAME = 73, MPI_T_ERR_OUT_OF_HANDLES = 60, MPI_T_ERR_OUT_OF_SESSIONS = 61,
    MPI_T_ERR_CVAR_SET_NOT_NOW = 63, MPI_T_ERR_CVAR_SET_NEVER = 64, MPI_T_ERR_PVAR_NO_WRITE = 66,
    MPI_T_ERR_PVAR_NO_STARTSTOP = 65, MPI_T_ERR_PVAR_NO_ATOMIC = 67
};

/* ==== Predefined handles ==== */

#define MPI_HANDLE(type, object) ((type)(void *)object)

/* Communicators */
#define MPI_COMM_NULL  MPI_HANDLE(MPI_Comm, ompi_mpi_comm_null)
#define MPI_COMM_WORLD MPI_HANDLE(MPI_Comm, ompi_mpi_comm_world)
#define MPI_COMM_SELF  MPI_HANDLE(MPI_Comm, ompi_mpi_comm_self)

/* Groups */
#define MPI_GROUP_NULL  MPI_HANDLE(MPI_Group, ompi_mpi_group_null)
#define MPI_GROUP_EMPTY MPI_HANDLE(MPI_Group, ompi_mpi_group_empty)

/* Other null handles */
#define MPI_WIN_NULL     MPI_HANDLE(MPI_Win, ompi_mpi_win_null)
#define MPI_FILE_NULL    MPI_HANDLE(MPI_File, ompi_mpi_file_null)
#define MPI_SESSION_NULL MPI_HANDLE(MPI_Session, ompi_mpi_instance_null)
#define MPI_REQUEST_NULL MPI_HANDLE(MPI_Request, ompi_request_null)

/* Messages */
#define MPI_MESSAGE_NULL    MPI_HANDLE(MPI_Message, ompi_message_null)
#define MPI_MESSAGE_NO_PROC MPI_HANDLE(MPI_Message, ompi_message_no_proc)

/* Infos */
#define MPI_INFO_NULL MPI_HANDLE(MPI_Info, ompi_mpi_info_null)
#define MPI_INFO_ENV  MPI_HANDLE(MPI_Info, ompi_mpi_info_env)

/* Error handlers */
#define MPI_ERRHANDLER_NULL  MPI_HANDLE(MPI_Errhandler, ompi_mpi_errhandler_null)
#define MPI_ERRORS_ARE_FATAL MPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_are_fatal)
#define MPI_ERRORS_ABORT     MPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_abort)
#define MPI_ERRORS_RETURN    MPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_return)
#define MPIR_ERRORS_THROW_EXCEPTIONS MPI_HANDLE(MPI_Errhandler, ompi_mpi_errors_throw_exceptions) /* of C++ */

/* Operations */
#define MPI_OP_NULL     MPI_HANDLE(MPI_Op, ompi_mpi_op_null)
#define MPI_SUM         MPI_HANDLE(MPI_Op, ompi_mpi_op_sum)
#define MPI_MIN         MPI_HANDLE(MPI_Op, ompi_mpi_op_min)
#define MPI_MAX         MPI_HANDLE(MPI_Op, ompi_mpi_op_max)
#define MPI_PROD        MPI_HANDLE(MPI_Op, ompi_mpi_op_prod)
#define MPI_BAND        MPI_HANDLE(MPI_Op, ompi_mpi_op_band)
#define MPI_BOR         MPI_HANDLE(MPI_Op, ompi_mpi_op_bor)
#define MPI_BXOR        MPI_HANDLE(MPI_Op, ompi_mpi_op_bxor)
#define MPI_LAND        MPI_HANDLE(MPI_Op, ompi_mpi_op_land)
#define MPI_LOR         MPI_HANDLE(MPI_Op, ompi_mpi_op_lor)
#define MPI_LXOR        MPI_HANDLE(MPI_Op, ompi_mpi_op_lxor)
#define MPI_MINLOC      MPI_HANDLE(MPI_Op, ompi_mpi_op_minloc)
#define MPI_MAXLOC      MPI_HANDLE(MPI_Op, ompi_mpi_op_maxloc)
#define MPI_REPLACE     MPI_HANDLE(MPI_Op, ompi_mpi_op_replace)
#define MPI_NO_OP       MPI_HANDLE(MPI_Op, ompi_mpi_op_no_op)

/* Datatypes: MPI's own */
#define MPI_DATATYPE_NULL     MPI_HANDLE(MPI_Datatype, ompi_mpi_datatype_null)
#define MPI_AINT              MPI_HANDLE(MPI_Datatype, ompi_mpi_aint)
#define MPI_COUNT             MPI_HANDLE(MPI_Datatype, ompi_mpi_count)
#define MPI_OFFSET            MPI_HANDLE(MPI_Datatype, ompi_mpi_offset)
#define MPI_PACKED            MPI_HANDLE(MPI_Datatype, ompi_mpi_packed)

/* Datatypes: C integers */
#define MPI_SHORT                  MPI_HANDLE(MPI_Datatype, ompi_mpi_short)
#define MPI_INT                    MPI_HANDLE(MPI_Datatype, ompi_mpi_int)
#define MPI_LONG                   MPI_HANDLE(MPI_Datatype, ompi_mpi_long)
#define MPI_LONG_LONG_INT          MPI_HANDLE(MPI_Datatype, ompi_mpi_long_long_int)
#define MPI_LONG_LONG              MPI_HANDLE(MPI_Datatype, ompi_mpi_long_long_int)
#define MPI_UNSIGNED_SHORT         MPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_short)
#define MPI_UNSIGNED               MPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned)
#define MPI_UNSIGNED_LONG          MPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_long)
#define MPI_UNSIGNED_LONG_LONG     MPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_long_long)

/* Datatypes: C and C++ reals, complex numbers, booleans, characters */
#define MPI_FLOAT                       MPI_HANDLE(MPI_Datatype, ompi_mpi_float)
#define MPI_C_COMPLEX                   MPI_HANDLE(MPI_Datatype, ompi_mpi_c_float_complex)
#define MPI_C_FLOAT_COMPLEX             MPI_HANDLE(MPI_Datatype, ompi_mpi_c_float_complex)
#define MPI_CXX_FLOAT_COMPLEX           MPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_cplex)
#define MPI_DOUBLE                      MPI_HANDLE(MPI_Datatype, ompi_mpi_double)
#define MPI_C_DOUBLE_COMPLEX            MPI_HANDLE(MPI_Datatype, ompi_mpi_c_double_complex)
#define MPI_CXX_DOUBLE_COMPLEX          MPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_dblcplex)
#define MPI_LONG_DOUBLE                 MPI_HANDLE(MPI_Datatype, ompi_mpi_long_double)
#define MPI_C_LONG_DOUBLE_COMPLEX       MPI_HANDLE(MPI_Datatype, ompi_mpi_c_long_double_complex)
#define MPI_CXX_LONG_DOUBLE_COMPLEX     MPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_ldblcplex)
#define MPI_C_BOOL                      MPI_HANDLE(MPI_Datatype, ompi_mpi_c_bool)
#define MPI_CXX_BOOL                    MPI_HANDLE(MPI_Datatype, ompi_mpi_cxx_bool)
#define MPI_WCHAR                       MPI_HANDLE(MPI_Datatype, ompi_mpi_wchar)

/* Datatypes of a fixed size */
#define MPI_INT8_T            MPI_HANDLE(MPI_Datatype, ompi_mpi_int8_t)
#define MPI_UINT8_T           MPI_HANDLE(MPI_Datatype, ompi_mpi_uint8_t)
#define MPI_CHAR              MPI_HANDLE(MPI_Datatype, ompi_mpi_char)
#define MPI_SIGNED_CHAR       MPI_HANDLE(MPI_Datatype, ompi_mpi_signed_char)
#define MPI_UNSIGNED_CHAR     MPI_HANDLE(MPI_Datatype, ompi_mpi_unsigned_char)
#define MPI_BYTE              MPI_HANDLE(MPI_Datatype, ompi_mpi_byte)
#define MPI_INT16_T           MPI_HANDLE(MPI_Datatype, ompi_mpi_int16_t)
#define MPI_UINT16_T          MPI_HANDLE(MPI_Datatype, ompi_mpi_uint16_t)
#define MPI_INT32_T           MPI_HANDLE(MPI_Datatype, ompi_mpi_int32_t)
#define MPI_UINT32_T          MPI_HANDLE(MPI_Datatype, ompi_mpi_uint32_t)
#define MPI_INT64_T           MPI_HANDLE(MPI_Datatype, ompi_mpi_int64_t)
#define MPI_UINT64_T          MPI_HANDLE(MPI_Datatype, ompi_mpi_uint64_t)

/* MPI-1's markers of bounds in a structure */
#define MPI_LB                MPI_HANDLE(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB                MPI_HANDLE(MPI_Datatype, ompi_mpi_ub)

/* Datatypes: pairs for MINLOC and MAXLOC */
#define MPI_FLOAT_INT             MPI_HANDLE(MPI_Datatype, ompi_mpi_float_int)
#define MPI_DOUBLE_INT            MPI_HANDLE(MPI_Datatype, ompi_mpi_double_int)
#define MPI_LONG_INT              MPI_HANDLE(MPI_Datatype, ompi_mpi_long_int)
#define MPI_2INT                  MPI_HANDLE(MPI_Datatype, ompi_mpi_2int)
#define MPI_SHORT_INT             MPI_HANDLE(MPI_Datatype, ompi_mpi_short_int)
#define MPI_LONG_DOUBLE_INT       MPI_HANDLE(MPI_Datatype, ompi_mpi_longdbl_int)
#define MPI_2REAL                 MPI_HANDLE(MPI_Datatype, ompi_mpi_2real)
#define MPI_2DOUBLE_PRECISION     MPI_HANDLE(MPI_Datatype, ompi_mpi_2dblprec)
#define MPI_2INTEGER              MPI_HANDLE(MPI_Datatype, ompi_mpi_2integer)

/* Datatypes: Fortran */
#define MPI_LOGICAL              MPI_HANDLE(MPI_Datatype, ompi_mpi_logical)
#define MPI_INTEGER              MPI_HANDLE(MPI_Datatype, ompi_mpi_integer)
#define MPI_REAL                 MPI_HANDLE(MPI_Datatype, ompi_mpi_real)
#define MPI_COMPLEX              MPI_HANDLE(MPI_Datatype, ompi_mpi_cplex)
#define MPI_DOUBLE_PRECISION     MPI_HANDLE(MPI_Datatype, ompi_mpi_dblprec)
#define MPI_DOUBLE_COMPLEX       MPI_HANDLE(MPI_Datatype, ompi_mpi_dblcplex)
#define MPI_CHARACTER            MPI_HANDLE(MPI_Datatype, ompi_mpi_character)

/* Datatypes: Fortran, of a fixed size, each optional */
#define MPI_LOGICAL1      MPI_HANDLE(MPI_Datatype, ompi_mpi_logical1)
#define MPI_INTEGER1      MPI_HANDLE(MPI_Datatype, ompi_mpi_integer1)
#define MPI_LOGICAL2      MPI_HANDLE(MPI_Datatype, ompi_mpi_logical2)
#define MPI_INTEGER2      MPI_HANDLE(MPI_Datatype, ompi_mpi_integer2)
#define MPI_REAL2         MPI_HANDLE(MPI_Datatype, ompi_mpi_real2)
#define MPI_LOGICAL4      MPI_HANDLE(MPI_Datatype, ompi_mpi_logical4)
#define MPI_INTEGER4      MPI_HANDLE(MPI_Datatype, ompi_mpi_integer4)
#define MPI_REAL4         MPI_HANDLE(MPI_Datatype, ompi_mpi_real4)
#define MPI_COMPLEX4      MPI_HANDLE(MPI_Datatype, viaduct_mpi_complex4)
#define MPI_LOGICAL8      MPI_HANDLE(MPI_Datatype, ompi_mpi_logical8)
#define MPI_INTEGER8      MPI_HANDLE(MPI_Datatype, ompi_mpi_integer8)
#define MPI_REAL8         MPI_HANDLE(MPI_Datatype, ompi_mpi_real8)
#define MPI_COMPLEX8      MPI_HANDLE(MPI_Datatype, ompi_mpi_complex8)
#define MPI_LOGICAL16     MPI_HANDLE(MPI_Datatype, viaduct_mpi_logical16)
#define MPI_INTEGER16     MPI_HANDLE(MPI_Datatype, ompi_mpi_integer16)
#define MPI_REAL16        MPI_HANDLE(MPI_Datatype, ompi_mpi_real16)
#define MPI_COMPLEX16     MPI_HANDLE(MPI_Datatype, ompi_mpi_complex16)
#define MPI_COMPLEX32     MPI_HANDLE(MPI_Datatype, ompi_mpi_complex32)

/* Callbacks that do nothing, or copy: functions of this library that programs may call (objects.c) */
#define MPI_ATTRIBUTE_FUNCTIONS(kind)                                                                                  \
    int OMPI_C_MPI_##kind##NULL_COPY_FN(void *object, int key, void *extra, void *in, void *out, int *flag);           \
    int OMPI_C_MPI_##kind##DUP_FN(void *object, int key, void *extra, void *in, void *out, int *flag);                 \
    int OMPI_C_MPI_##kind##NULL_DELETE_FN(void *object, int key, void *value, void *extra);
MPI_ATTRIBUTE_FUNCTIONS()
MPI_ATTRIBUTE_FUNCTIONS(COMM_)
MPI_ATTRIBUTE_FUNCTIONS(TYPE_)
MPI_ATTRIBUTE_FUNCTIONS(WIN_)
#define MPI_COMM_NULL_COPY_FN     ((MPI_Comm_copy_attr_function *)OMPI_C_MPI_COMM_NULL_COPY_FN)
#define MPI_COMM_DUP_FN           ((MPI_Comm_copy_attr_function *)OMPI_C_MPI_COMM_DUP_FN)
#define MPI_COMM_NULL_DELETE_FN   ((MPI_Comm_delete_attr_function *)OMPI_C_MPI_COMM_NULL_DELETE_FN)
#define MPI_TYPE_NULL_COPY_FN     ((MPI_Type_copy_attr_function *)OMPI_C_MPI_TYPE_NULL_COPY_FN)
#define MPI_TYPE_DUP_FN           ((MPI_Type_copy_attr_function *)OMPI_C_MPI_TYPE_DUP_FN)
#define MPI_TYPE_NULL_DELETE_FN   ((MPI_Type_delete_attr_function *)OMPI_C_MPI_TYPE_NULL_DELETE_FN)
#define MPI_WIN_NULL_COPY_FN      ((MPI_Win_copy_attr_function *)OMPI_C_MPI_WIN_NULL_COPY_FN)
#define MPI_WIN_DUP_FN            ((MPI_Win_copy_attr_function *)OMPI_C_MPI_WIN_DUP_FN)
#define MPI_WIN_NULL_DELETE_FN    ((MPI_Win_delete_attr_function *)OMPI_C_MPI_WIN_NULL_DELETE_FN)
#define MPI_CONVERSION_FN_NULL    ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C  ((MPI_Datarep_conversion_function_c *)0)

/* The same by their names of MPI-1 */
#define MPI_NULL_COPY_FN   ((MPI_Copy_function *)OMPI_C_MPI_NULL_COPY_FN)
#define MPI_DUP_FN         ((MPI_Copy_function *)OMPI_C_MPI_DUP_FN)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *)OMPI_C_MPI_NULL_DELETE_FN)

/* ==== Tool interface: constants ==== */

typedef enum MPI_T_source_order {
    MPI_T_SOURCE_ORDERED = 0, MPI_T_SOURCE_UNORDERED = 1
} MPI_T_source_order;

/* What a callback may do; each level is a subset of the bits of the next. */
typedef enum MPI_T_cb_safety {
    MPI_T_CB_REQUIRE_NONE = 0, MPI_T_CB_REQUIRE_MPI_RESTRICTED = 1, MPI_T_CB_REQUIRE_THREAD_SAFE = 2,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 3
} MPI_T_cb_safety;

/* Null handles */
#define MPI_T_ENUM_NULL         ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL  ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)
#define MPI_T_PVAR_HANDLE_NULL  ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_ALL_HANDLES  ((MPI_T_pvar_handle)-1)

/* Whom a variable is for */
enum {
    MPI_T_VERBOSITY_USER_BASIC = 0, MPI_T_VERBOSITY_USER_DETAIL = 1, MPI_T_VERBOSITY_USER_ALL = 2,
    MPI_T_VERBOSITY_TUNER_BASIC = 3, MPI_T_VERBOSITY_TUNER_DETAIL = 4, MPI_T_VERBOSITY_TUNER_ALL = 5,
    MPI_T_VERBOSITY_MPIDEV_BASIC = 6, MPI_T_VERBOSITY_MPIDEV_DETAIL = 7, MPI_T_VERBOSITY_MPIDEV_ALL = 8
};

/* What a variable belongs to */
enum {
    MPI_T_BIND_NO_OBJECT = 0, MPI_T_BIND_MPI_COMM = 1, MPI_T_BIND_MPI_DATATYPE = 2,
    MPI_T_BIND_MPI_ERRHANDLER = 3, MPI_T_BIND_MPI_FILE = 4, MPI_T_BIND_MPI_GROUP = 5,
    MPI_T_BIND_MPI_OP = 6, MPI_T_BIND_MPI_REQUEST = 7, MPI_T_BIND_MPI_WIN = 8, MPI_T_BIND_MPI_MESSAGE = 9,
    MPI_T_BIND_MPI_INFO = 10, MPI_T_BIND_MPI_SESSION = 11
};

/* Where a change of a control variable acts */
enum {
    MPI_T_SCOPE_CONSTANT = 0, MPI_T_SCOPE_READONLY = 1, MPI_T_SCOPE_LOCAL = 2, MPI_T_SCOPE_GROUP = 3,
    MPI_T_SCOPE_GROUP_EQ = 4, MPI_T_SCOPE_ALL = 5, MPI_T_SCOPE_ALL_EQ = 6
};

/* Classes of performance variables */
enum {
    MPI_T_PVAR_CLASS_STATE = 0, MPI_T_PVAR_CLASS_LEVEL = 1, MPI_T_PVAR_CLASS_SIZE = 2,
    MPI_T_PVAR_CLASS_PERCENTAGE = 3, MPI_T_PVAR_CLASS_HIGHWATERMARK = 4, MPI_T_PVAR_CLASS_LOWWATERMARK = 5,
    MPI_T_PVAR_CLASS_COUNTER = 6, MPI_T_PVAR_CLASS_AGGREGATE = 7, MPI_T_PVAR_CLASS_TIMER = 8,
    MPI_T_PVAR_CLASS_GENERIC = 9
};
