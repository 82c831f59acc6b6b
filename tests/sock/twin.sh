# A million random calls on two connections at once, of which one goes to shared memory and back: all give the same on both. With
# children and threads, joined at once and after a while, with one processor and all. STEPS, CHECK_SEED: more of it, see scripts/soak.
# timeout: 3000 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
twin=$VIADUCT_BUILD/tests/sock/twin
sock="$VIADUCT_BIN/viaduct sock"
steps=${STEPS:-1000000} seed=${CHECK_SEED:-1}
compared() { # NAME STEPS COMMAND...
    local name=$1 steps=$2
    shift 2
    for ((i = 0; i < 4; i++)); do
        run 1000 "$@" "$twin" $((seed + i)) $((steps / 4))
        expect_status 0 "$name, seed $((seed + i))"
        expect_silence "$name, seed $((seed + i))"
    done
}
compared plain $((steps / 20)) env
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
compared "after 8 calls" $((steps * 6 / 10)) $sock --
compared "at once" $((steps * 2 / 10)) $sock --after 0 --
compared "one processor" $((steps * 2 / 10)) taskset -c 0 $sock --after 40 --
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -gt $((steps / 2000)) ] || fail "in $steps steps only $joined ends were joined"
finish
