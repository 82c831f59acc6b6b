# What is the kernel's in an epoll set, and what is in rings: neither waits for long because the other is always ready. With work of
# 0.1 ms between calls both are told of in each call that has room for both, and in every second one where there is room for one.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
run 20 "$VIADUCT_BIN/viaduct" sock --after 0 -- "$VIADUCT_BUILD/tests/sock/turns"
expect_status 0 "a joined connection and a pipe"
[ "$(grep -c 'is joined' "$work/log")" -eq 2 ] || fail "the connection was not joined"
least() { # ROOM WORK CONNECTION PIPE
    read -r connection pipe < <(sed -n "s/^room $1 work $2: connection \([0-9]*\) pipe \([0-9]*\)$/\1 \2/p" "$work/out")
    [ "${connection:-0}" -ge "$3" ] && [ "${pipe:-0}" -ge "$4" ] || fail "room $1, work $2: told ${connection:-} and ${pipe:-} times of 64"
}
least 1 0 3 3
least 1 100000 24 24
least 4 0 64 3
least 4 100000 64 60
finish
