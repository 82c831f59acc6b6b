# viaduct stuck sees the ranks of all hosts.
# timeout: 60 waits: 8
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
VIADUCT_STUCK=2s $mpiexec -host h0,h1,h2 -n 6 --fanout 1 $VIADUCT_BUILD/tests/programs/hang cycle >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"
says() { timed $VIADUCT_BIN/viaduct stuck $job >$work/stuck 2>&1; [ $? -eq 1 ] && grep -q "^a cycle of 3: rank 1, which waits for 2, which waits for 3" $work/stuck; }
eventually 15 says || fail "stuck says: $(cat $work/stuck)"
in_a_second stuck
hinted() { grep -q "all ranks have waited in MPI for 2 s, and nothing moves" $work/said && grep -q "a cycle of 3: rank 1" $work/said; }
eventually 15 hinted || fail "the launcher says nothing: $(cat $work/said)"
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

# another launcher: the ranks of this host, and it is said that there are others
if type mpiexec.hydra >/dev/null 2>&1; then
    (trap "" PIPE && exec mpiexec.hydra -launcher rsh -launcher-exec lab-rsh -iface eth0 -hosts h0,h1,h2 -ppn 2 -n 6 \
        $VIADUCT_BUILD/tests/programs/hang cycle) >$work/said 2>&1 &
    job=$!
    eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"
    # (processes of all hosts of the laboratory are seen: one job a host)
    partly() { $VIADUCT_BIN/viaduct stuck $($VIADUCT_BIN/viaduct jobs | awk 'NR == 2 { print $1 }') >$work/stuck 2>&1; grep -q "^2 of 6 ranks are seen, those of this host" $work/stuck; }
    eventually 15 partly || fail "stuck says: $(cat $work/stuck)"
    kill -TERM $job
    wait $job 2>/dev/null
fi
finish
