# The library's own descriptors take none of the program's away where the hard limit is above the soft one, by whatever; where it is not,
# the program gets as many fewer as docs/sockets.md says.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
program=$VIADUCT_BUILD/tests/sock/numbers
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log

# numbers LIMITS DESCRIPTORS [lower]: with the library, and without it as many as the limit
numbers() {
    local limits=$1 says=$2
    shift 2
    rm -f "$work/log"
    expect 0 "$says" '' timeout 20 bash -c "$limits; exec '$VIADUCT_BIN/viaduct' sock -- '$program' $*"
    [ "$(grep -c 'is joined' "$work/log")" = 2 ] || fail "under $limits not both ends are joined"
}
whole='64 descriptors, the last 63, then 64 descriptors, the last 63'
expect 0 "$whole" '' bash -c "ulimit -n 64; exec '$program'"
numbers 'ulimit -Sn 64' "$whole"
numbers 'ulimit -Sn 64; ulimit -Hn 96' "$whole" # less room than there may be
numbers 'ulimit -Sn 64' '40 descriptors, the last 39, then 40 descriptors, the last 39' lower
numbers 'ulimit -n 64' '~^(59|60|61) descriptors, the last 63, then (59|60|61) descriptors, the last 63$'
finish
