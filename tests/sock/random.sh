# Random calls on connections that move to shared memory and back: the same bytes and no error, as without the preload.
# timeout: 180 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/random
sock="$VIADUCT_BIN/viaduct sock"
rounds=${ROUNDS:-25}

# round NAME COMMAND...: seeds, each with three connections
round() {
    local name=$1 seed
    shift
    for ((seed = FIRST_SEED; seed < FIRST_SEED + rounds; seed++)); do
        run 60 "$@" "$program" "$seed" 3 1500000
        expect_status 0 "$name, seed $seed"
        expect_silence "$name, seed $seed"
    done
}
FIRST_SEED=${CHECK_SEED:-1}
round plain env
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
round ours $sock --
round "at once" $sock --after 0 --
round "one processor" taskset -c 0 $sock --after 3 --
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -ge $((rounds * 6)) ] || fail "of $((rounds * 18)) ends only $joined were joined"
VIADUCT_SOCK=off round off $sock --
finish
