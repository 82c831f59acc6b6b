#!/usr/bin/env bash
# A libviaduct of another build beside our libmpi_abi: one sentence that names both, exit status 1, and main never runs. Both of
# another build under our mpiexec: they share memory all the same.
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"
unset LD_LIBRARY_PATH
printf '#include <mpi.h>\n#include <stdio.h>\nint main(void) { int v, s; MPI_Get_version(&v, &s); return printf("main %%d\\n", v) < 0; }\n' >"$work/a.c"
"$VIADUCT_BIN/mpicc" "$work/a.c" -o "$work/a" || fail "the program does not compile"
run 20 "$work/a"
expect_out '^main 5$' "as it is"

id=$(sed -n 's/.*BUILD_ID "\(.*\)"/\1/p' "$VIADUCT_BUILD/generated/build_id.h")
[ ${#id} -eq 16 ] || fail "the identity of the build is $id"
mkdir "$work/other"
sed "s/$id/0123456789abcdef/" "$VIADUCT_BUILD/lib/libviaduct.so.0" >"$work/other/libviaduct.so.0"
cmp -s "$VIADUCT_BUILD/lib/libviaduct.so.0" "$work/other/libviaduct.so.0" && fail "libviaduct does not carry the identity"
run 20 env "LD_LIBRARY_PATH=$work/other" "$work/a"
expect_status 1 "a libviaduct of another build"
expect_err "libmpi_abi.so.1 \(build $id\) does not belong to .*other/libviaduct.so.0 \(build 0123456789abcdef\)" "another build"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line"
[ ! -s "$work/out" ] || fail "main ran all the same"

# A whole library of another build, as in a container: its ranks make their own shared memory.
sed "s/$id/0123456789abcdef/" "$VIADUCT_BUILD/lib/libmpi_abi.so.1" >"$work/other/libmpi_abi.so.1"
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec "$@"\n' "$work/other" >"$work/inside"
chmod +x "$work/inside"
meet=$VIADUCT_BUILD/tests/programs/meet
run 20 env VIADUCT_LOG=info VIADUCT_TRANSPORTS=shm $mpiexec -n 3 "$work/inside" "$meet"
expect_status 0 "ranks of another build"
expect_out '^3 met$' "ranks of another build"
expect_err "launcher is of another build of Viaduct .$id, this is 0123456789abcdef" "ranks of another build"
finish
