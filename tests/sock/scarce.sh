# No memory for the ring's pages, no mapping left, another root: the bytes are right, and what cannot be shared goes by TCP.
# timeout: 90 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/scarce
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log

# joined WHAT ENDS ARGUMENTS...: the program ends well with so many ends joined
joined() {
    local what=$1 ends=$2
    shift 2
    : >"$work/log"
    expect 0 right '' timeout 30 "$VIADUCT_BIN/viaduct" sock -- "$program" "$@"
    [ -z "$ends" ] || [ "$(grep -c 'is joined' "$work/log")" = "$ends" ] || { fail "$what: not $ends ends are joined:"; cat "$work/log"; }
}
expect 0 right '' timeout 30 "$program" none
joined "nothing is scarce" 4 none
for commits in {0..16}; do joined "memory for $commits pieces" '' memory "$commits"; done
[ "$(sysctl -n vm.max_map_count)" -gt 2000000 ] || joined "no mapping is left" 2 maps
grep -q 'no shared memory could be made or mapped' "$work/log" || { fail "the second connection says nothing of memory:"; cat "$work/log"; }
if [ "$(id -u)" = 0 ]; then
    mkdir "$work/root"
    joined "another root" 4 chroot "$work/root"
fi
finish
