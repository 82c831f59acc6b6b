# What mpiexec --report costs an exchange of 1 KiB: instructions (callgrind, the difference of N and 2N exchanges with the report, and
# the same without it) and no system call; and what it executes in a step of a halo exchange of 1 KiB (two MPI_Irecv, two MPI_Isend,
# MPI_Waitall). Without it no call of MPI goes through it. The figures are those of tests/counts/recorded.
# timeout: 300 takes: 12
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/exchange" ] || skip "no exchange program was built"
[ -f "$VIADUCT_BUILD/lib/libviaduct-profile.so" ] || skip "no libviaduct-profile.so was built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
few=400 many=800 batch=8
export BYTES=1024 BATCH=$batch
mkfifo "$work/0" "$work/1"

instructions() { # BATCHES: of both ranks
    rm -f "$work"/count.*
    run 100 $mpiexec $report -n 2 valgrind --tool=callgrind --toggle-collect=exchanges --callgrind-out-file="$work/count.%p" \
        "$programs/exchange" "$1" "$work"
    expect_status 0 "under callgrind"
    cat "$work"/count.* | awk '/^(summary|totals):/ {if ($1 == "totals:") sum += $2} END {printf "%d", sum}'
}
each() { # instructions of a send and its receive
    local a b
    a=$(instructions $few) b=$(instructions $many)
    echo $(((b - a) / ((many - few) * 2 * batch)))
}
recorded() { # STEPS: of a halo exchange; instructions that the library of the report executes, of both ranks
    rm -f "$work"/count.*
    run 100 $mpiexec $report -n 2 valgrind --tool=callgrind --compress-strings=no --compress-pos=no \
        --callgrind-out-file="$work/count.%p" "$programs/halo" - "$1"
    expect_status 0 "a halo exchange under callgrind"
    # "ob=" says whose the lines behind it are; behind "calls=" is what the call cost
    cat "$work"/count.* | awk '/^ob=/ {own = /libviaduct-profile/} /^calls=/ {getline; next}
                               /^[0-9]+ [0-9]+$/ {if (own) sum += $2} END {printf "%d", sum}'
}
calls() { # BATCHES: system calls but those of the fifos
    run 60 strace -f -qq -o "$work/calls" $mpiexec $report -n 2 "$programs/exchange" "$1" "$work"
    grep -cE '(futex|sched_yield|clock_gettime|sendto|recvfrom|poll|mmap|munmap|brk|madvise|process_vm_readv)\(' "$work/calls"
}
report=
without=$(each)
report="--report $work/page.html"
with=$(each)
grep -qF "<tr><td>MPI_Send<td>$((many * 2 * batch))<td>" $work/page.html || fail "the report has not counted $((many * 2 * batch)) sends"
echo "instructions of an exchange of 1 KiB: $without, with a report $with"
[ "$without" -gt 0 ] && [ "$with" -gt "$without" ] || fail "nothing was counted"
counted report-instructions $((with - without))
a=$(recorded 6400) b=$(recorded 12800)
[ "$b" -gt "$a" ] || fail "nothing was counted of a halo exchange"
counted report-halo-instructions $(((b - a) / (6400 * 2)))
if command -v strace >/dev/null; then
    a=$(calls 2000) b=$(calls 6000)
    echo "system calls of $((4000 * 2 * batch)) exchanges: $((b - a))"
    [ $((b - a)) -lt 640 ] || fail "an exchange with a report calls the kernel" # the clock decides of some
fi
finish
