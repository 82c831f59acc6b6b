# Programs built by the mpicc of MPICH run with our library of its ABI: its numbers are those of MPICH's header, it has each
# function of MPICH's own library, and the programs of tests/mpi pass. timeout: 600 takes: 110 presets: fortran
source "$VIADUCT_SOURCE/tests/lib/shell"
type mpicc.mpich >/dev/null 2>&1 || skip "MPICH is not installed (apt install mpich libmpich-dev)"
library=$VIADUCT_BUILD/lib/viaduct/abi/libmpich.so.12
[ -f "$library" ] || skip "the library for programs of MPICH is not built (VIADUCT_ABIS)"
real=$(mpicc.mpich -print-file-name=libmpich.so.12) # (a program that uses no function does not need it)
build() { mpicc.mpich -O1 -w -D_GNU_SOURCE -I"$VIADUCT_SOURCE/tests" "$@"; }
source "$VIADUCT_SOURCE/tests/lib/built"

# ---- numbers ----

# What MPICH 4.0 has not, or has as another thing: MPI_INTEGER16 is its MPI_DATATYPE_NULL.
lacks='MPI_(ABI_(SUB)?VERSION|BUFFER_AUTOMATIC|COMBINER_VALUE_INDEX|COMM_TYPE_RESOURCE_GUIDED|COMPLEX4|REAL2|INTEGER16|'
lacks+='LOGICAL(1|2|4|8|16)|ERR_(ABI|ERRHANDLER)|DUP_FN|T_ERR_NOT_ACCESSIBLE|T_BIND_MPI_SESSION|'
lacks+='INT_HANDLES|T_(ENUM|CVAR_HANDLE|PVAR_SESSION|PVAR_HANDLE)_NULL)'
numbers mpich

# ---- functions ----

# Without MPICH's other way of generalized requests, the texts of its own build, and what only its own library for Fortran
# calls, in whose place ours is.
functions "^P?MPI[XI]*_" "MPIX_Grequest_|MPII_Version_|MPII_(Comm|Type|Win)_[gs]et_attr|MPII_Grequest_set_lang_f77"
readelf -d "$library" | grep -q 'SONAME.*\[libmpich.so.12\]' || fail "the soname is not libmpich.so.12"
[ "$(readlink -f "${library%/*}/libmpi.so.12")" = "$(readlink -f "$library")" ] || fail "libmpi.so.12 is not the same library"

# ---- programs ----

VARIABLE=LD_LIBRARY_PATH=${library%/*} # for other launchers; ours finds the library by itself
cat >"$work/old.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    MPI_Aint at[2], extent, lb, ub;
    int lengths[2] = {1, 1}, length, size, value[2] = {1, 2}, got[2] = {0, 0}, flag, key;
    int *same;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, made;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    MPI_Address(&value[0], &at[0]);
    MPI_Address(&value[1], &at[1]);
    at[1] -= at[0], at[0] = 0;
    MPI_Type_struct(2, lengths, at, types, &made);
    MPI_Type_commit(&made);
    MPI_Type_extent(made, &extent);
    MPI_Type_lb(made, &lb);
    MPI_Type_ub(made, &ub);
    MPI_Sendrecv(value, 1, made, 0, 1, got, 1, made, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm copy, self = MPI_COMM_SELF;
    MPI_Comm_set_attr(self, key, value);
    MPI_Comm_dup(self, &copy);
    MPI_Comm_get_attr(copy, key, &same, &flag);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%s %d %ld %ld %ld %d %d\n", strstr(text, "iaduct") ? "ours" : "theirs", size, (long)extent, (long)lb, (long)ub,
           got[1], flag && same == value);
    MPI_Finalize();
}
END
build "$work/old.c" -o "$work/old" || fail "mpicc.mpich does not compile"
expect 0 $'ours 2 8 0 8 2 1\nours 2 8 0 8 2 1' "" $mpiexec -n 2 "$work/old"
expect 0 $'ours 2 8 0 8 2 1\nours 2 8 0 8 2 1' "" $mpiexec -n 2 sh -c "$work/old"
expect 0 $'ours 2 8 0 8 2 1\nours 2 8 0 8 2 1' "" $mpiexec -x LD_LIBRARY_PATH=${real%/*} --abi=auto -n 2 "$work/old"
expect 0 $'theirs 2 8 0 8 2 1\ntheirs 2 8 0 8 2 1' "~" $mpiexec --abi=none -n 2 "$work/old"
expect 2 "" "~--abi: .*auto or none" $mpiexec --abi=ours -n 2 "$work/old"
printf '#include <mpi.h>\nint main(void) { MPI_Win w; MPI_Init(0, 0); MPI_Win_create(0, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w); }\n' \
    >"$work/window.c"
build "$work/window.c" -o "$work/window" || fail "mpicc.mpich does not compile"
expect 44 "" "~MPI_Win_create: .*mpiexec --abi=none" $mpiexec -n 1 "$work/window"
expect 0 "~^ours 2 8 0 8 2 1.*ours 2 8 0 8 2 1$" "" sh -c "env $VARIABLE mpiexec.hydra -n 2 $work/old | tr '\n' ' ' | sed 's/ \$//'"

# Handles of Fortran, and what goes on after a rank has died, are functions of MPICH 4.2; before they were macros, or not there.
cat >"$work/newer.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#define SAME(type, name, handle)                                                                      \
    {                                                                                                 \
        extern int(MPI_##name##_c2f)(type);                                                           \
        extern type(MPI_##name##_f2c)(int);                                                           \
        right += (MPI_##name##_c2f)(handle) == (int)handle && (MPI_##name##_f2c)((int)handle) == handle; \
    }
extern int MPIX_Comm_get_failed(MPI_Comm, MPI_Group *);
int main(void)
{
    int right = 0;
    MPI_Comm made;
    MPI_Group group;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    SAME(MPI_Comm, Comm, made)
    SAME(MPI_Comm, Comm, MPI_COMM_WORLD)
    SAME(MPI_Errhandler, Errhandler, MPI_ERRORS_RETURN)
    SAME(MPI_Group, Group, MPI_GROUP_EMPTY)
    SAME(MPI_Info, Info, MPI_INFO_ENV)
    SAME(MPI_Message, Message, MPI_MESSAGE_NO_PROC)
    SAME(MPI_Op, Op, MPI_SUM)
    SAME(MPI_Request, Request, MPI_REQUEST_NULL)
    SAME(MPI_Session, Session, MPI_SESSION_NULL)
    SAME(MPI_Datatype, Type, MPI_DOUBLE)
    SAME(MPI_Win, Win, MPI_WIN_NULL)
    printf("%d %d\n", right, MPIX_Comm_get_failed(MPI_COMM_WORLD, &group) == MPI_SUCCESS);
    MPI_Finalize();
}
END
build "$work/newer.c" "$library" -o "$work/newer" || fail "a name of MPICH 4.2 is not there"
expect 0 "11 0" "" $mpiexec -n 1 "$work/newer"
nm -D "${library%/*}/libmpichfort.so.12" | grep -q __mpi_sizeofs_MOD_mpi_sizeof_r8v || fail "a name of MPICH 4.2 is not there, in Fortran"

# Bounds as of MPI-1, a NULL and an absent status, what programs ask of MPICH beside MPI.
cat >"$work/bounds.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int lengths[3] = {1, 1, 1}, count = 7, size, class[2], yes = 9;
    MPI_Aint at[3] = {-4, 0, 16}, lb, extent;
    MPI_Datatype types[3] = {MPI_LB, MPI_INT, MPI_UB}, made, outer;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_struct(3, lengths, at, types, &made);
    MPI_Type_size(made, &size);
    MPI_Type_get_extent(made, &lb, &extent);
    printf("%d %ld %ld", size, (long)lb, (long)extent);
    MPI_Type_contiguous(2, made, &outer);
    MPI_Type_get_extent(outer, &lb, &extent);
    printf(" %ld %ld", (long)lb, (long)extent);
    MPI_Type_struct(2, lengths, at + 1, types + 1, &outer);
    MPI_Type_get_extent(outer, &lb, &extent);
    printf(" %ld %ld", (long)lb, (long)extent);
    MPI_Type_size(MPI_UB, &size);
    class[0] = MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &count) != MPI_SUCCESS;
    class[1] = MPI_Type_ub(MPI_INT, NULL) != MPI_SUCCESS;
    MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &yes);
    printf(" %d %d %d %d %d %d\n", size, class[0], class[1], count, MPIX_Query_cuda_support(), yes);
    MPI_Finalize();
}
END
build "$work/bounds.c" -o "$work/bounds" || fail "mpicc.mpich does not compile"
expect 0 "4 -4 20 -4 40 0 16 0 1 1 7 0 0" "" $mpiexec -n 1 "$work/bounds"

# Counts of partitioned messages have 64 bits, as in MPI 4.0.
cat >"$work/parts.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Datatype none;
    MPI_Request pair[2];
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    MPI_Psend_init("", 1, (MPI_Count)1 << 31, none, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &pair[0]);
    MPI_Precv_init("", 1, (MPI_Count)1 << 31, none, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &pair[1]);
    MPI_Startall(2, pair);
    MPI_Pready(0, pair[0]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    printf("done\n");
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Type_free(&none);
    MPI_Finalize();
}
END
build "$work/parts.c" -o "$work/parts" || fail "mpicc.mpich does not compile"
expect 0 done "" $mpiexec -n 1 "$work/parts"

# What it says of itself, the class of a wrong error handler, a type of MPICH's own: all as MPICH has them.
cat >"$work/says.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int version[2], class, size = 0;
    short from[2] = {0x3C00, 0x4000}, to[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Get_version(&version[0], &version[1]);
    MPI_Error_class(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), &class);
    MPI_Type_size(MPIX_C_FLOAT16, &size);
    MPI_Sendrecv(from, 2, MPIX_C_FLOAT16, 0, 0, to, 2, MPIX_C_FLOAT16, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    printf("%d %d %d %d %x\n", version[0] == MPI_VERSION, version[1] == MPI_SUBVERSION, class == MPI_ERR_ARG, size, to[1]);
    MPI_Finalize();
}
END
build "$work/says.c" -o "$work/says" || fail "mpicc.mpich does not compile"
expect 0 "1 1 1 2 4000" "" $mpiexec --abi=none -n 1 "$work/says"
expect 0 "1 1 1 2 4000" "" $mpiexec -n 1 "$work/says"

# ---- Fortran, and C++ over MPICH's own library for it ----

# Without what no program calls (gfortran's tables of types, constants that it puts into the program, MPICH's inner
# names).
real_fortran=$(mpicc.mpich -print-file-name=libmpichfort.so.12)
fortran_names "$real_fortran" "${library%/*}/libmpichfort.so.12" \
    '__copy_|__def_init_|__vtab_|compile_constants|c_interface|^MPIR_(C|F|F08)_|^MPI_F_|^mpirinit'
[ "$(readlink -f "${library%/*}/libmpifort.so.12")" = "$(readlink -f "${library%/*}/libmpichfort.so.12")" ] ||
    fail "libmpifort.so.12 is not the same library"
bindings mpich fixed.f module.f90 sections.f90 derived.f90 wrong.f90 # (f08.f90 has sessions, which MPICH 4.0 lacks there)
cat >"$work/added.f90" <<'END'
program added
  use mpi_f08
  integer :: ierror, class
  logical :: flag = .true.
  call MPI_Init()
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPIX_Query_cuda_support(ierror)
  if (ierror == 0) print '(a)', 'no device'
  call MPIX_GPU_query_support(0, flag, ierror)
  if (ierror == 0 .and. .not. flag) print '(a)', 'no kind of device'
  call MPIX_Comm_revoke(MPI_COMM_WORLD, ierror)
  call MPI_Error_class(ierror, class)
  if (class == MPI_ERR_UNSUPPORTED_OPERATION) print '(a)', 'not yet'
  call MPI_Finalize()
end program
END
if type mpifort.mpich >/dev/null 2>&1; then
    mpifort.mpich -J "$work" "$work/added.f90" -o "$work/added" || fail "mpifort.mpich does not compile added.f90"
    expect 0 $'no device\nno kind of device\nnot yet' "" $mpiexec -n 1 "$work/added"
fi
cat >"$work/plus.cpp" <<'END'
#include <mpi.h>
#include <cstdio>
static void most(const void *in, void *out, int n, const MPI::Datatype &)
{
    const int *a = (const int *)in;
    for (int i = 0, *b = (int *)out; i < n; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}
static void told(MPI::Comm &comm, int *, ...) { std::printf("handler %d\n", comm == MPI::COMM_SELF); }
int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), in[2] = {rank, 5 - rank}, out[2];
    MPI::Op op;
    op.Init(most, true);
    MPI::COMM_WORLD.Allreduce(in, out, 2, MPI::INT, op);
    op.Free();
    if (rank == 0) {
        std::printf("%d %d\n", out[0], out[1]);
        MPI::COMM_SELF.Set_errhandler(MPI::Comm::Create_errhandler(told));
        MPI::COMM_SELF.Send(in, 1, MPI::INT, 17, 0);
        MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
        try {
            MPI::COMM_SELF.Send(in, 1, MPI::INT, 17, 0);
        } catch (MPI::Exception &e) {
            std::printf("thrown %d\n", e.Get_error_class() == MPI::ERR_RANK);
        }
    }
    MPI::Finalize();
}
END
if type mpicxx.mpich >/dev/null 2>&1 && mpicxx.mpich -w "$work/plus.cpp" -o "$work/plus" 2>/dev/null; then
    # (MPICH's library for C++ calls the handler for what is returned, too)
    expect 0 $'2 5\nhandler 1\nhandler 1\nthrown 1' "" env LD_BIND_NOW=1 $mpiexec -n 3 "$work/plus"
fi
patchelf_free=$work/vendor # what other vendors' programs need: libmpi.so.12
sed 's/libmpich\.so\.12/libmpi.so.12\x00\x00/' "$work/old" >"$patchelf_free" && chmod +x "$patchelf_free"
expect 0 $'ours 2 8 0 8 2 1\nours 2 8 0 8 2 1' "" $mpiexec -n 2 "$patchelf_free"

# Programs of tests/mpi; not those that say a name that MPICH 4.0 has not, or look inside of our engine.
newer="abi aside barrier_beside bsend_handler buffers environment errors finalize_asleep forms_wide fortran idle idle_ends inter not_yet \
packed polling random sessions types_wide wide"
other="contents" # wants MPI_INTEGER16, see above
other+=" errhandler" # adds 20,000 error codes, and MPICH 4.0 has no call that removes one
other+=" inter_many withdrawn_number" # minutes on a busy machine, and nothing that an ABI changes
programs_pass $newer $other
finish
