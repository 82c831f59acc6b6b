# Two sessions and MPI_Init in all orders of their beginnings and ends, each order in a process of its own, since MPI_Init is called
# once; what is open is used after each step.
# takes: 10 timeout: 120
source "$VIADUCT_SOURCE/tests/lib/shell"
sessions=$VIADUCT_BUILD/tests/test-mpi-sessions
[ -x "$sessions" ] || skip "the tests of MPI were not built"

orders() { # DONE A B W: all ways to go on with what is left of three rows of steps
    [ -n "$2$3$4" ] || echo "$1"
    [ -z "$2" ] || orders "$1${2:0:1}" "${2:1}" "$3" "$4"
    [ -z "$3" ] || orders "$1${3:0:1}" "$2" "${3:1}" "$4"
    [ -z "$4" ] || orders "$1${4:0:1}" "$2" "$3" "${4:1}"
}
tried=$(orders "" Aa Bb Ww; orders "" AaAa "" Ww)
[ "$(wc -l <<<"$tried")" -eq 105 ] || fail "not all orders: $tried"
for order in $tried; do
    for transports in shm,tcp tcp; do
        VIADUCT_TRANSPORTS=$transports timeout 10 "$mpiexec" -n 3 "$sessions" "$order" 2>"$work/said" ||
            fail "order $order over $transports: status $?: $(cat "$work/said")"
    done
done
finish
