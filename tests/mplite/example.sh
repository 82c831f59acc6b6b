# The example of mplite, built like a user's program and started by the launcher; and a mistake in it ends the job.
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$VIADUCT_BIN/viaduct" ] || skip "the launcher was not built"
build="${CC:-cc} -I$VIADUCT_SOURCE/include -L$VIADUCT_BUILD/lib -Wl,-rpath,$VIADUCT_BUILD/lib"

$build -Wall -Wextra -Werror -o "$work/ring" "$VIADUCT_SOURCE/examples/mplite_ring.c" -lviaduct || exit 1
for n in 1 2 4 7; do
    out=$("$VIADUCT_BIN/viaduct" run -n $n "$work/ring") || fail "$n ranks: exit status $?"
    grep -q "^$n ranks, the token came back as $((n * (n - 1) / 2)) after" <<<"$out" || fail "$n ranks said: $out"
    grep -q "^the sum of what two ranks hold is $([ $n = 1 ] && echo 4999950000 || echo 9999900000)$" <<<"$out" ||
        fail "$n ranks said: $out"
done

cat >"$work/long.c" <<'C'
#include <mplite.h>
int main(int argc, char **argv)
{
    int me;
    char data[16] = "";
    MP_Init(&argc, &argv);
    MP_Myproc(&me);
    if (me == 0)
        MP_Send(data, 16, 1, 3);
    if (me == 1)
        MP_Recv(data, 8, 0, 3);
    MP_Sync();
    MP_Finalize();
    return 0;
}
C
$build -o "$work/long" "$work/long.c" -lviaduct || exit 1
"$VIADUCT_BIN/viaduct" run -n 3 "$work/long" >"$work/out" 2>&1
[ $? = 1 ] || fail "a message that is too long: the exit status is not 1"
[ "$(grep -c 'MP_Recv: a message of tag 3 came from rank 0 that is longer than the 8 bytes left of 8' "$work/out")" = 1 ] ||
    fail "a message that is too long: $(cat "$work/out")"

cat >"$work/both.c" <<'C'
#include <mpi.h>
#include <mplite.h>
#include <stdio.h>
/* The same ranks and tags at once, MPI's messages posted across those of mplite; a stream goes on inside MPI_Barrier. */
int main(int argc, char **argv)
{
    int me, n, provided, first[2] = {0, 0}, second = 0, sum, id;
    MPI_Request request;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MP_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    int next = (me + 1) % n, previous = (me + n - 1) % n, lite = 100 + me, other = 200 + me;
    MP_iARecv(first, 2, previous, 1, &id);
    MPI_Irecv(&second, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&other, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MP_iSend(&lite, 1, next, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MP_iSSend(&lite, 1, next, 1);
    MP_Wait(&id);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum = first[0] == 100 + previous && first[1] == 100 + previous && second == 200 + previous;
    MP_iSum(&sum, 1);
    MP_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (me == 0)
        printf("%d of %d\n", sum, n);
    return 0;
}
C
if [ -e "$VIADUCT_BUILD/lib/libmpi_abi.so" ]; then
    $build -o "$work/both" "$work/both.c" -lmpi_abi -lviaduct || exit 1
    out=$("$VIADUCT_BIN/viaduct" run -n 3 "$work/both" 2>&1)
    [ "$out" = "3 of 3" ] || fail "beside MPI: $out"
fi

echo '#include <mplite.h>' >"$work/cxx.cc"
if command -v c++ >/dev/null; then
    c++ -Wall -Wextra -Werror -I"$VIADUCT_SOURCE/include" -c -o "$work/cxx.o" "$work/cxx.cc" || fail "mplite.h is no C++"
fi
finish
