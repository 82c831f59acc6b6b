# Python's own tests of what it does with sockets, as Debian ships them, with the preload: all that pass without it pass with it.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
python=/usr/bin/python3
modules="test_socket test_socketserver test_selectors test_ftplib test_httplib test_asyncio.test_streams"
library=$($python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))' 2>/dev/null) || skip "python3 of the system is not installed"
for folder in "$unpacked$library" "$library"; do [ -e "$folder/test/test_socket.py" ] && break; done
[ -e "$folder/test/test_socket.py" ] || skip "Python's own tests are not installed (scripts/need programs unpacks them)"

# One package of the tests and of what they stand on, which comes with Python.
cp -rs "$library/test" "$work/test"
cp -rsn "$folder/test/." "$work/test/"
export PYTHONPATH=$work PYTHONDONTWRITEBYTECODE=1 VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log TMPDIR=$work
cd "$work" || exit 1
# a socket of a virtual machine waits for ever where there is none to answer; and test_storlines decodes what each read
# gives by itself, so it fails by any way of the bytes when a read ends within a letter of two bytes
suite() { "$@" "$python" -m test -j2 -W -u network -i '*VSOCK*' -i '*.test_storlines' $modules; }
wrong() { grep -aoE '^(FAIL|ERROR): [^)]*\)|^test [a-z_.]* crashed|timed out' "$1" | sort -u; }
# What fails without the preload as well is another version of Python than its tests are of.
suite "$VIADUCT_BIN/viaduct" sock --after 0 -- >with 2>&1 || {
    wrong with >with.wrong
    [ -s with.wrong ] || { fail "the tests did not end"; tail -n 60 with; }
    suite >without 2>&1
    wrong without >without.wrong
    echo "without the preload $(wc -l <without.wrong) fail as well"
    comm -23 with.wrong without.wrong >only
    [ ! -s only ] || { fail "some fail with the preload alone"; cat only; tail -n 60 with; }
}
joined=$(grep -c 'is joined' log)
echo "$joined connections joined"
[ "$joined" -gt 100 ] || fail "hardly any connection was joined"
finish
