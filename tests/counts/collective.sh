#!/usr/bin/env bash
# What a blocking collective of 8 bytes executes on two ranks of a node, beside the waiting: instructions a call and rank
# (callgrind, the difference of N and 2N calls, without what vmsg_share_wait executes). Counted again up to six times, as a
# rank that another program keeps from its processor looks more often. The figures are those of tests/counts/recorded.
# timeout: 300 takes: 20
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/collective" ] || skip "no collective program was built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
few=1000 many=2000

instructions() { # KIND CALLS: of both ranks
    rm -f "$work"/count.*
    run 100 $mpiexec -n 2 valgrind --tool=callgrind --compress-strings=no --compress-pos=no \
        --callgrind-out-file="$work/count.%p" "$programs/collective" "$1" "$2"
    expect_status 0 "under callgrind"
    # "calls=" says what is called, by the last fn= and cfn=; the line behind it what that cost
    awk '/^fn=/ {from = substr($0, 4)} /^cfn=/ {to = substr($0, 5)}
         /^calls=/ {getline; if (from == "main" && to ~ /^P?MPI_(Barrier|Bcast|Allreduce)$/) sum += $2
                             if (to == "vmsg_share_wait") sum -= $2}
         END {printf "%d", sum}' "$work"/count.*
}

for kind in barrier bcast allreduce; do
    least=
    for time in 1 2 3 4 5 6; do
        a=$(instructions $kind $few) b=$(instructions $kind $many)
        each=$(((b - a) / ((many - few) * 2)))
        [ "$each" -gt 0 ] || fail "nothing was counted"
        [ -n "$least" ] && [ "$least" -le "$each" ] || least=$each
        within collective-instructions-$kind $least && break
    done
    counted collective-instructions-$kind $least
done
finish
