#!/usr/bin/env bash
# A halo exchange on a 4 x 4 grid of 4 hosts with 4 ranks each: with `reorder` two thirds of the bytes go between hosts that
# go in the order of rows, as the cards of the hosts count them.
# timeout: 90 waits: 10
# presets: release
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 4 1
[ -x "$programs/reorder" ] || skip "no reorder program was built"
export HYDRA_LAUNCHER_EXEC=lab-rsh

sent() { # by all hosts so far
    local all=0 host
    for host in h0 h1 h2 h3; do
        all=$((all + $(lab-rsh $host cat /sys/class/net/eth0/statistics/tx_bytes)))
    done
    echo $all
}
exchange() { # bytes between hosts, in $bytes
    local before=$(sent)
    run 40 $mpiexec -host h0:4,h1:4,h2:4,h3:4 "$programs/reorder" blocks 40
    expect_status 0 "an exchange"
    bytes=$(($(sent) - before))
}
exchange
expect_out "^square 8 round 8$" "in blocks"
blocks=$bytes
export VIADUCT_REORDER=no
exchange
expect_out "^square 12 round 12 stayed$" "in rows"
echo "$blocks bytes between hosts in blocks, $bytes in rows"
[ $((bytes / 40)) -ge $((24 * 65536)) ] || fail "only $bytes bytes of 40 exchanges in rows"
[ $((blocks * 100)) -le $((bytes * 68)) ] || fail "$blocks bytes in blocks, of $bytes in rows"
finish
