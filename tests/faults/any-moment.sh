#!/usr/bin/env bash
# A rank, or the launcher, is killed from outside at moments that nobody chose: while the program is loaded, in MPI_Init,
# in traffic, in MPI_Finalize. The job ends, one sentence names rank, pid and signal; nobody is left.
# timeout: 120 takes: 3
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
RANDOM=20251
victim=$work/victim-$$
cp "$programs/victim" "$victim" || skip "no victim was built"
caught=0 launchers=0

doze() { read -rt "$1" <> <(:); } # a sleep without a process
start() { # starts a job of some ranks and some length; it is $job
    ranks=$((1 + RANDOM % 8))
    local mode=("99 9 finalize" "99 9 large")
    : >"$work/err" # the moment may come before our child opens it
    # shellcheck disable=SC2086
    $mpiexec -n $ranks "$victim" ${mode[RANDOM % 2]} >"$work/out" 2>"$work/err" </dev/null &
    job=$!
    local us=$((RANDOM % 40 * (RANDOM % 1000)))
    doze "0.$(printf %06d $us)"
}
ended() { ! kill -0 $job 2>/dev/null; }
over() { # WHAT: waits for the end of the job; $status
    eventually 10 ended || { fail "$1: the job does not end"; kill -KILL $job; }
    wait $job 2>/dev/null
    status=$?
    no_process "^$victim" "$1"
}

for round in $(seq 60); do
    start
    mapfile -t there < <(pgrep -P $job -f "^$victim") # of our job alone
    [ ${#there[@]} -gt 0 ] || there=(0)
    pid=${there[RANDOM % ${#there[@]}]}
    [ "$pid" -eq 0 ] || kill -KILL "$pid" 2>/dev/null
    over "round $round: pid $pid of $ranks ranks killed"
    [ $status -ne 0 ] || continue # it was over before
    caught=$((caught + 1))
    expect_status 137 "round $round"
    expect_err "^viaduct: rank [0-7] \(pid $pid on [^ ]*\) was killed by signal 9 \(Killed\)(; its last MPI call was MPI_[A-Z][a-z]+)?$" "round $round"
    [ "$(wc -l <"$work/err")" -eq 1 ] || { fail "round $round: more than one line"; cat "$work/err"; }
done
for round in $(seq 40); do
    start
    kill -KILL $job 2>/dev/null
    over "round $round: the launcher of $ranks ranks killed"
    [ $status -eq 0 ] || launchers=$((launchers + 1))
    expect_silence "round $round: the launcher was killed"
done
[ $caught -gt 5 ] && [ $launchers -gt 5 ] || fail "only $caught ranks and $launchers launchers were alive when their moment came"
echo "$caught ranks and $launchers launchers killed"
finish
