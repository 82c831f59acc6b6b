# Signals to the launcher, and nobody left behind however it ends.
# timeout: 90
source "$VIADUCT_SOURCE/tests/lib/shell"
mark=4242$$ # the sleepers of this run

sleepers() { processes -f "sleep $mark"; }
gone() { none_of -f "sleep $mark"; }
at_least_12() { [[ $(processes -f "^sleep $mark" | wc -l) -ge 12 ]]; }
lines() { [[ -f $1 && $(wc -l <$1) -ge $2 ]]; }

begin() { # FLAGS...: starts the launcher, waits until its ranks are there; $job is its pid
    rm -f $work/there
    env -u BASH_ENV $mpiexec -n 3 bash -c "$1" >$work/out 2>$work/err &
    job=$!
    eventually 10 lines $work/there 3 || fail "the ranks did not come up"
}

after() { # STATUS SENTENCE
    wait $job 2>/dev/null
    local status=$?
    [[ $status == "$1" ]] || fail "status $status, not $1"
    same "$2" "$(cat $work/err)" || fail "said: $(cat $work/err)"
    eventually 3 gone || { fail "left behind: $(sleepers)"; sleepers | xargs -r kill -9; }
}

# passed on as it was sent; the ranks decide
for signal in INT TERM HUP; do
    begin "trap 'echo $signal >>$work/heard; exit 0' $signal; echo >>$work/there; while :; do sleep 0.05; done"
    rm -f $work/heard
    # a job that a script starts in the background has INT ignored, and so do we then
    [[ $signal == INT ]] && { kill -TERM $job; after 143 ""; continue; }
    kill -$signal $job
    after 0 "~" # the shells say what their sleep died of
    lines $work/heard 3 || fail "$signal did not reach all ranks"
done

# not heard: the status is 128 + signal, without a word
begin "echo >>$work/there; exec sleep $mark"
kill -TERM $job
after 143 ""

# a second time: at once
begin "trap '' TERM; echo >>$work/there; while :; do sleep $mark; done"
kill -TERM $job
sleep 0.2
kill -TERM $job
after 143 ""

# the user's signal; those that ask what the ranks do, as tests/tools/stuck.sh has it, do not reach them
begin "trap 'echo 1 >>$work/usr; [ -f $work/end ] && exit 0' USR1; echo >>$work/there; while :; do sleep 0.02; done"
rm -f $work/usr
kill -USR2 $job
kill -QUIT $job
kill -USR1 $job
eventually 5 lines $work/usr 3 || fail "USR1 did not reach all ranks"
touch $work/end
kill -USR1 $job
after 0 "~"
rm -f $work/end

# stop and continue
begin "echo >>$work/there; exec sleep $mark"
kill -TSTP $job
stopped() { [[ $(ps -o stat= -p "$(processes -f "^sleep $mark" | paste -sd,)" $job | grep -c '^T') == 4 ]]; }
awake() { [[ $(ps -o stat= -p "$(processes -f "^sleep $mark" | paste -sd,)" $job | grep -c '^T') == 0 ]]; }
eventually 5 stopped || fail "TSTP does not stop the job"
kill -CONT $job
eventually 5 awake || fail "CONT does not continue it"
kill -TERM $job
after 143 ""

# the launcher is killed: ranks, their children, and those who went their own way
begin "sleep $mark & setsid sleep $mark & (setsid sh -c 'setsid sleep $mark & sleep $mark' &) ; echo >>$work/there; sleep $mark"
eventually 5 at_least_12
kill -KILL $job
after 137 "~"

# stopped, then killed
begin "echo >>$work/there; exec sleep $mark"
kill -STOP $job
kill -KILL $job
after 137 "~"

# what a rank leaves running when it ends well
expect 0 "" "" $mpiexec -n 2 sh -c "setsid sleep $mark & (sleep $mark &) ; exit 0"
eventually 3 gone || { fail "left behind"; sleepers | xargs -r kill -9; }

# a job in a job: killing the outer launcher ends the inner one
begin "echo >>$work/there; exec $mpiexec -n 2 sh -c 'sleep $mark & sleep $mark'"
eventually 5 at_least_12
kill -KILL $job
after 137 "~"

# one rank is killed: the others end, one sentence says so
begin "echo \$\$ >>$work/there; exec sleep $mark"
kill -KILL $(head -1 $work/there)
after 137 "~^viaduct: rank [0-2] \(pid $(head -1 $work/there) on [^ ]+\) was killed by signal 9 \(Killed\)$"
finish
