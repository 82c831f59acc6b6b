# The completion queue holds whatever may complete at once: a device that has room for so few entries that queue pairs
# share them loses no completion. One that has too few for all peers takes some of them, and TCP the others. And a
# receive queue that is empty costs nothing but time; it gets more receives then.
# presets: release asan
# timeout: 200 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory DOUBLE_COUNTS=$work/counts VIADUCT_LOG=info
most() { # NAME: the largest of all processes
    awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name && $(i + 1) > most) most = $(i + 1) }
        END { print most + 0 }' "$work/counts"
}
job() { # ENTRIES PROGRAM WHAT
    rm -f "$work/memory" "$work/counts"
    DOUBLE_CQES=$1 run 60 "$mpiexec" -n 8 "$VIADUCT_BUILD/tests/test-mpi-$2"
    expect_status 0 "$3: $2"
    [ "$(most overruns)" -eq 0 ] || fail "$3: a completion queue has overflowed"
    [ "$(most sends)" -gt 0 ] || fail "$3: the double was not used"
}
for program in random collective; do
    VIADUCT_TRANSPORTS=verbs job 65536 $program "any number"
    [ "$(most entries)" -le 2314 ] || fail "eight ranks have queues of $(most entries)"
    VIADUCT_TRANSPORTS=verbs job 450 $program "few"
    [ "$(most entries)" -gt 400 ] || fail "few: queues have $(most entries)"
done
rm -f "$work/memory" "$work/counts"
VIADUCT_TRANSPORTS=verbs run 60 "$mpiexec" -n 8 "$programs/starved" "$work"
expect_status 0 "a receive queue that is empty"
expect_out 'all right' "a receive queue that is empty"
! grep -q 'is down' "$work/err" || fail "a receive queue that is empty costs a rail: $(grep 'is down' "$work/err")"
[ "$(most empties)" -gt 0 ] || fail "the receive queue was not empty"
[ "$(most held)" -gt 200 ] || fail "the queue was not made longer: $(most held) receives"
VIADUCT_TRANSPORTS=verbs,tcp job 300 random "too few"
expect_err 'double0 has a completion queue of [0-9]+, enough for [1-6] connections' "too few"
finish
