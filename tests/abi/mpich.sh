# Programs built by the mpicc of MPICH run with our library of its ABI: its numbers are those of MPICH's header, it has each
# function of MPICH's own library, and the programs of tests/mpi pass. timeout: 300 takes: 90
source "$VIADUCT_SOURCE/tests/lib/shell"
type mpicc.mpich >/dev/null 2>&1 || skip "MPICH is not installed (apt install mpich libmpich-dev)"
library=$VIADUCT_BUILD/lib/viaduct/mpich/libmpich.so.12
[ -f "$library" ] || skip "the library for programs of MPICH is not built (VIADUCT_MPICH)"
tests=$VIADUCT_SOURCE/tests/mpi numbers=$VIADUCT_SOURCE/src/mpi/mpich/mpich.h
build() { mpicc.mpich -O1 -w -D_GNU_SOURCE -I"$VIADUCT_SOURCE/tests" "$@"; }

# ---- numbers ----

# What MPICH 4.0 has not, or has as another thing: MPI_INTEGER16 is its MPI_DATATYPE_NULL.
lacks='MPI_(ABI_(SUB)?VERSION|BUFFER_AUTOMATIC|COMBINER_VALUE_INDEX|COMM_TYPE_RESOURCE_GUIDED|COMPLEX4|REAL2|INTEGER16|'
lacks+='LOGICAL(1|2|4|8|16)|ERR_(ABI|ERRHANDLER)|DUP_FN|T_ERR_NOT_ACCESSIBLE|T_BIND_MPI_SESSION|VERSION|SUBVERSION|'
lacks+='INT_HANDLES|T_(ENUM|CVAR_HANDLE|PVAR_SESSION|PVAR_HANDLE)_NULL)'
{ sed -n 's/^#define \(MPI_[A-Z0-9_]*\) .*/\1/p' "$numbers"; grep -oE 'MPI_T_[A-Z_]+ =' "$numbers" | tr -d ' ='; } |
    grep -vxE "$lacks|MPI_.*_DUP_FN" | sort -u >"$work/names"
{
    echo '#include <mpi.h>'
    echo '#include <stdio.h>'
    echo '#define SHOW(name) printf("%s %lld %zu\n", #name, (long long)name, sizeof(name));'
    echo 'int main(void) {'
    sed 's/.*/SHOW(&)/' "$work/names"
    for field in MPI_SOURCE MPI_TAG MPI_ERROR; do echo "printf(\"$field %zu\\n\", __builtin_offsetof(MPI_Status, $field));"; done
    echo 'printf("%zu\n", sizeof(MPI_Status)); }'
} >"$work/show.c"
build "$work/show.c" -o "$work/theirs" && "$work/theirs" >"$work/theirs.out" || fail "MPICH lacks a name"
cc -w -DMPI_OTHER_NUMBERS='"mpi/mpich/mpich.h"' -I"$VIADUCT_SOURCE/include" -I"$VIADUCT_SOURCE/src" "$work/show.c" \
    -o "$work/ours" && "$work/ours" >"$work/ours.out" || fail "our header lacks a name"
[ "$(wc -l <"$work/ours.out")" -ge 300 ] || fail "only $(wc -l <"$work/ours.out") numbers were compared"
diff "$work/theirs.out" "$work/ours.out" >"$work/diff" || { fail "numbers differ"; head -20 "$work/diff"; }

# ---- functions ----

exported() { nm -D --defined-only "$1" | awk '$2 ~ /[TWDBRV]/ { print $3 }' | grep -E "^P?MPI_" | grep -v F08 | sort; }
real=$(ldd "$work/theirs" | awk '/libmpich.so.12/ { print $3 }')
exported "$real" >"$work/theirs.names"
exported "$library" >"$work/ours.names"
for name in $(comm -23 "$work/theirs.names" "$work/ours.names"); do fail "our library lacks $name"; done
readelf -d "$library" | grep -q 'SONAME.*\[libmpich.so.12\]' || fail "the soname is not libmpich.so.12"
[ "$(readlink -f "${library%/*}/libmpi.so.12")" = "$(readlink -f "$library")" ] || fail "libmpi.so.12 is not the same library"

# ---- programs ----

export LD_LIBRARY_PATH=${library%/*}
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
expect 0 "~^ours 2 8 0 8 2 1.*ours 2 8 0 8 2 1$" "" sh -c "mpiexec.hydra -n 2 $work/old | tr '\n' ' ' | sed 's/ \$//'"
patchelf_free=$work/vendor # what other vendors' programs need: libmpi.so.12
sed 's/libmpich\.so\.12/libmpi.so.12\x00\x00/' "$work/old" >"$patchelf_free" && chmod +x "$patchelf_free"
expect 0 $'ours 2 8 0 8 2 1\nours 2 8 0 8 2 1' "" $mpiexec -n 2 "$patchelf_free"

# Programs of tests/mpi; not those that say a name that MPICH 4.0 has not, or look inside of our engine.
newer="abi barrier_beside bsend_handler buffers environment errors finalize_asleep forms_wide fortran idle inter not_yet \
packed random sessions types_wide wide"
other="contents" # wants MPI_INTEGER16, see above
other+=" errhandler" # adds 20,000 error codes, and MPICH 4.0 has no call that removes one
one() { # NAME
    local file=$tests/$1.c ranks log=$work/$1.log
    ranks=$(head -c 1500 "$file" | sed -nE 's/.*(ranks|everywhere): *([0-9 ]+).*/\2/p' | head -1 | awk '{ print (NF > 1 ? $2 : $1) }')
    LD_LIBRARY_PATH= build -I"$tests" "$file" -o "$work/$1" >"$log" 2>&1 &&
        timeout 100 $mpiexec -n "${ranks:-2}" "$work/$1" >"$log" 2>&1 && rm "$log" || echo "$1" >>"$work/failed"
}
for file in "$tests"/*.c; do
    name=${file##*/} name=${name%.c}
    case " $newer $other " in *" $name "*) continue ;; esac
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
    one "$name" &
done
wait
for name in $(cat "$work/failed" 2>/dev/null); do fail "$name fails"; tail -3 "$work/$name.log"; done
finish
