# MPI for Fortran under the address and undefined sanitizers, by a compiler of each family.
# presets: asan
# timeout: 300 takes: 70
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
preload=$(gcc -print-file-name=libasan.so)
[ -e "$preload" ] || skip "libasan of gcc is not installed"
cd "$work" || exit 1
for compiler in gfortran flang-new-19; do
    command -v "$compiler" >/dev/null || continue
    # The linker warns of functions in the sanitizer's library.
    for file in fixed.f module.f90 f08.f90 sections.f90 derived.f90 wrong.f90 \
        callbacks.f90 texts.f90 handles.f90 random.F90; do
        [ "$file $compiler" != "random.F90 flang-new-19" ] || continue # it knows no variables of assumed rank
        expect 0 "" "~" "$VIADUCT_BIN/mpifort" -fc="$compiler" -o "$work/program" \
            "$VIADUCT_SOURCE/tests/fortran/programs/$file"
        expect 0 "~^ *right$" "" timeout 100 "$mpiexec" -n 2 env LD_PRELOAD="$preload" "$work/program"
    done
done
finish
