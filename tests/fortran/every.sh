# MPI for Fortran by every compiler that is tested, one installation for all, all mixed in one job; one that is too old
# is refused in one sentence. All programs are built and run here by the oldest two; check.sh does that by the newest.
# presets: fortran
# timeout: 300 takes: 30
source "$VIADUCT_SOURCE/tests/lib/shell"
compilers=(gfortran-11 gfortran-12 flang-new-19 flang-new-22)
for compiler in "${compilers[@]}" flang-new-16; do
    command -v "$compiler" >/dev/null || skip "$compiler is not installed"
done
source "$VIADUCT_SOURCE/tests/fortran/programs/run"
programs_check gfortran-11 flang-new-19
programs_mix "${compilers[@]}"
expect 1 "" "~^mpifort: flang-new-16 cannot compile the modules of MPI; gfortran from 11 on and flang from 19 on can: [^
]*$" \
    "$mpifort" -fc=flang-new-16 -c "$folder/f08.f90"
finish
