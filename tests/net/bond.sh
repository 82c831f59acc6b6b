# All cards carry, unequal ones too, and a cable that is pulled costs bandwidth and nothing else. Links of 100 Mbit/s: what is
# compared are seconds, so the bars are lower than those of bench/bond.
# timeout: 90 clock: 1 takes: 26
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 3
ticks=$work/ticks
source "$VIADUCT_SOURCE/tests/net/meter.bash"
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
meter() { # SECONDS
    timeout $(($1 + 20)) $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/meter" 1048576 8 "$1" >$ticks 2>$work/log
}
links() { # COUNT
    for ((link = 0; link < 3; link++)); do
        lab-link all $link rate 100mbit
        lab-link all $link restore
        ((link < $1)) || { lab-link h0 $link cut; lab-link h1 $link cut; }
    done
}
speed() { # SECONDS
    meter "$1" || fail "the job ended badly: $(tail -n 3 $work/log)"
    total
}

links 1
one=$(speed 2)
links 2
two=$(speed 3)
echo "one link $one MB/s, two $two"
least "$two" "$(times $one 1.8)" || fail "two links are no faster than one: $two MB/s, not 1.8 times $one"

links 3
lab-link all 1 rate 30mbit
lab-link all 2 rate 10mbit
sum=$(speed 8)
echo "1:3:10 $sum MB/s"
least "$sum" "$(times $one 1.26)" || fail "unequal links: $sum MB/s, not 1.26 times $one"

# One of three cut in the middle, and mended.
links 3
meter 10 & job=$!
sleep 3
"$VIADUCT_BIN/viaduct" info --net >$work/net
for card in eth0 eth1 eth2; do
    share=$(sed -n "s/^$card .* MB sent by jobs now (\([0-9]*\) %)$/\1/p" $work/net)
    ((${share:-0} >= 25 && share <= 42)) || fail "$card carries ${share:-nothing} %, not a third: $(cat $work/net)"
done
lab-link h1 1 cut
cut=$EPOCHREALTIME
sleep 3
lab-link h1 1 restore
mended=$EPOCHREALTIME
wait $job || fail "a cable was pulled, the job ended badly: $(tail -n 3 $work/log)"
before=$(between 0 $cut) lost=$(reached $cut "$(times $one 1.7)") back=$(reached $mended "$(times $one 2.5)")
echo "three links $before MB/s; one cut: two links' speed after $lost s; mended: three links' after $back s"
least "$before" "$(times $one 2.5)" || fail "three links: $before MB/s"
least 2 "$lost" || fail "one of three cut: the speed of two links after $lost s"
least 5 "$back" || fail "one of three mended: the speed of three links after $back s"
finish
