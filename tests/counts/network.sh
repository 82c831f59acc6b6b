#!/usr/bin/env bash
# What the network costs in system calls: nothing while ranks of one node talk, though a rank of another node is connected;
# no socket at all where all ranks are on one node; few writes for a burst of small messages.
# timeout: 90
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -x "$programs/beside" ] || skip "no program was built"
command -v strace >/dev/null || skip "strace is not installed"
cat >"$work/split" <<'SPLIT'
#!/bin/sh
[ "$PMI_RANK" = 2 ] && VIADUCT_NODE=there || VIADUCT_NODE=here
export VIADUCT_NODE
unset VIADUCT_JOB_SEAT
exec "$@"
SPLIT
chmod +x "$work/split"

# calls NAMES COMMAND...: how many of these system calls there are, in all processes; others are not slowed down
calls() {
    local names=$1
    shift
    rm -f "$work/calls"
    run 60 strace -f --seccomp-bpf -qq -e "trace=$names" -o "$work/calls" "$@"
    expect_status 0 "under strace"
    grep -c '(' "$work/calls"
}

# The counters of both ranks. The network is asked by the clock, every 4 ms, before a sleep, and now and then while the peer does
# not run; what may not be is that an exchange asks.
talk() { # MODE
    run 60 $mpiexec -n 3 "$work/split" "$programs/beside" 200000
    expect_status 0 "talking on one node"
    [ "$(grep -c '^asked' "$work/out")" -eq 2 ] || fail "nothing was counted: $(cat "$work/out" "$work/err")"
    while read -r _ _ _ asked _ _ slept _ _ yielded _ ms _; do
        echo "200000 exchanges in shared memory, $1: the network was asked or read $asked times; $slept sleeps, $yielded yields, $ms ms"
        [ "$asked" -lt $((10000 + ms / 3 + slept * 8)) ] || fail "talking on one node asks the network"
    done < <(grep '^asked' "$work/out")
}
talk single
THREADS=1 talk threads

run 60 strace -ff -qq -o "$work/here" $mpiexec -n 2 "$programs/exchange" 0 "$work"
sockets=$(cat "$(grep -l 'programs/exchange' "$work"/here.* | head -1)" | grep -cE 'socket\(AF_(INET|NETLINK)|epoll_create')
[ "$sockets" -eq 0 ] || fail "a job of one node opens $sockets sockets"

export VIADUCT_TRANSPORTS=tcp
for mode in single threads; do
    [ $mode = single ] || export THREADS=1
    a=$(calls sendmsg $mpiexec -n 2 "$programs/burst" 10)
    b=$(calls sendmsg $mpiexec -n 2 "$programs/burst" 110)
    echo "writes of 6400 messages of 8 bytes in bursts of 64, $mode: $((b - a))"
    [ $((b - a)) -lt 2400 ] || fail "messages of a burst do not leave together" # alone it is 6400; how many vary with the processors
done
finish
