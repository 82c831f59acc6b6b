#!/usr/bin/env bash
# What a message over verbs costs, both ends together, on the double of libibverbs: instructions (callgrind, without those of the
# double), calls of the kernel and of malloc, requests, doorbells, receives and registrations; and how often 8 KiB are copied. Each is
# the difference of two runs. Instructions: the least of three, as sockets are looked at by the clock. The figures are those of
# tests/counts/recorded.
# timeout: 300 takes: 20
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
double=$VIADUCT_BUILD/tests/verbs
[ -e "$double/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
[ -x "$programs/exchange" ] || skip "no exchange program was built"
command -v valgrind >/dev/null || skip "valgrind is not installed"
export LD_LIBRARY_PATH=$double VIADUCT_TRANSPORTS=verbs DOUBLE_MEMORY=$work/memory
few=200 many=400 batch=16
messages=$(((many - few) * 2 * batch))
mkfifo "$work/0" "$work/1"

# What our libraries execute, and what they call: "instructions N", "kernel N", "allocations N".
under_callgrind() { # BATCHES
    rm -f "$work"/count.* "$work/memory"
    run 100 $mpiexec -n 2 valgrind --tool=callgrind --compress-strings=no --compress-pos=no \
        --callgrind-out-file="$work/count.%p" "$programs/exchange" "$1" "$work"
    expect_status 0 "under callgrind"
    # "calls=" says what is called, by the last ob= and by cob= and cfn=; the line behind it what that cost
    cat "$work"/count.* | awk '
        /^ob=/ { from = substr($0, 4) } /^cob=/ { to = substr($0, 5) } /^cfn=/ { name = substr($0, 5); sub(/@.*/, "", name) }
        /^calls=/ { times = substr($1, 7); to = to ? to : from; getline
                    if (to ~ /libibverbs/ && from !~ /libibverbs/) all -= $2
                    if (from ~ /libviaduct|libmpi/ && name ~ /^(malloc|calloc|realloc|aligned_alloc)$/) heap += times
                    if (from ~ /libviaduct|libmpi/ && name ~ /^(poll|read|write|recv|send|sendmsg|recvmsg|ioctl|syscall|sched_yield)$|_wait$/)
                        kernel += times
                    to = "" }
        /^totals:/ { all += $2 }
        END { printf "instructions %d\nkernel %d\nallocations %d\n", all, kernel, heap }'
}
# "sends N" and so on, of both processes; LIBRARY: loaded beforehand
on_the_double() { # BATCHES [LIBRARY]
    rm -f "$work/memory" "$work/counts" "$work/copies"
    DOUBLE_COUNTS=$work/counts COPIES=$work/copies run 60 env ${2:+LD_PRELOAD=$2} $mpiexec -n 2 "$programs/exchange" "$1" "$work"
    expect_status 0 "on the double"
    cat "$work/counts" "$work/copies" 2>/dev/null |
        awk '{ for (i = 1; i < NF; i += 2) sum[$i] += $(i + 1) } END { for (name in sum) print name, sum[name] }'
}
of_a_hundred() { # NAME FILE FILE: the difference, of a hundred messages, rounded
    awk -v name="$1" -v messages=$messages '$1 == name { b = a; a = $2; found++ }
        END { if (found != 2) exit 1; printf "%d", (a - b) * 100 / messages + .5 }' "$2" "$3" || fail "$1 was not counted"
}
at_most() { # NAME MOST VALUE WHAT
    echo "of a hundred messages $1: $3"
    [ "$3" -le "$2" ] || fail "$4: $3 of a hundred messages"
}

least=
for time in 1 2 3; do
    under_callgrind $few >"$work/a"
    under_callgrind $many >"$work/b"
    each=$(($(of_a_hundred instructions "$work/a" "$work/b") / 100))
    [ "$each" -gt 0 ] || fail "nothing was counted"
    [ -n "$least" ] && [ "$least" -le "$each" ] || least=$each
done
counted verbs-instructions-8 $least
at_most "calls of the kernel" 10 "$(of_a_hundred kernel "$work/a" "$work/b")" "a message calls the kernel"
at_most "calls of malloc" 0 "$(of_a_hundred allocations "$work/a" "$work/b")" "a message allocates"

many=4200 messages=$(((many - few) * 2 * batch))
on_the_double $few >"$work/a"
on_the_double $many >"$work/b"
at_most "requests" 104 "$(of_a_hundred sends "$work/a" "$work/b")" "more than one request"
at_most "doorbells" 104 "$(of_a_hundred doorbells "$work/a" "$work/b")" "more than one doorbell"
at_most "receives" 104 "$(of_a_hundred receives "$work/a" "$work/b")" "more than one receive"
at_most "registrations" 0 "$(of_a_hundred registered "$work/a" "$work/b")" "a message registers memory"

many=1200 messages=$(((many - few) * 2 * batch))
export BYTES=8192
on_the_double $few "$double/copies.so" >"$work/a"
on_the_double $many "$double/copies.so" >"$work/b"
counted verbs-copies-of-8-KiB-percent "$(of_a_hundred copies "$work/a" "$work/b")"
at_most "registrations of 8 KiB" 0 "$(of_a_hundred registered "$work/a" "$work/b")" "8 KiB are registered"
finish
