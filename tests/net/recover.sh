# After mpiexec --enable-recovery ranks of other hosts die, one by one or with their launcher, while they are called and while they are
# waited for: those who need them get VD_DEAD soon, on each host, go on with each other, and the job ends in order.
# timeout: 90 waits: 9
# presets: release asan tsan
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
mourn=$VIADUCT_BUILD/tests/programs/mourn
[ -x "$mourn" ] || skip "MPI was not built"

start() { # RANKS ARGUMENTS...: until all are at it
    local ranks=$1
    shift
    : >$work/said
    timeout -k 2 30 $mpiexec --enable-recovery "$@" >$work/said 2>$work/err & job=$!
    all() { [ "$(grep -c ' is ' $work/said)" = $ranks ]; }
    eventually 20 all || fail "not started: $(cat $work/said $work/err)"
    begun=$EPOCHREALTIME
}
pid_of() { awk -v rank=$1 '$2 == rank && $3 == "is" {print $4}' $work/said; }
helper_on() { # HOST: its launcher, not the watchdog
    local pid
    for pid in $(processes -x viaduct); do
        [ "$(readlink /proc/$pid/ns/net)" != "$(readlink /proc/$(</mnt/pid/$1)/ns/net)" ] || echo $pid
    done
}
mourned() { # STATUS SURVIVORS CAUSE WHAT. Heard in 15 s: by an event, since VIADUCT_PATIENCE is 30
    local status last
    wait $job
    status=$?
    [ -z "${silent:-}" ] || kill -CONT $silent
    [ $status = $1 ] || fail "$4: status $status, not $1: $(cat $work/err)"
    [ "$(grep -c "goes on" $work/said)" = $2 ] || fail "$4: $2 go on: $(cat $work/said $work/err)"
    grep -Eq "$3" $work/err && [ -z "$(grep -Eo "$3" $work/err | sort | uniq -d)" ] || fail "$4: the cause is not told once: $(cat $work/err)"
    last=$(awk '$3 == "mourns" {print $5}' $work/said | sort -n | tail -n 1)
    awk -v from=$begun -v to=${last:-0} -v most=15 'BEGIN {exit !(to - from < most)}' || fail "$4: killed at $begun, heard at $last"
    eventually 5 none_of -x "mourn|viaduct" || fail "$4: somebody is left: $(processes -ax "mourn|viaduct")"
}

# a server on h1, called and waited for from its own and both other hosts
start 6 -host h0:2,h1:2,h2:2 $mourn 2
kill -KILL $(pid_of 2)
mourned 137 5 "rank 2 .* on h1\) was killed by signal 9" "one of h1"

# all of h1 with its launcher
start 6 -host h0:2,h1:2,h2:2 $mourn 2 3
kill -KILL $(helper_on h1)
mourned 255 4 "host h1 is lost" "the launcher of h1"

# news from below: h1 calls h2; one after the other, until one is left
start 3 --fanout 1 -host h0,h1,h2 $mourn 0 2
kill -KILL $(pid_of 2)
kill -KILL $(pid_of 0)
mourned 137 1 "rank [02] .* on h[02]\) was killed by signal 9" "all but the one in the middle"

# who is in the middle takes those below with it
start 4 --fanout 1 -host h0:2,h1,h2 $mourn 2 3
kill -KILL $(helper_on h1)
mourned 255 2 "host h1 is lost" "the launcher in the middle"

# a host that falls silent, although its connections stay
start 6 --patience 2 -host h0:2,h1:2,h2:2 $mourn 2 3
silent=$(helper_on h1)
kill -STOP $silent $(pid_of 2) $(pid_of 3)
mourned 255 4 "host h1 is lost: it has been silent" "a silent host"

# before it has joined: the others are not kept in the first fence
printf '#!/bin/sh\n[ $PMI_RANK = 1 ] && exit 3\nexec "$@"\n' >$work/one
chmod +x $work/one
expect 3 $'somebody is dead before all have begun\nsomebody is dead before all have begun' "~rank 1 .* on h1\) ended with exit status 3" timeout 10 $mpiexec --enable-recovery -host h0,h1,h2 $work/one $mourn 1

# the same, on one host, of one that ends as if all were well
printf '#!/bin/sh\n[ $PMI_RANK = 1 ] && exit 0\nexec "$@"\n' >$work/one
expect 1 $'somebody is dead before all have begun\nsomebody is dead before all have begun' "~rank 1 .* ended without MPI_Init" timeout 10 $mpiexec --enable-recovery -n 3 $work/one $mourn 1

# a survivor may still end the job: once the launcher has told that the other one is dead
expect 137 "" "~rank 1 .* on h1\) was killed by signal 9.*rank 0 .* on h0\) ended the job with status 5" timeout 30 $mpiexec --enable-recovery -host h0,h1,h2 \
    bash -c '[ $PMI_RANK = 1 ] && kill -9 $$
        [ $PMI_RANK = 0 ] && until grep -q "killed by signal 9" '$work/err'; do sleep 0.05; done && echo "cmd=abort exitcode=5" >&$PMI_FD; sleep 100'
finish
