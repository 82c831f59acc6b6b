# MPI for Fortran: each program of this folder, by gfortran and flang, and both mixed in one job (every.sh: all compilers
# that are tested); the modules are made once for each, by several at once, and where the tree may not be written in the
# user's cache.
# timeout: 300 takes: 30 presets: fortran
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
source "$VIADUCT_SOURCE/tests/fortran/programs/run"
compilers=(gfortran)
for compiler in flang flang-new flang-new-22 flang-new-19; do
    command -v "$compiler" >/dev/null && compilers+=("$compiler") && break
done
programs_check "${compilers[@]}"
programs_mix "${compilers[@]}"

# A warning of VIADUCT_CHECK names the line of the program, not one of the entries.
line=$(grep -n '! here' "$folder/forgets.f90")
expect 0 "" "" "$mpifort" -g -o "$work/forgets" "$folder/forgets.f90"
if command -v addr2line >/dev/null; then
    expect 0 "" "~made at [^ ]*/forgets.f90:${line%%:*}$" env VIADUCT_CHECK=yes "$mpiexec" -n 1 "$work/forgets"
fi

# As many operations alive at once as may be, and one more, which is refused; the others work.
awk 'BEGIN {
    print "subroutine check(function, number, wrong)\nuse mpi\nexternal function\ninteger number, wrong, op, error, sum"
    print "call MPI_Op_create(function, .true., op, error)"
    print "if ((error == MPI_SUCCESS) .neqv. (number <= 1024)) wrong = wrong + 1\nif (error /= MPI_SUCCESS) return"
    print "call MPI_Allreduce(1, sum, 1, MPI_INTEGER, op, MPI_COMM_WORLD, error)"
    print "if (sum /= number) wrong = wrong + 1\nend subroutine"
    for (i = 1; i <= 1025; i++)
        print "subroutine f" i "(a, b, n, t)\ninteger a(*), b(*), n, t\nb(1:n) = " i "\nend subroutine"
    print "program many\nuse mpi\ninteger error, wrong"
    for (i = 1; i <= 1025; i++)
        print "external f" i
    print "wrong = 0\ncall MPI_Init(error)\ncall MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, error)"
    for (i = 1; i <= 1025; i++)
        print "call check(f" i ", " i ", wrong)"
    print "if (wrong == 0) print *, \"right\"\ncall MPI_Finalize(error)\nend program"
}' >"$work/operations.f90"
expect 0 "" "" "$mpifort" -O0 -o "$work/operations" "$work/operations.f90"
expect 0 "~^ *right.* right$" "" timeout 60 "$mpiexec" -n 2 "$work/operations"

# Warnings of a strict compiler, for the program alone.
expect 0 "" "" "$mpifort" -Wall -std=f2018 -c -o "$work/strict.o" "$folder/f08.f90"
expect 0 "" "" "$mpifort" -Wall -c -o "$work/strict.o" "$folder/fixed.f"

# A tree that nobody may write: the user's cache, made by eight at once.
mkdir -p "$work/tree/bin" "$work/tree/lib/viaduct/fortran"
cp "$VIADUCT_BIN/mpicc" "$work/tree/bin/mpifort"
cp "$VIADUCT_BUILD"/lib/viaduct/fortran/{mpi.f90,mpi_f08.f90,mplite.f90,mpif.h} "$work/tree/lib/viaduct/fortran"
cp -P "$VIADUCT_BUILD"/lib/lib{viaduct,mpi_abi,viaduct_mpifort}.so* "$work/tree/lib"
if [ "$(id -u)" -eq 0 ]; then
    chmod -R a+rX "$work"
    chmod 777 "$HOME"
    as() { setpriv --reuid 65534 --clear-groups "$@"; }
else
    chmod -R a-w "$work/tree/lib/viaduct"
    as() { "$@"; }
fi
pids=()
for i in {1..8}; do
    mkdir -p "$HOME/$i" && chmod 777 "$HOME/$i"
    (cd "$HOME/$i" && as "$work/tree/bin/mpifort" -c "$folder/f08.f90" >"$work/many$i" 2>&1) &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "one of eight at once: $(cat "$work"/many*)"; done
[ -z "$(cat "$work"/many*)" ] || fail "eight at once are not silent: $(cat "$work"/many*)"
[ "$(ls -d "$HOME"/.cache/viaduct/* | wc -l)" -eq 1 ] || fail "the cache holds: $(ls "$HOME"/.cache/viaduct)"
rm -rf "$HOME/.cache"
chmod 555 "$HOME"
[ "$(id -u)" -ne 0 ] || expect 1 "" "~^mpifort: the modules of gfortran could not be kept: neither [^ ]* nor [^ ]* may be written, or they are full$" \
    as "$work/tree/bin/mpifort" -c -o /dev/null "$folder/f08.f90"
chmod 755 "$HOME"

expect 1 "" "~^mpifort: -fdefault-integer-8 makes integers of 8 bytes" "$mpifort" -fdefault-integer-8 -c "$folder/f08.f90"
expect 1 "" "~^mpifort: /bin/false cannot compile the modules of MPI" "$mpifort" -fc=/bin/false -c "$folder/f08.f90"
expect 0 "viaduct_mpifort mpi_abi" "" "$mpifort" -showme:libs
finish
