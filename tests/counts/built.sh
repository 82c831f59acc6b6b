#!/usr/bin/env bash
# What 8 bytes cost a program that was built for MPICH or Open MPI, beside the same one built with our mpicc: instructions
# (callgrind, 10,000 times a receive, a send to itself and a wait); 10 more at most for MPICH, whose handles are numbers as
# ours are, 50 for Open MPI, whose handles are addresses that are looked up. bench/fortran has the times.
# timeout: 400 takes: 8
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v valgrind >/dev/null || skip "valgrind is not installed"
abis=$VIADUCT_BUILD/lib/viaduct/abi
[ -e "$abis/libmpich.so.12" ] || skip "this build is without other ABIs"
cd "$work" || exit 1

cat >own.c <<'C'
#include <mpi.h>
int main(int count, char **arguments)
{
    double x = 1, y = 0;
    MPI_Request request;
    MPI_Status status;
    (void)arguments;
    MPI_Init(0, 0);
    for (int i = 0; i < (count - 1) * 10000; i++) {
        MPI_Irecv(&y, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
        MPI_Send(&x, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
    }
    return MPI_Finalize();
}
C
each() { # COMPILER: instructions of one turn, to $count
    local turns none all
    "$1" -O2 -w -o "${1##*/}.out" own.c || fail "$1"
    for turns in "" x; do
        LD_LIBRARY_PATH=$abis run 60 valgrind --tool=callgrind --callgrind-out-file="$work/count$turns" "./${1##*/}.out" $turns
        expect_status 0 "the program of $1 under callgrind"
    done
    none=$(awk '/^(summary|totals):/ {print $2; exit}' count) all=$(awk '/^(summary|totals):/ {print $2; exit}' countx)
    count=$(((all - none) / 10000))
}
each "$VIADUCT_BIN/mpicc"
own=$count compared=
echo "built with our mpicc: $own instructions"
[ "$own" -gt 100 ] || fail "nothing was counted: $own instructions"
for row in mpich:10 openmpi:50; do
    command -v "mpicc.${row%:*}" >/dev/null || continue
    each "mpicc.${row%:*}"
    compared=yes
    echo "built for ${row%:*}: $((count - own)) more"
    [ $((count - own)) -le "${row#*:}" ] || fail "built for ${row%:*}: $((count - own)) instructions more, ${row#*:} at most"
done
[ -n "$compared" ] || skip "neither MPICH nor Open MPI is installed"
finish
