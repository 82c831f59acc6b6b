# The tree of helpers: hosts that call further hosts. Places, output, input, exit statuses, signals and clean-up go all
# through it, whoever dies; what a helper cannot reach the head calls itself.
# timeout: 120 waits: 27
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 32 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
sorted() { "$@" | sort -n; }
all=h0:2$(printf ',h%d:2' {1..31})
deep=h0,h1,h2,h3,h4,h5,h6 # with a fan-out of 1 a chain, with 2 h3 is below h1 and h4 below h2
nobody() { none_of -f "sleep 101|viaduct helper"; }
there() { are "$1" -f "^sleep 101"; }
helper_of() { processes -x "viaduct|mpiexec" | while read -r pid; do # the launcher on that host, not its watchdog
    [ "$(nsenter -t "$pid" -u uname -n)" = "$1" ] && echo "$pid" && break; done; }

# places, output, labels, status, input and MPI, whatever the shape
want=$(for ((i = 0; i < 64; i++)); do echo "$i h$((i / 2))"; done)
for fanout in 1 2 5 32; do
    expect 0 "$want" "" sorted $mpiexec --fanout $fanout -host $all sh -c 'echo $PMI_RANK $(uname -n)'
done
expect 0 $'[0] h0\n[1] h1\n[2] h2\n[3] h3' "" sorted $mpiexec -l --fanout 1 -host h0,h1,h2,h3 uname -n
expect 9 "" "~rank 6 .* on h6\) ended with exit status 9" \
    $mpiexec --fanout 1 -host $deep sh -c 'test $PMI_RANK = 6 && exit 9; sleep 100'
seq 1 200000 >$work/numbers
$mpiexec --fanout 1 --stdin 4 -host $deep sh -c 'test $PMI_RANK = 4 && exec cat; exec cat >/dev/null' <$work/numbers >$work/got
cmp -s $work/numbers $work/got || fail "input for a rank deep in the tree is not the same"
expect 0 "64 met" "" timeout 60 $mpiexec --fanout 3 -host $all "$VIADUCT_BUILD/tests/programs/meet"
expect 0 "" "~rank 6 on h6" sh -c "$mpiexec --fanout 1 -host $deep sh -c 'echo rank \$PMI_RANK on \$(uname -n) >&2'"

# signals
trapper='trap "echo \$PMI_RANK; exit 0" USR1; while :; do (trap "" USR1; exec sleep 0.05); done'
$mpiexec --fanout 2 -host $deep sh -c "echo on; $trapper" >$work/out & head=$!
eventually 10 sh -c "test \$(grep -c on $work/out) = 7" || fail "not started"
kill -USR1 $head
wait $head || fail "a signal that the ranks took well: status $?"
[ "$(grep -v on $work/out | sort -n | tr '\n' ' ')" = "0 1 2 3 4 5 6 " ] || fail "not all heard the signal"

# whoever dies, nobody is left
for victim in h0 h1 h3 h6; do
    $mpiexec --fanout 1 -host $deep sleep 101 2>$work/err & head=$!
    eventually 10 there 7 || fail "not started"
    kill -KILL "$(helper_of $victim)"
    wait $head 2>/dev/null
    status=$?
    [ $victim = h0 ] || { [ $status = 255 ] && grep -q "host $victim is lost" $work/err; } ||
        fail "the helper of $victim was killed: $status $(cat $work/err)"
    eventually 4 nobody || fail "the helper of $victim was killed, somebody is left"
done
$mpiexec --fanout 2 -host $deep sleep 101 & head=$!
eventually 10 there 7 || fail "not started"
kill -TERM $head
wait $head
[ $? = 143 ] || fail "asked to end: status is not 143"
eventually 4 nobody || fail "asked to end, somebody is left"
expect 124 "" "~the time allowed" $mpiexec --fanout 1 -timeout 1 -host $deep sleep 100

# a host that stands still is given up, with everything that it has started
$mpiexec --patience 2 --fanout 1 -host $deep sleep 101 2>$work/err & head=$!
eventually 10 there 7 || fail "not started"
kill -STOP "$(helper_of h3)"
wait $head
[ $? = 255 ] && grep -q "host h3 is lost: it has been silent" $work/err || fail "a helper stands still: $(cat $work/err)"
still=$(helper_of h3)
[ -z "$still" ] || kill -KILL $still # a host that is dead does this by itself
eventually 4 nobody || fail "a helper stood still, somebody is left"

# the head's host loses its power: nothing ends, nothing comes any more. Each host ends by itself; a head that was stopped
# from its terminal has said so
$mpiexec --patience 2 --fanout 2 -host $deep sleep 101 2>$work/err & head=$!
eventually 10 there 7 || fail "not started"
kill -STOP $head
eventually 6 there 1 || fail "the head stands still: $(processes -f "^sleep 101" | wc -l) ranks are left"
eventually 3 none_of -f "viaduct helper" || fail "the head stands still, a helper is left"
kill -KILL $head
wait $head 2>/dev/null
eventually 4 nobody || fail "the head is dead, somebody is left"
$mpiexec --patience 2 --fanout 1 -host h0,h1,h2 sleep 101 2>$work/err & head=$!
eventually 10 there 3 || fail "not started"
kill -TSTP $head
sleep 4
there 3 || fail "the head was stopped from the terminal, and the job is gone"
kill -CONT $head
eventually 5 sh -c "! ps -o stat= -p $head | grep -q T" || fail "continued, and it stands still"
kill -TERM $head
wait $head
[ $? = 143 ] || fail "stopped and continued: $(cat $work/err)"

# agents that do not work everywhere, always, or at all
printf '#!/bin/sh\n[ $(uname -n) = h0 ] || { echo "no key" >&2; exit 255; }\nexec lab-rsh "$@"\n' >$work/from-head
printf '#!/bin/sh\n[ -f %s/$1 ] || { echo "$1: connection refused" >&2; exit 255; }\nexec lab-rsh "$@"\n' $work >$work/late
printf '#!/bin/sh\nexec sleep 101\n' >$work/deaf
chmod +x $work/from-head $work/late $work/deaf
expect 0 "7 met" "" timeout 30 $mpiexec --agent $work/from-head --fanout 2 -host $deep "$VIADUCT_BUILD/tests/programs/meet"
expect 255 "" "~^viaduct: cannot start ranks on far: .*resolve hostname far \(after [0-9.]+ s\)$" \
    $mpiexec --fanout 1 -host h0,h1,h2,far sleep 100
expect 255 "" "~waiting for h1: h1: connection refused \(5 s\).*cannot start ranks on h1: h1: connection refused \(after 6" \
    $mpiexec --patience 6 --agent $work/late -host h1 true
(sleep 2; touch $work/h2) & touch $work/h1
expect 0 $'h1\nh2' "" sorted $mpiexec --patience 20 --fanout 1 --agent $work/late -host h1,h2 uname -n
$mpiexec --agent $work/deaf -host h1 true & head=$!
eventually 5 there 1 || fail "the deaf agent was not started"
kill -KILL $head
eventually 2 nobody || fail "the launcher was killed, its agent is left"
finish
