# Packed messages and remote calls while links fail: channels over all cards and over each of two, calls both ways; connections
# are reset, a link is cut and mended. A channel that is bound to a card uses it alone, and waits while it is away.
#   RESETS in so many times 0.4 s (make soak: longer)
# timeout: 120 waits: 11
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 2
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
resets=${RESETS:-10} period=$((${RESETS:-10} * 2 / 5 + 6))
lab-link all all rate 200mbit

timeout $((period + 60)) $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/pieces" $period >$work/said 2>$work/log & job=$!
eventually 20 grep -q "each over its card" $work/said || fail "not alone on their cards: $(grep -v info: $work/log)"
for ((i = 0; i < resets; i++)); do
    lab-link h$((RANDOM % 2)) $((RANDOM % 2)) reset one
    sleep 0.4
done
lab-link h1 1 cut
sleep 2
lab-link h1 1 restore
lab-link all all reset
wait $job || fail "the job ended badly: $(grep -v "info:" $work/log | tail -n 5)"
echo "$(tail -n 1 $work/said), rails down $(grep -c "rail .*to rank . is down" $work/log) times"
grep -q "^all right" $work/said || fail "not all right: $(cat $work/said)"
grep -q "rail .*to rank . is down" $work/log || fail "no link was lost"
finish
