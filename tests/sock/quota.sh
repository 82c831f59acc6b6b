# Under a quota a preloaded process that waits for another one does not poll before it sleeps; without one its first wait does.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
[ "$(nproc)" -ge 2 ] || skip "this needs two processors"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "a quota is made up by root that may mount"
under() { # QUOTA: two processes wait for each other; one that polls is killed there
    timeout 30 unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo "$0" >/sys/fs/cgroup/cpu.max && exec "$@"' "$1 100000" \
        env VIADUCT_SOCK=after:4 LD_PRELOAD="$VIADUCT_BUILD/tests/sock/libviaduct-sock.so" SOCK_STEP='polls 0 kill' \
        "$VIADUCT_BUILD/tests/sock/exchange" pair 2000 >"$work/out" 2>&1
}
under 50000 || fail "a process under a quota of half a processor polls"
under max && fail "no process without a quota polls"
finish
