# Programs built by the mpicc of Open MPI run with our library of its ABI: its numbers are those of Open MPI's header, it has
# each function of Open MPI's own library, and the programs of tests/mpi pass. timeout: 600 takes: 110 presets: fortran
source "$VIADUCT_SOURCE/tests/lib/shell"
type mpicc.openmpi >/dev/null 2>&1 || skip "Open MPI is not installed (apt install openmpi-bin libopenmpi-dev)"
library=$VIADUCT_BUILD/lib/viaduct/abi/libmpi.so.40
[ -f "$library" ] || skip "the library for programs of Open MPI is not built (VIADUCT_ABIS)"
real=$(mpicc.openmpi -print-file-name=libmpi.so.40)
{ # persistent collectives by the names that Open MPI 4 has for them
    echo '#include <mpi.h>'
    echo '#include <mpi-ext.h>'
    sed -n 's/^MPIX_\([A-Za-z_]*\) = .*/#define MPI_\1 MPIX_\1/p' "$VIADUCT_SOURCE/src/mpi/openmpi/aliases.ld"
} >"$work/persistent.h"
build() { mpicc.openmpi -O1 -w -D_GNU_SOURCE -include stdint.h -include "$work/persistent.h" -I"$VIADUCT_SOURCE/tests" "$@"; }
source "$VIADUCT_SOURCE/tests/lib/built"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# What Open MPI 4 has not.
lacks='MPI_(BUFFER_AUTOMATIC|MAX_STRINGTAG_LEN|MAX_PSET_NAME_LEN|COMM_TYPE_(HW_UNGUIDED|HW_GUIDED|RESOURCE_GUIDED)|'
lacks+='COMBINER_VALUE_INDEX|F_(STATUS_SIZE|SOURCE|TAG|ERROR)|ERR_(PROC_ABORTED|VALUE_TOO_LARGE|SESSION|ERRHANDLER|ABI)|'
lacks+='SESSION_NULL|ERRORS_ABORT|REAL2|COMPLEX4|LOGICAL16|INTEGER16|CONVERSION_FN_NULL_C|T_ERR_NOT_(ACCESSIBLE|SUPPORTED)|'
lacks+='T_(BIND_MPI_SESSION|CB_REQUIRE_[A-Z_]*|SOURCE_(UN)?ORDERED)|LB|UB|ADDRESS_HANDLES|T_(ENUM|CVAR_HANDLE|PVAR_SESSION|PVAR_HANDLE)_NULL)'
numbers openmpi
# Those for its library for Fortran are left out.
functions "^(P?MPIX?_|OMPI_C_)" "_F90$|^MPI_[A-Z_]*(_FN|FN_NULL)$"

# The exported objects have their sizes: programs have taken them over.
objects() { nm -D -S --defined-only "$1" | awk 'NF == 4 && $4 ~ /^ompi_(mpi_|request_null|message_n)/ { print $4, $2 }' | sort; }
objects "$real" | grep -vE '_addr |_(requested|provided|thread|dynamics_enabled|state|check) ' >"$work/their.objects"
objects "$library" >"$work/our.objects"
join "$work/their.objects" "$work/our.objects" | awk '$2 != $3' >"$work/diff"
[ -s "$work/diff" ] && { fail "objects of other sizes"; cat "$work/diff"; }
[ "$(join "$work/their.objects" "$work/our.objects" | wc -l)" -ge 100 ] || fail "few objects were compared"

cat >"$work/rank.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
static const MPI_Datatype kept = MPI_INT; /* a handle in a table */
int main(int argc, char **argv)
{
    int rank, size, length, got, count, class;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(text, &length);
    MPI_Sendrecv(&rank, 1, kept, size - 1 - rank, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&rank, 1, (MPI_Datatype)&rank, 0, 0, MPI_COMM_WORLD), &class);
    printf("%s %d of %d: %d %d %d %d %d %d\n", strstr(text, "iaduct") ? "ours" : "theirs", rank, size, got, status.MPI_SOURCE,
           count, class == MPI_ERR_TYPE, MPI_Type_c2f(MPI_INT), MPI_Type_f2c(39) == MPI_INT);
    MPI_Finalize();
}
END
for how in "" "-no-pie -fno-pie" "-fPIC"; do # the last one takes nothing over
    build $how "$work/rank.c" -o "$work/rank" || fail "mpicc.openmpi $how does not compile"
    expect 0 $'ours 0 of 1: 0 0 1 1 39 1' "" $mpiexec -n 1 "$work/rank"
done
expect 0 "~^(ours . of 2: . . 1 1 39 1.?){2}$" "" $mpiexec -n 2 sh -c "$work/rank"
# With Open MPI's own library a rank is alone. A job of several is refused, whatever makes the program load that library.
alone="~ranks that have loaded Open MPI's own library" refusal=1
case $(readlink -f "$real") in *.so.40.[4-9]?.*) alone='~or use "mpirun"' refusal=14 ;; esac # Open MPI 5
expect 0 "~theirs 0 of 1" "~" $mpiexec --abi=none -n 1 "$work/rank"
expect $refusal "" "$alone" $mpiexec --abi=none -n 2 "$work/rank"
build "$work/rank.c" -o "$work/named" -Wl,--disable-new-dtags,-rpath,"${real%/*}" || fail "mpicc.openmpi does not link"
expect $refusal "" "$alone" $mpiexec -n 2 "$work/named"
if [ "$(id -u)" = 0 ]; then
    cp "$work/rank" "$work/other" && chown 65534 "$work/other" && chmod 4755 "$work/other"
    expect $refusal "" "$alone" $mpiexec -n 2 "$work/other"
fi
# Open MPI 5 is alone where PMIx_Init says that no server is reached (-25), and ends where it says anything else.
cat >"$work/pmix.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    struct { char name[256]; unsigned rank; } self;
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
    int (*init)(void *self, void *infos, size_t count) = library ? dlsym(library, "PMIx_Init") : NULL;
    int error = init ? init(&self, NULL, 0) : 1;
    puts(error == -25 ? "alone" : error < 0 ? "refused" : error == 0 ? "connected" : "no library");
}
END
cc "$work/pmix.c" -o "$work/pmix" -ldl
if [ "$("$work/pmix" 2>/dev/null)" = alone ]; then
    expect 0 "alone" "~" $mpiexec -n 1 "$work/pmix"
    expect 0 $'refused\nrefused' "~" $mpiexec -n 2 "$work/pmix"
fi
# One for 32 bits does not get that far.
if [ -e /lib/ld-linux.so.2 ] && echo '.globl _start; _start: call MPI_Init' | as --32 -o "$work/s.o" 2>/dev/null; then
    echo '.globl MPI_Init; MPI_Init: ret' | as --32 -o "$work/l.o"
    ld -m elf_i386 -shared -soname libmpi.so.40 "$work/l.o" -o "$work/l32.so"
    ld -m elf_i386 -dynamic-linker /lib/ld-linux.so.2 "$work/s.o" "$work/l32.so" -o "$work/narrow"
    expect 127 "" "~libmpi.so.40: wrong ELF class" $mpiexec -n 2 "$work/narrow"
fi
expect 0 "~^(ours . of 2: . . 1 1 39 1.?){2}$" "" env LD_LIBRARY_PATH=${library%/*} mpiexec.hydra -n 2 "$work/rank"
expect 0 "hello" "" $mpiexec -n 1 echo hello
printf '#include <mpi.h>\nint main(void) { MPI_Win w; MPI_Init(0, 0); MPI_Win_create(0, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w); }\n' \
    >"$work/window.c"
build "$work/window.c" -o "$work/window" || fail "mpicc.openmpi does not compile"
expect 52 "" "~MPI_Win_create: .*mpirun of Open MPI" $mpiexec -n 1 "$work/window"

# What Open MPI 5 adds to go on after a rank has died: programs and mpi4py 4 load, and a call is an error.
cat >"$work/later.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#define ALL(F) F(ack_failed) F(agree) F(failure_ack) F(failure_get_acked) F(get_failed) F(iagree) F(is_revoked) F(revoke) F(shrink)
#define DECLARE(name) int MPIX_Comm_##name(MPI_Comm comm, ...);
#define CALL(name) right += MPIX_Comm_##name(MPI_COMM_WORLD, &given, &given) == MPI_ERR_UNSUPPORTED_OPERATION;
ALL(DECLARE)
int main(void)
{
    int right = 0;
    void *given = NULL;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ALL(CALL)
    printf("%d\n", right);
    MPI_Finalize();
}
END
build -include /dev/null "$work/later.c" "$library" -o "$work/later" || fail "a name of Open MPI 5 is not there"
expect 0 9 "" $mpiexec -n 1 "$work/later"

# The same for Fortran, as libmpi_usempif08 of Open MPI 5 calls them, with all names bound at the start; and statuses of
# mpi_f08, also in C.
cat >"$work/later_f08.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#define ALL(F) F(ack_failed) F(agree) F(failure_ack) F(failure_get_acked) F(get_failed) F(iagree) F(is_revoked) F(revoke) F(shrink)
#define DECLARE(name) void ompix_comm_##name##_f(int *comm, ...), mpix_comm_##name##_(int *comm, ...);
#define CALL(call)                                                                 \
    memset(given, 0, sizeof given);                                                \
    call(&world, &given[0], &given[1], &given[2]);                                 \
    right += (given[0] | given[1] | given[2]) == MPI_ERR_UNSUPPORTED_OPERATION;
#define CALLS(name) CALL(ompix_comm_##name##_f) CALL(mpix_comm_##name##_)
ALL(DECLARE)
void ompi_status_f2f08_f(void *from, void *to, int *ierror), ompi_status_f082f_f(void *from, void *to, int *ierror);
int MPI_Status_c2f08(MPI_Status *c, void *f08), MPI_Status_f082c(void *f08, MPI_Status *c);
int MPI_Status_f2f08(MPI_Fint *f, void *f08), MPI_Status_f082f(void *f08, MPI_Fint *f);
extern MPI_Fint *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;
int main(void)
{
    int right = 0, given[3], world = 0, f[6], f08[6], error;
    MPI_Status status, again;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ALL(CALLS)
    MPI_Sendrecv(f, 0, MPI_INT, 0, 8, given, 3, MPI_INT, 0, 8, MPI_COMM_WORLD, &status);
    MPI_Status_c2f08(&status, f08);
    MPI_Status_f082f(f08, f);
    ompi_status_f2f08_f(f, f08, &error);
    right += f08[1] == 8;
    ompi_status_f082f_f(f08, f, &error);
    MPI_Status_f2f08(f, f08);
    MPI_Status_f082c(f08, &again);
    right += !memcmp(&status, &again, sizeof status);
    right += MPI_F08_STATUS_IGNORE == MPI_F_STATUS_IGNORE && MPI_F08_STATUSES_IGNORE == MPI_F_STATUSES_IGNORE;
    printf("%d\n", right);
    MPI_Finalize();
}
END
build -include /dev/null "$work/later_f08.c" "${library%/*}/libmpi_mpifh.so.40" "$library" -o "$work/later_f08" ||
    fail "a name of Open MPI 5 for Fortran is not there"
expect 0 21 "" env LD_BIND_NOW=1 $mpiexec -n 1 "$work/later_f08"

# A library for Open MPI in a program for MPICH: a sentence, not two MPIs
if type mpicc.mpich >/dev/null 2>&1; then
    printf '#include <mpi.h>\nint size(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); return n; }\n' >"$work/size.c"
    printf '#include <mpi.h>\nint size(void);\nint main(void) { MPI_Init(0, 0); return size(); }\n' >"$work/both.c"
    build -shared -fPIC "$work/size.c" -o "$work/libsize.so"
    mpicc.mpich -w "$work/both.c" -o "$work/both" -L"$work" -lsize -Wl,-rpath,"$work" || fail "mpicc.mpich does not compile"
    expect 1 "" "~MPI_Init: .*libmpich.so.12 and .*libmpi.so.40 are in this process" $mpiexec -n 1 "$work/both"
fi

# C by our mpicc and Fortran by Open MPI's, as build systems mix them that are told of one alone: a sentence under each
# launcher, whichever library is linked.
if type mpifort.openmpi >/dev/null 2>&1; then
    printf '#include <mpi.h>\nvoid part_(void) { int n; MPI_Comm_size(MPI_COMM_WORLD, &n); }\n' >"$work/part.c"
    printf '      include "mpif.h"\n      call MPI_Init(i)\n      call part()\n      call MPI_Finalize(i)\n      end\n' >"$work/mixed.f"
    "$VIADUCT_BIN/mpicc" -c "$work/part.c" -o "$work/part.o" || fail "mpicc does not compile"
    for first in "$VIADUCT_BUILD/lib/libmpi_abi.so" ""; do
        mpifort.openmpi -w "$work/mixed.f" "$work/part.o" -o "$work/mixed" -Wl,--no-as-needed $first \
            -Wl,-rpath,"$VIADUCT_BUILD/lib" || fail "mpifort.openmpi does not link"
        if [ -n "$first" ]; then
            both="~MPI_Init: .*libmpi_abi.so.1 and .*libmpi.so.40 are in this process"
            expect 1 "" "$both" $mpiexec -n 1 "$work/mixed"
            expect 1 "" "$both" $mpiexec --abi=none -n 1 "$work/mixed"
            expect 1 "~" "$both" mpirun.openmpi -n 1 "$work/mixed"
        else
            expect 5 "" "~MPI_Comm_size: 0x101 is no communicator here, .* another mpi.h" $mpiexec -n 1 "$work/mixed"
        fi
    done
fi

# Fortran, mpi_f08 over Open MPI's own library for it. Without inner names, and other spellings that nobody uses.
real_fortran=$(mpicc.openmpi -print-file-name=libmpi_mpifh.so.40)
fortran_names "$real_fortran" "${library%/*}/libmpi_mpifh.so.40" \
    '^P?MPIX?_[A-Z][a-z_0-9]*_f(08)?$|_dummy$|^ompi_intercept_'
bindings openmpi fixed.f

# C++, over Open MPI's own library for it (whose exceptions are off in Debian)
cat >"$work/plus.cpp" <<'END'
#include <mpi.h>
#include <cstdio>
static void most(const void *in, void *out, int n, const MPI::Datatype &)
{
    const int *a = (const int *)in;
    for (int i = 0, *b = (int *)out; i < n; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}
static void told(MPI::Comm &, int *, ...) {}
int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), in[2] = {rank, 5 - rank}, out[2];
    MPI::Op op;
    op.Init(most, true);
    MPI::COMM_WORLD.Allreduce(in, out, 2, MPI::INT, op);
    op.Free();
    MPI::Intracomm made = MPI::COMM_WORLD.Split(rank % 2, 0);
    if (rank == 0)
        std::printf("%d %d %d\n", out[0], out[1], made.Get_size());
    made.Free();
    if (argc > 1)
        MPI::Comm::Create_errhandler(told);
    MPI::Finalize();
}
END
if mpicxx.openmpi -w "$work/plus.cpp" -o "$work/plus" 2>/dev/null; then
    expect 0 "2 5 2" "" env LD_BIND_NOW=1 $mpiexec -n 3 "$work/plus"
    expect 52 "0 5 1" "~Create_errhandler: .*mpirun of Open MPI" $mpiexec -n 1 "$work/plus" refused
fi

# Programs of tests/mpi; not those that say a name that Open MPI 4 has not, or look inside of our engine.
newer="abi absolute aside barrier_beside bsend_handler buffers collective_random collective_wide environment errors finalize_asleep \
forms_wide fortran hello hints huge idle idle_ends info info_early inter inter_collective makers_memory neighbor not_yet packed \
partitioned persistent_freed polling proc_null random session_under_way sessions sessions_threads tool tool_threads types_wide \
wide"
other="contents" # wants MPI_INTEGER16
other+=" errhandler" # adds 20,000 error codes, and Open MPI 4 has no call that removes one
other+=" inter_many withdrawn_number" # minutes on a busy machine, and nothing that an ABI changes
programs_pass $newer $other
finish
