# bench/coll-model with all parameters given, so that it measures nothing: every kind has its rows, by the way that the
# table names; what two of them take was counted by hand.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v python3 >/dev/null || skip "python3 is not installed"
model=$VIADUCT_SOURCE/bench/coll-model
given="line=0.1 turn=2 message=1 next=0.1 copy=10 read=10 latency=10 gap=1 band=10"

row() { # KIND BYTES WAY STEPS MESSAGES MB US, the last ones as patterns
    expect_out "^$1 +$2 +$3 +$4 +$5 +$6 +$7\$" "$1 of $2 bytes"
}
any='[0-9]+'
number='[0-9]+[.][0-9]+'

# Each master hears of its node (1 us); over a tree of two the last word comes after two hops (20), and back; 1 us more.
run 20 "$model" -n 4 -r 2 $given
expect_status 0 "4 nodes of 2 ranks"
expect_silence "4 nodes of 2 ranks"
row barrier 0 masters 6 6 0[.]000 42[.]0
# To three masters with 1 us between them, and to the other rank of a node.
row bcast 8 masters 2 4 0[.]000 13[.]0
row allreduce 1048576 slices $any $any 1[.]573 $number
# A rank of each node to its master (1 us), two steps of 10 us among these, with 1 us more before each, and back (1).
row allgather 8 masters 4 6 0[.]000 24[.]1
row allgather 65536 slices $any $any $number $number
row alltoall 65536 message $any $any $number $number

run 20 "$model" -n 1 -r 8 $given
expect_status 0 "8 ranks on a node"
row barrier 0 block 1 0 0[.]000 1[.]6
row reduce 65536 direct 4 0 $number $number
row allreduce 65536 desk $any 0 $number $number
row alltoall 1024 desk $any 0 $number $number

run 40 "$model" $given
expect_status 0 "1024 nodes of 128 ranks"
for kind in bcast reduce allreduce; do
    row $kind 16777216 slices $any $any $number $number
done
row alltoall 8 slices $any $any $number $number

for wrong in band=0 bend=1 band "-n 1 -r 1"; do
    run 20 "$model" $given $wrong
    expect_status 2 "$wrong"
done
finish
