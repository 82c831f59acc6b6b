# A peer that no rail leads to for the time that is allowed is reported dead, once, with host, address and last error; a rank that
# was killed is told apart from that.
# timeout: 120 waits: 27
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 2
ticks=$work/ticks
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_PATIENCE=4s
lab-link all all rate 100mbit
start() {
    : >$ticks
    timeout 60 $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/meter" 1048576 8 ${1:-20} >$ticks 2>$work/log & job=$!
    eventually 10 grep -q tick $ticks || fail "not started: $(cat $work/log)"
}
gone() { # WHAT: dead when 4 s are over, told once
    local status
    wait $job
    status=$?
    ((status != 0 && status != 124)) || fail "$1: the job ended with status $status"
    grep -E "no rail to rank [01] on h[01] \(10\.77\.0\.[12]\) for 4 s; the last error: connecting from" $work/log >$work/lines ||
        fail "$1: no sentence with rank, host, address and error: $(cat $work/log)"
    ! grep "shm: rank" $work/log || fail "$1: another cause is told"
    [ "$(grep -c "] error: " $work/lines)" -le 2 ] || fail "$1: told more than once a rank: $(cat $work/log)"
    ! grep -E "has died|process of the job is gone" $work/log || fail "$1: nobody has died"
    echo "$1: $(head -n 1 $work/lines)"
}

start
lab-link h1 all cut
gone "all cables pulled"
lab-link h1 all restore

start
lab-link h1 all mute
gone "all packets vanish"
lab-link h1 all restore

# What was sent last never arrives, and the next call is MPI_Finalize: the sender does not end well.
: >$work/go
timeout 60 $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/oneway" $work/go >$ticks 2>$work/log & job=$!
eventually 10 grep -q met $ticks || fail "not started: $(cat $work/log)"
lab-link h1 all mute
rm $work/go
gone "all packets vanish before the last message"
grep -q "rank [01] .* ended the job with status .* no rail to rank" $work/log || fail "the sender has ended well: $(cat $work/log)"
lab-link h1 all restore

# One link has been away for longer than that, then the other one fails for a moment: nobody is dead.
start 9
lab-link h1 1 cut
sleep 6
lab-link h1 0 reset
wait $job || fail "one link long away, the other one reset: $(cat $work/log)"
lab-link h1 1 restore

# killed: the launcher's one sentence, and none about links, which would be the first if it were not heard at once
start
kill -KILL $(processes -x meter | tail -n 1)
wait $job
status=$?
[ $status = 137 ] || fail "a rank was killed: status $status"
grep -q "was killed by signal 9" $work/log || fail "a rank was killed: $(cat $work/log)"
! grep -E "10\.77|lost" $work/log || fail "a rank was killed, and links are blamed: $(cat $work/log)"
finish
