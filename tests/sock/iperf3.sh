# iperf3: a fixed number of bytes in both directions, one stream and three, and with sendfile (-Z).
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need iperf3
moves="0 8"
# The server listens anew for each test. A connection that comes before, or is closed at once, is reset or spoils the next
# one, and the client ends with status 0 and no result.
serve() {
    tests=0
    background $server iperf3 -s -p $port -B 127.0.0.1 --forceflush
}
listens() { [ "$(grep -c '^Server listening' "$here/server")" -gt $tests ]; }
ready() { listens; }
set -o pipefail
transfer() { # BYTES ARGUMENTS...: as much was sent, at least
    eventually 10 listens
    tests=$((tests + 1))
    $client iperf3 -c 127.0.0.1 -p $port -J -n "$@" | tr -d ' \t,' |
        awk -F: -v wanted=$1 '/^"end":/ { end = 1 } end && /^"sum_sent":/  && !sum { sum = 1 } sum == 1 && /^"bytes":/ { print ($2 >= wanted); sum = 2 }'
}
talk() {
    local way
    for way in "" "-R" "-P 3" "-Z" "-R -P 3"; do
        check "transfer $way" transfer 67108864 -l 128K $way
    done
    check small transfer 524288 -l 64 -N
}
combinations
