# The emulated machine of scripts/rdma: status, output, environment and folder are as if the command ran here; what it writes vanishes;
# one that does not end is ended.
# presets: rdma timeout: 300 takes: 40
source "$VIADUCT_SOURCE/tests/lib/shell"
machine=$VIADUCT_SOURCE/scripts/rdma
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86 is not installed"
cd "$work" || exit 1

head -c 3000000 /dev/urandom >random
WORD="two  words" run 200 "$machine" bash -c 'cat random; echo "$WORD" >&2; pwd; echo spoiled >random; exit 7'
expect_status 7 "a command that ends with 7"
[ "$(head -c 3000000 out | md5sum)" = "$(md5sum <random)" ] || fail "3 MB of output are others"
[ "$(tail -c +3000001 out)" = "two  words"$'\n'"$work" ] || fail "environment or folder: $(tail -c +3000001 out | head -c 200)"
[ "$(stat -c %s random)" -eq 3000000 ] || fail "a file of this machine was written to"

START=1 run 100 "$machine" true
expect_status 125 "a machine that does not start"
grep -q 'did not start (2)' err || fail "not told: $(cat err)"

LIMIT=15 run 100 "$machine" sleep 1000
expect_status 124 "a command that does not end"
none_of -x qemu-system-x86 || fail "the machine of a command that did not end is still there"
finish
