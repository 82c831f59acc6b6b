# What a lost connection still delivers, late, lands nowhere: links are lost again and again while the provider
# holds puts back, and 20 ms later these are done all the same, by a connection that the other side had no reason to
# close but the fence. Each byte is checked.
# timeout: 60 waits: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 2
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
lab-link all all rate 400mbit
for side in 0 1; do
    FAULT=delay=10ms,late-put,ghosts=30,rank=$side LD_PRELOAD=$VIADUCT_BUILD/tests/libfault.so \
        timeout 30 $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/mixed" 6 $((7 + side)) >$work/said 2>$work/log ||
        fail "rank $side loses its links: the job ended badly: $(grep -v info: $work/log | tail -n 5)"
    grep -q "^all right" $work/said || fail "rank $side loses its links: not all right"
    late=$(grep -c "puts of a lost link to rank . are done late" $work/log)
    echo "rank $side lost a link with puts to come $late times: $(cat $work/said)"
    ((late >= 1)) || fail "rank $side never lost a link with puts to come"
done
finish
