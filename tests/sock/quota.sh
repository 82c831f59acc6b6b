# Under a quota a preloaded process that waits for another one does not poll: it sleeps in each exchange.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
[ "$(nproc)" -ge 2 ] || skip "this needs two processors"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "a quota is made up by root that may mount"
unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo 50000 100000 >/sys/fs/cgroup/cpu.max && exec "$@"' sh \
    "$VIADUCT_BIN/viaduct" sock -- "$VIADUCT_BUILD/tests/sock/exchange" pair 5000 >"$work/out" || fail "wrong answers"
[ "$(cat "$work/out")" -ge 4500 ] || fail "under a quota it left its processor only $(cat "$work/out") times in 5000 exchanges"
finish
