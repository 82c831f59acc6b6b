# Where something is missing that the library would like to have, a program runs as without it, and silently: no descriptor is left,
# little memory, short files, no descriptor 0, a filter of system calls, no /proc, another allocator, a program of another user.
# timeout: 60 presets: programs
source "$VIADUCT_SOURCE/tests/lib/shell"
programs=$VIADUCT_BUILD/tests/sock
library=$VIADUCT_BUILD/lib/libviaduct-sock.so

# in_all NAME COMMANDS: a shell sets it up, and then runs a pair of programs, or one with both ends
in_all() {
    local name=$1 setup=$2 what
    for what in "exchange self 2000" "faults kill none"; do
        [ "$name" = "no descriptor is left" ] && [ "${what%% *}" = faults ] && continue # it needs number 99
        run 20 bash -c "$setup; exec $programs/$what"
        expect_status 0 "$name, without the library: $what"
        cp "$work/out" "$work/plain"
        run 20 bash -c "$setup; export LD_PRELOAD=\$LD_PRELOAD:$library; exec ${4:-} $programs/$what"
        expect_status 0 "$name: $what"
        expect_silence "$name: $what"
        diff "$work/plain" "$work/out" >"$work/diff" || { fail "$name: $what answers otherwise:"; cat "$work/diff"; }
    done
}
in_all "nothing is missing" :
least=5 # as many as it takes
until bash -c "ulimit -Sn $least; exec $programs/exchange self 10" 2>/dev/null || [ $least -gt 40 ]; do least=$((least + 1)); done
in_all "no descriptor is left" "ulimit -Sn $least"
in_all "little memory" 'ulimit -v 200000'
in_all "short files" 'ulimit -f 1'
in_all "no descriptor 0" 'exec 0<&-'
in_all "little stack" 'ulimit -s 128'
"$programs/confine" allow true
if [ $? -ne 77 ]; then
    for answer in kill refuse allow; do in_all "a filter that would $answer" : "" "$programs/confine $answer"; done
    for answer in kill refuse allow; do # both ends are under it; what is allowed is moved
        VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log-$answer LD_PRELOAD=$library run 20 "$programs/confine" $answer "$programs/exchange" self 2000
        [ "$(cat "$work/log-$answer" 2>/dev/null | grep -c "is joined")" = $([ $answer = allow ] && echo 2 || echo 0) ] ||
            fail "a filter that would $answer: $(cat "$work/log-$answer")"
    done
    VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log-netlink LD_PRELOAD=$library run 20 "$programs/confine" netlink "$programs/many" 50 1000
    expect_status 0 "netlink alone is refused"
    [ "$(grep -c "is joined" "$work/log-netlink")" = 100 ] ||
        fail "netlink alone is refused: of 100 ends $(grep -c "is joined" "$work/log-netlink") are joined: $(grep -v "is joined" "$work/log-netlink" | sort | uniq -c | head)"
fi
for name in libjemalloc.so.2 libtcmalloc.so.4 libtcmalloc_minimal.so.4; do
    allocator=$(ls /usr/lib/*-linux-gnu/$name "$VIADUCT_SOURCE"/build/*/usr/lib/*-linux-gnu/$name 2>/dev/null | head -n 1)
    [ -z "$allocator" ] || in_all "$name" "export LD_PRELOAD=$allocator"
done
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    run 20 unshare -m bash -c "umount -l /proc; LD_PRELOAD=$library exec $programs/exchange self 2000"
    expect_status 0 "no /proc"
    expect_silence "no /proc"
fi
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    cp "$programs/exchange" "$work/other" && chown 65534 "$work/other" && chmod 4755 "$work/other"
    LD_PRELOAD=$library run 20 "$work/other" self 100
    expect_status 0 "a program with the bit for its owner"
    expect_silence "a program with the bit for its owner"
fi
finish
