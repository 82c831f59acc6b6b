# MPI for Fortran: each program of this folder, by each compiler that is here, and all of them mixed in one job; the
# modules are made once for each, by several at once, and where the tree may not be written in the user's cache.
# timeout: 240 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
mpifort=$VIADUCT_BIN/mpifort
folder=$VIADUCT_SOURCE/tests/fortran/programs
export HOME=$work/home
mkdir -p "$HOME"
cd "$work" || exit 1 # where the modules of the programs go

compilers=()
for compiler in gfortran gfortran-11 gfortran-12 gfortran-13 flang-new-19 flang-19 flang-new-22 flang-22; do
    command -v "$compiler" >/dev/null && compilers+=("$compiler")
done

for compiler in "${compilers[@]}"; do
    for file in fixed.f module.f90 f08.f90 sections.f90; do
        expect 0 "" "" "$mpifort" -fc="$compiler" -o "$work/${file%.*}-$compiler" "$folder/$file"
        expect 0 "~^ *right$" "" timeout 60 "$mpiexec" -n 4 "$work/${file%.*}-$compiler"
    done
    expect 0 "" "" "$mpifort" -fc="$compiler" -c -o "$work/across.f.o" "$folder/across.f90"
    expect 0 "" "" "$VIADUCT_BIN/mpicc" -c -o "$work/across.c.o" "$folder/across.c"
    expect 0 "" "" "$mpifort" -fc="$compiler" -o "$work/across" "$work/across.c.o" "$work/across.f.o"
    expect 0 "right" "" timeout 60 "$mpiexec" -n 3 "$work/across"
done
for program in fixed module f08; do # one job of all of them
    mixed=()
    for compiler in "${compilers[@]}"; do
        mixed+=(: -n 1 "$work/$program-$compiler")
    done
    expect 0 "~^ *right$" "" timeout 60 "$mpiexec" "${mixed[@]:1}" : -n 1 "$work/$program-gfortran"
done

# Warnings of a strict compiler, for the program alone.
expect 0 "" "" "$mpifort" -Wall -std=f2018 -c -o "$work/strict.o" "$folder/f08.f90"
expect 0 "" "" "$mpifort" -Wall -c -o "$work/strict.o" "$folder/fixed.f"

# A tree that nobody may write: the user's cache, made by eight at once.
mkdir -p "$work/tree/bin" "$work/tree/lib/viaduct/fortran"
cp "$VIADUCT_BIN/mpicc" "$work/tree/bin/mpifort"
cp "$VIADUCT_BUILD"/lib/viaduct/fortran/{mpi.f90,mpi_f08.f90,mpif.h,stamp} "$work/tree/lib/viaduct/fortran"
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
[ "$(id -u)" -ne 0 ] || expect 1 "" "~^mpifort: the modules of gfortran could not be kept: neither [^ ]* nor a cache of yours may be written$" \
    as "$work/tree/bin/mpifort" -c -o /dev/null "$folder/f08.f90"
chmod 755 "$HOME"

expect 1 "" "~^mpifort: -fdefault-integer-8 makes integers of 8 bytes" "$mpifort" -fdefault-integer-8 -c "$folder/f08.f90"
expect 1 "" "~^mpifort: /bin/false cannot compile the modules of MPI" "$mpifort" -fc=/bin/false -c "$folder/f08.f90"
expect 0 "viaduct_mpifort mpi_abi" "" "$mpifort" -showme:libs
finish
