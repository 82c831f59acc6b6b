#!/usr/bin/env bash
# What one 8-byte send and its receive execute when the message and the credit are there: instructions (callgrind, the
# difference of N and 2N exchanges), system calls (none), allocations (none). Over the network: what reliability costs with
# one healthy rail, in instructions, and a system call for a send, one for many receives. All of it for one thread and where several
# may call. The figures are those of tests/counts/recorded.
# timeout: 600 takes: 16
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/exchange" ] || skip "no exchange program was built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
few=200 many=400 batch=16
mkfifo "$work/0" "$work/1"

instructions() { # BATCHES: of both ranks
    rm -f "$work"/count.*
    run 100 $mpiexec -n 2 valgrind --tool=callgrind --toggle-collect=exchanges --callgrind-out-file="$work/count.%p" \
        "$programs/exchange" "$1" "$work"
    expect_status 0 "under callgrind"
    cat "$work"/count.* | awk '/^(summary|totals):/ {if ($1 == "totals:") sum += $2} END {printf "%d", sum}'
}
allocations() {
    run 100 $mpiexec -n 2 valgrind --log-file="$work/heap.%p" "$programs/exchange" "$1" "$work"
    cat "$work"/heap.* | awk '/total heap usage/ {gsub(",", ""); sum += $5} END {printf "%d", sum}'
    rm -f "$work"/heap.*
}
calls() { # system calls but those of the fifos
    run 60 strace -f -qq -o "$work/calls" $mpiexec -n 2 "$programs/exchange" "$1" "$work"
    grep -cE '(futex|sched_yield|sendto|recvfrom|sendmsg|recvmsg|epoll_wait|poll|mmap|munmap|brk|madvise|process_vm_readv)\(' "$work/calls"
}
moves() { grep -cE '(sendto|recvfrom|sendmsg|recvmsg)\(' "$work/calls"; } # of those

measure() { # MODE
    local a b each
    a=$(instructions $few) b=$(instructions $many)
    each=$(((b - a) / ((many - few) * 2 * batch)))
    [ "$each" -gt 0 ] || fail "nothing was counted"
    counted exchange-instructions-$1 $each

    a=$(allocations $few) b=$(allocations $many)
    echo "allocations of $(((many - few) * 2 * batch)) exchanges: $((b - a))"
    # a rank whose barrier finds a message before its receive takes a slab of 4 KiB, once
    [ $((b - a)) -le 2 ] || fail "an exchange allocates"

    if command -v strace >/dev/null; then
        a=$(calls 2000) b=$(calls 4000)
        echo "system calls of $((2000 * 2 * batch)) exchanges: $((b - a))"
        [ $((b - a)) -lt 400 ] || fail "an exchange calls the kernel" # start and end vary by some
    fi
}
measure_far() { # MODE
    local a b each data others
    a=$(instructions $few) b=$(instructions $many)
    each=$(((b - a) / ((many - few) * 2 * batch)))
    [ "$each" -gt 0 ] || fail "nothing was counted"
    counted exchange-far-instructions-$1 $each
    if command -v strace >/dev/null; then
        a=$(calls $few) data=$(moves) b=$(calls $many) data=$(($(moves) - data))
        each=$((data * 100 / ((many - few) * 2 * batch))) others=$(((b - a - data) * 100 / ((many - few) * 2 * batch)))
        echo "over the network, of a hundred exchanges: $each system calls that send and receive, $others others"
        [ $each -le 112 ] || fail "$each system calls that send and receive of a hundred exchanges"
        [ $others -le 50 ] || fail "$others other system calls of a hundred exchanges" # the clock decides of some
    fi
}
each_over() { # COMM: instructions of an exchange over such a communicator
    echo $((($(COMM=$1 instructions $many) - $(COMM=$1 instructions $few)) / ((many - few) * 2 * batch)))
}
measure_inter() {
    local twin inter
    twin=$(each_over twin) inter=$(each_over inter)
    echo "instructions of an exchange over a duplicate of the world: $twin, over an intercommunicator: $inter"
    [ "$twin" -gt 0 ] && [ $((inter * 100)) -le $((twin * 102)) ] || fail "an intercommunicator costs $inter, not $twin"
}
measure single
THREADS=1 measure threads
measure_inter
export VIADUCT_TRANSPORTS=tcp
measure_far single
THREADS=1 measure_far threads
finish
