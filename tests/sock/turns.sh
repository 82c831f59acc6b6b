# What is the kernel's in an epoll set, and what is in rings: neither waits for long because the other is always ready. With work of
# 0.1 ms between calls a pipe and a connection by TCP are told of in each call that has room for both, and in every second one where
# there is room for one; the end of a joined connection after a millisecond.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
run 20 "$VIADUCT_BIN/viaduct" sock --after 0 -- "$VIADUCT_BUILD/tests/sock/turns"
expect_status 0 "busy connections and others"
[ "$(grep -c 'is joined' "$work/log")" -eq 8 ] || fail "$(grep -c 'is joined' "$work/log") ends of 8 were joined"
least() { # WHAT ROOM WORK BUSY OTHER
    read -r busy other < <(sed -n "s/^$1 room $2 work $3: \([0-9]*\) \([0-9]*\)$/\1 \2/p" "$work/out")
    [ "${busy:-0}" -ge "$4" ] && [ "${other:-0}" -ge "$5" ] || fail "$1, room $2, work $3: told ${busy:-} and ${other:-} times of 64"
}
for what in pipe tcp; do
    least $what 1 0 3 2
    least $what 1 100000 24 24
    least $what 4 0 64 2
    least $what 4 100000 64 60
done
least end 1 100000 24 2
least end 4 0 64 2
least end 4 100000 64 3
finish
