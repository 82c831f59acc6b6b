# viaduct jobs and stuck, and what the launcher says when it is asked: ranks that wait for each other in several ways.
# timeout: 300 takes: 40
source "$VIADUCT_SOURCE/tests/lib/shell"
viaduct=$VIADUCT_BIN/viaduct

begin() { # RANKS WAY: $job is the launcher's pid
    : >$work/said.err # what the job before has said is none of this one's
    # a job that a script starts in the background has QUIT ignored, and so do we then
    env --default-signal=QUIT $mpiexec -n $1 $programs/hang $2 >$work/said 2>$work/said.err &
    job=$!
    eventually 20 grep -q there $work/said.err || fail "$2: not started: $(cat $work/said.err)"
}
end() { kill -TERM $job; wait $job 2>/dev/null; }

# stuck says all SENTENCES of the job; it may need another look, as ranks sleep when they have waited for a while
says() {
    timed $viaduct stuck $job >$work/stuck 2>&1
    [ $? -eq 1 ] || return 1
    for sentence in "$@"; do grep -qE -- "$sentence" $work/stuck || return 1; done
}
hangs() { # RANKS WAY SENTENCE...
    begin $1 $2
    eventually 10 says "${@:3}" || fail "$2: stuck says: $(cat $work/stuck)"
    end
}

hangs 16 cycle "^a cycle of 3: rank 1, which waits for 2, which waits for 3, which waits for 1$" \
    "^    rank 2 waits [0-9.]+ s in MPI_Recv for a message from rank 3 with tag 4 on MPI_COMM_WORLD$"
hangs 4 collectives "^ranks 0, 2, 3 wait in MPI_Barrier on MPI_COMM_WORLD$" "^rank 1 waits in MPI_Bcast on MPI_COMM_WORLD$"
hangs 3 tag "^rank 1 waits .* with tag 5 on MPI_COMM_WORLD; a message from rank 0 with tag 6 .*: the tag differs$"
hangs 3 communicator "^rank 1 waits .* a message from rank 0 with tag 5 on communicator [0-9]+ has come .*: the communicator differs$"
hangs 3 sender "^rank 1 waits .* from rank 2 with tag 5 on MPI_COMM_WORLD; a message from rank 0 with tag 5 .*: the sender differs$"
for ways in all tcp; do # in a half of 8 ranks, rank 4 is the third, and 6 the fourth
    [ $ways = all ] || export VIADUCT_TRANSPORTS=$ways
    hangs 8 halves "^ranks 0, 2, 6 wait in MPI_Barrier on communicator [0-9]+ \(ranks 0, 2, 4, 6\)$" \
        "^    rank 4 does not: it waits [0-9.]+ s in MPI_Recv for a message from rank 6 with tag 4 on communicator [0-9]+, where it is rank 3$" \
        "^ranks 1, 3, 7 wait in MPI_Bcast on communicator [0-9]+ \(ranks 1, 3, 5, 7\)$" \
        "^    rank 5 does not: it waits [0-9.]+ s in MPI_Recv for a message from rank 7 with tag 4 on communicator [0-9]+, where it is rank 3$"
    [ $(grep -c . $work/stuck) -eq 4 ] || fail "more is said of halves: $(cat $work/stuck)"
    [ $(grep -o "communicator [0-9]*" $work/stuck | sort -u | wc -l) -eq 1 ] || fail "halves have several numbers: $(cat $work/stuck)"
done
unset VIADUCT_TRANSPORTS
hangs 40 mixed "^ranks 1, 2, 3, 4, 5, 6, 7, 8 and 31 more wait in MPI_Barrier on communicator [0-9]+ \(ranks [0-9, ]* and 32 more\)$" \
    "^    rank 0 does not: it waits .* in MPI_Recv for a message from rank 1 with tag 4 on MPI_COMM_WORLD$" \
    "^    which ranks its last [0-9]+ members are is not known here$"
hangs 4 loop "^ranks 0, 1, 2 wait in MPI_Barrier on MPI_COMM_WORLD$" "^    rank 3 does not: it computes; its last call is MPI_Barrier$"
hangs 3 gone "^rank 1 waits .*; rank 0 is in MPI_Finalize and will not do its part$"
hangs 3 large "the tag differs$" "rank 0 waits .* in MPI_Send until rank 1 takes a message of 1048576 bytes with tag 8"
hangs 3 orders "^rank 0 waits [0-9.]+ s in MPI_Comm_create_group until all of its group call it with tag 11 on MPI_COMM_WORLD$" \
    "^rank 1 waits [0-9.]+ s in MPI_Comm_create_group until all of its group call it with tag 12 on MPI_COMM_WORLD$"
hangs 2 leaders "^rank 0 waits .* in MPI_Intercomm_create .* with tag 20 .* from rank 1 with tag 21 .*: the tag differs$"
hangs 2 texts "^rank 1 waits [0-9.]+ s in MPI_Comm_create_from_group until all of its group call it with the same string tag$"
VIADUCT_TRANSPORTS=tcp hangs 3 tag "^rank 1 waits .*: the tag differs$" # without shared memory
in_a_second stuck

# jobs, by the launcher's pid and by a rank's; a stopped rank
begin 4 cycle
waits() { $viaduct jobs $job >$work/jobs && [ "$(grep -cE '^rank [0-3] \(pid [0-9]+ on .*waits .* in MPI_Recv' $work/jobs)" -eq 4 ]; }
eventually 10 waits || fail "jobs says: $(cat $work/jobs)"
$viaduct jobs >$work/all
grep -qE "^ *$job  hang +4 +[0-9]+ s  (all|some) wait" $work/all || fail "jobs lists: $(cat $work/all)"
rank=$(sed -n 's/^rank 1 (pid \([0-9]*\) .*/\1/p' $work/jobs)
kill -STOP $rank
stopped() { $viaduct jobs $rank | grep -qE '^rank 1 .*is stopped'; }
eventually 5 stopped || fail "a stopped rank: $($viaduct jobs $rank)"
kill -CONT $rank

# the launcher is asked by signals, and goes on
for signal in QUIT USR2; do
    : >$work/said.err
    kill -$signal $job
    eventually 5 grep -q "^viaduct: a cycle of 3: rank 1, which waits for 2, which waits for 3" $work/said.err || fail "$signal: said $(cat $work/said.err)"
done
kill -0 $job || fail "a signal that asks has ended the job"
end

# native stacks, on a signal and when the time allowed is over; without gdb it is said
if type gdb >/dev/null 2>&1; then
    mpiexec="$mpiexec --get-stack-traces" begin 3 tag
    kill -USR2 $job
    stacks() { [ "$(grep -cE '^viaduct: stack of rank [0-2] \(pid [0-9]+\):$' $work/said.err)" -eq 3 ] && grep -q "^viaduct:     #[0-9].* main " $work/said.err; }
    eventually 30 stacks || fail "USR2 shows no stacks: $(cat $work/said.err)"
    kill -0 $job || fail "a signal that asks for stacks has ended the job"
    end
    expect 124 "" "~the time allowed \(1 s\) is over.*stack of rank 0 .*#[0-9]+ .*stack of rank 1 .*MPI_Recv.* main " \
        $mpiexec --timeout 1 --get-stack-traces -n 3 $programs/hang tag
else
    echo "not tried: stacks (gdb is not installed)"
fi
mkdir -p $work/bare && ln -sf $programs/hang $work/bare/hang
expect 124 "" "~the tag differs.*no stacks: gdb cannot be started .*install gdb" \
    env PATH=$work/bare $(type -P env) $mpiexec --timeout 1 --get-stack-traces -n 3 $programs/hang tag

# the time allowed is over
expect 124 "" "~the time allowed \(1 s\) is over.*rank 1 .* waits .* in MPI_Recv .*the tag differs" \
    $mpiexec --timeout 1 -n 3 $programs/hang tag

# a job in which nothing moves says so by itself, once
begin_hint() { : >$work/said.err; VIADUCT_STUCK=1s $mpiexec -n $1 $programs/hang $2 >$work/said 2>$work/said.err & job=$!; }
begin_hint 4 cycle
hinted() { grep -qE "^viaduct: warning: all ranks have waited in MPI for 1 s, and nothing moves" $work/said.err; }
whole() { hinted && grep -qE "^viaduct:     rank 3 waits .* in MPI_Recv for a message from rank 1 with tag 4" $work/said.err; }
eventually 20 whole || fail "nothing is said of a cycle: $(cat $work/said.err)"
grep -q "What viaduct stuck $job says" $work/said.err || fail "the tool is not named: $(cat $work/said.err)"
lines=$(wc -l <$work/said.err)
looks() { [ "$(grep -c 'with tag 4 on MPI_COMM_WORLD$' $work/jobs)" -eq 4 ] && grep -qE 'rank 0 .* waits ([4-9]|[0-9]{2,})\.' $work/jobs; }
again() { $viaduct jobs $job >$work/jobs; looks; } # it has had time for four more looks
eventually 20 again || fail "jobs says: $(cat $work/jobs)"
[ "$(wc -l <$work/said.err)" -eq "$lines" ] || fail "it is said again: $(cat $work/said.err)"
end
says_nothing() { # STUCK RANKS WAY
    VIADUCT_STUCK=$1 expect 124 "" "~the time allowed .* is over" $mpiexec --timeout 4 -n $2 $programs/hang $3
    ! grep "nothing moves" $work/err || fail "$3 with VIADUCT_STUCK=$1: $(cat $work/err)"
}
says_nothing 1s 4 loop # one of them computes
says_nothing 2s 4 thread # in half a second beside other tests it may get no processor at all
says_nothing 1s 4 slow_thread
THREADS=1 says_nothing 1s 4 sleeper # it may send when it wakes, but not where one thread alone may call MPI
for ways in sleeper waiters pool; do
    if [ $ways = waiters ]; then export THREADS=1; fi
    begin_hint 4 $ways
    eventually 20 hinted || fail "nothing is said of $ways: $(cat $work/said.err)"
    end
done
unset THREADS
says_nothing 0 4 cycle

# ranks that tell nothing: they do not call MPI, or by another build
expect 124 "" "~the time allowed \(1 s\) is over.*no rank tells what it does: either none has called MPI_Init" \
    $mpiexec --timeout 1 -n 2 sleep 30

: >$work/said.err
$mpiexec -n 2 sh -c 'echo there >&2; exec sleep 30' >$work/said 2>$work/said.err &
job=$!
eventually 20 grep -q there $work/said.err || fail "sleep: not started"
expect 2 "" "~viaduct stuck: no rank tells what it does: either none has called MPI_Init" $viaduct stuck $job
expect 0 "" "~viaduct jobs: no rank tells what it does: either none has called MPI_Init" $viaduct jobs $job
end

# nothing is stuck
$mpiexec -n 2 $programs/hang >$work/out 2>&1 || fail "a job that hangs in no way"

# wrong
expect 2 "" "~no is no PID" $viaduct stuck no
expect 2 "" "~-3 is no PID" $viaduct jobs -3
expect 2 "" "~x is no PID" $viaduct jobs 1 x
expect 1 "" "~there is no process 4194303" $viaduct jobs 4194303
expect 2 "" "~process $$ is neither the launcher nor a rank of a job" $viaduct stuck $$
expect 0 "~usage: viaduct jobs" "" $viaduct jobs --help
expect 0 "~usage: viaduct stuck" "" $viaduct stuck -h
finish
