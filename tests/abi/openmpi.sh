# A program that was built for Open MPI is refused with a sentence, not run as so many jobs of one rank. timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
type mpicc.openmpi >/dev/null 2>&1 || skip "Open MPI is not installed (apt install openmpi-bin libopenmpi-dev)"
[ -f "$VIADUCT_BUILD/lib/viaduct/mpich/libmpi.so.40" ] || skip "the libraries for programs of others are not built (VIADUCT_MPICH)"
cat >"$work/rank.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%d of %d\n", rank, size);
    MPI_Finalize();
}
END
mpicc.openmpi -w "$work/rank.c" -o "$work/rank" || fail "mpicc.openmpi does not compile"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
expect 127 "" "~built for Open MPI.*mpicc of Viaduct.*mpirun of Open MPI" $mpiexec -n 2 "$work/rank"
expect 127 "" "~built for Open MPI" $mpiexec -n 2 sh -c "$work/rank"
expect 0 "0 of 1" "~" $mpiexec --abi=none -n 1 "$work/rank"
expect 0 "hello" "" $mpiexec -n 1 echo hello
finish
