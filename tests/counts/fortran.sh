#!/usr/bin/env bash
# What MPI_Send of 8 bytes costs in each binding for Fortran beside C: instructions (callgrind, 10,000 sends to MPI_PROC_NULL),
# of an array and of a scalar; 60 at most.
# timeout: 120 takes: 15
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
command -v valgrind >/dev/null || skip "valgrind is not installed"
[ -e "$VIADUCT_BUILD/lib/libviaduct_mpifort.so" ] || skip "this build is without Fortran"
export HOME=$work/home
mkdir "$HOME"
cd "$work" || exit 1

cat >c.c <<'C'
#include <mpi.h>
int main(int count, char **arguments)
{
    double x = 1;
    (void)arguments;
    MPI_Init(0, 0);
    for (int i = 0; i < (count - 1) * 10000; i++)
        MPI_Send(&x, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
C
program() { # HEAD INCLUDE SHAPE IERROR
    cat <<F
      program sends
$1
      implicit none
$2
      integer ierror, i
      double precision x$3
      call MPI_Init(ierror)
      do i = 1, 10000 * command_argument_count()
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD$4)
      end do
      call MPI_Finalize(ierror)
      end
F
}
program "      use mpi_f08" "" "(1)" "" >f08.f90
program "      use mpi_f08" "" "" "" >f08_scalar.f90
program "      use mpi" "" "(1)" ", ierror" >mpi.f90
program "" "      include 'mpif.h'" "(1)" ", ierror" >mpif.f90
"$VIADUCT_BUILD/bin/mpicc" -O2 -o c c.c || fail "mpicc"
each() { # PROGRAM: instructions of a send, to $count
    local none all
    for sends in "" x; do
        run 60 valgrind --tool=callgrind --callgrind-out-file="$work/count$sends" "./$1" $sends
        expect_status 0 "$1 under callgrind"
    done
    none=$(awk '/^(summary|totals):/ {print $2; exit}' "$work/count") all=$(awk '/^(summary|totals):/ {print $2; exit}' "$work/countx")
    count=$(((all - none) / 10000))
}
each c
c=$count
echo "C: $c instructions of a send"
[ "$c" -gt 50 ] || fail "nothing was counted: $c instructions of a send in C"
for binding in f08 f08_scalar mpi mpif; do
    "$VIADUCT_BUILD/bin/mpifort" -O2 -o $binding $binding.f90 || fail "mpifort $binding.f90"
    each $binding
    more=$((count - c))
    echo "$binding: $more instructions more than C"
    [ "$more" -gt 0 ] && [ "$more" -le 60 ] || fail "$binding: a send takes $more instructions more than in C, 60 at most"
done
finish
