# viaduct stuck sees the ranks of all hosts.
# timeout: 60 waits: 8
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
$mpiexec -host h0,h1,h2 -n 6 --fanout 1 $VIADUCT_BUILD/tests/programs/hang cycle >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"
says() { $VIADUCT_BIN/viaduct stuck $job >$work/stuck 2>&1; grep -q "^a cycle of 3: rank 1, which waits for 2, which waits for 3" $work/stuck; }
eventually 15 says || fail "stuck says: $(cat $work/stuck)"
$VIADUCT_BIN/viaduct jobs $job >$work/jobs
for host in h0 h1 h2; do
    [ "$(grep -c " on $host, " $work/jobs)" -eq 2 ] || fail "$host: $(cat $work/jobs)"
done
kill -TERM $job
wait $job 2>/dev/null

# a rank alone on its host
$mpiexec -host h0,h1 -n 2 $VIADUCT_BUILD/tests/programs/hang tag >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"
alone() { $VIADUCT_BIN/viaduct stuck $job >$work/stuck 2>&1; grep -q "^rank 1 waits .*: the tag differs" $work/stuck; }
eventually 15 alone || fail "stuck says: $(cat $work/stuck)"
kill -TERM $job
wait $job 2>/dev/null
finish
