# Connections are reset at random under mixed, checked traffic of six ranks on six hosts, two threads each: nothing is lost, nothing comes twice,
# nothing out of order.
#   RESETS in PERIOD seconds, SEED, THREADS of a rank (make soak: many more resets)
# timeout: 120 waits: 47
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 6 2
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
resets=${RESETS:-30} period=${PERIOD:-45} seed=${SEED:-$RANDOM}
RANDOM=$seed
lab-link all all rate 200mbit

timeout $((period + 45)) $mpiexec -host h0,h1,h2,h3,h4,h5 "$VIADUCT_BUILD/tests/programs/mixed" $period $seed 4194304 ${THREADS:-2} >$work/said 2>$work/log & job=$!
sleep 1
start=${EPOCHREALTIME/./} step=$(((period - 8) * 1000000 / resets)) # each at a random moment of its own span
for ((i = 0; i < resets; i++)); do
    left=$((start + i * step + RANDOM * (step / 1000) / 33 - ${EPOCHREALTIME/./}))
    ((left <= 0)) || sleep "$((left / 1000000)).$(printf %06d $((left % 1000000)))"
    kill -0 $job 2>/dev/null || break
    lab-link h$((RANDOM % 6)) $((RANDOM % 2)) reset one
done
((i == resets)) || fail "only $i resets"
wait $job || fail "seed $seed, after $i resets: the job ended badly: $(grep -v "info:" $work/log | tail -n 5)"
downs=$(grep -c "rail .*to rank . is down" $work/log)
echo "seed $seed: $i resets, rails down $downs times: $(cat $work/said)"
grep -q "^all right" $work/said || fail "seed $seed: not all right"
((downs >= resets / 2)) || fail "of $resets resets only $downs were noticed: $(tail -n 3 $work/log)"
finish
