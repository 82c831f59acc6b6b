# Programs built for MPICH, for Open MPI and with our mpicc are ranks of one job: one program, built three times.
# timeout: 150 takes: 5 presets: fortran
source "$VIADUCT_SOURCE/tests/lib/shell"
for other in mpich openmpi; do
    type mpicc.$other >/dev/null 2>&1 || skip "$other is not installed (apt install libmpich-dev libopenmpi-dev)"
done
[ -d "$VIADUCT_BUILD/lib/viaduct/abi" ] || skip "the libraries for other ABIs are not built (VIADUCT_ABIS)"
for compiler in "$VIADUCT_BIN/mpicc" mpicc.mpich mpicc.openmpi; do
    $compiler -O1 -w "$VIADUCT_SOURCE/tests/abi/mixed.c" -o "$work/${compiler##*/}" || fail "$compiler does not compile mixed.c"
done
job() { expect 0 "0 wrong" "" "$mpiexec" -n 2 "$work/$1" : -n 2 "$work/$2" : -n 2 "$work/$3"; }
job mpicc mpicc.mpich mpicc.openmpi
job mpicc.openmpi mpicc mpicc.mpich
export VIADUCT_CHECK=yes # with it, too, nobody is accused
job mpicc.mpich mpicc.openmpi mpicc
VIADUCT_TRANSPORTS=tcp job mpicc mpicc.mpich mpicc.openmpi
finish
