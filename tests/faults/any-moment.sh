#!/usr/bin/env bash
# A rank, or the launcher, is killed from outside at moments that nobody chose: while the program is loaded, in MPI_Init,
# in traffic, in MPI_Finalize. The job ends within 2 s, one sentence names rank, pid and signal; nobody is left.
# timeout: 120 takes: 3 beside: 1
set -u
. "$VIADUCT_SOURCE/tests/lib/shell"
RANDOM=20251
victim=$scratch/victim-$$
cp "$programs/victim" "$victim" || skip "no victim was built"
caught=0 launchers=0

doze() { read -rt "$1" <> <(:); } # a sleep without a process
start() { # starts a job of some ranks and some length; it is $job
    ranks=$((1 + RANDOM % 8))
    local mode=("99 9 finalize" "99 9 large")
    : >"$scratch/err" # the moment may come before our child opens it
    # shellcheck disable=SC2086
    $mpiexec -n $ranks "$victim" ${mode[RANDOM % 2]} >"$scratch/out" 2>"$scratch/err" </dev/null &
    job=$!
    local us=$((RANDOM % 40 * (RANDOM % 1000)))
    doze "0.$(printf %06d $us)"
}
over() { # WHAT: waits for the end of the job; $status, and $spent since $from
    wait $job 2>/dev/null
    status=$? spent=$(((${EPOCHREALTIME/./} - from) / 1000))
    [ "$status" -eq 0 ] || [ "$spent" -lt 2000 ] || wrong "$1: took $spent ms"
    no_process "^$victim" "$1"
}

for round in $(seq 60); do
    start
    mapfile -t there < <(pgrep -P $job -f "^$victim")
    [ ${#there[@]} -gt 0 ] || there=(0)
    pid=${there[RANDOM % ${#there[@]}]} from=${EPOCHREALTIME/./}
    [ "$pid" -eq 0 ] || kill -KILL "$pid" 2>/dev/null
    over "round $round: pid $pid of $ranks ranks killed"
    [ $status -ne 0 ] || continue # it was over before
    caught=$((caught + 1))
    expect_status 137 "round $round"
    expect_err "^viaduct: rank [0-7] \(pid $pid on [^ ]*\) was killed by signal 9 \(Killed\)(; its last MPI call was MPI_[A-Z][a-z]+)?$" "round $round"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || { wrong "round $round: more than one line"; cat "$scratch/err"; }
done
for round in $(seq 40); do
    start
    from=${EPOCHREALTIME/./}
    kill -KILL $job 2>/dev/null
    over "round $round: the launcher of $ranks ranks killed"
    [ $status -eq 0 ] || launchers=$((launchers + 1))
    expect_silence "round $round: the launcher was killed"
done
[ $caught -gt 5 ] && [ $launchers -gt 5 ] || wrong "only $caught ranks and $launchers launchers were alive when their moment came"
echo "$caught ranks and $launchers launchers killed"
finish
