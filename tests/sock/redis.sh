# redis-server and redis-benchmark, unmodified, in the four combinations: preloaded or not, each with one processor and with all.
# The server answers right, saves in a child while clients go on, and ends when it is told to.
# timeout: 120 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
folder=$VIADUCT_SOURCE/build/redis/usr
server=$(command -v redis-server || echo "$folder/bin/redis-server")
[ -x "$server" ] || skip "redis-server is not installed"
tools=$(dirname "$server")
export LD_LIBRARY_PATH=$(echo "$folder"/lib/*-linux-gnu)
sock="$VIADUCT_BIN/viaduct sock --"
cd "$work" || exit 1

port=$((20000 + $$ % 20000))
answers() { "$tools/redis-cli" -p $port ping >"$work/ping" 2>&1 && grep -q PONG "$work/ping"; }

# together SERVER-PREFIX CLIENT-PREFIX
together() {
    local what="server: ${1:-plain}, client: ${2:-plain}"
    port=$((port + 1))
    $1 "$server" --port $port --bind 127.0.0.1 --save "" --dir "$work" --daemonize no >"$work/server" 2>&1 &
    local pid=$!
    eventually 10 answers || { fail "$what: the server does not answer"; cat "$work/server"; kill $pid; return; }
    run 30 $2 "$tools/redis-benchmark" -p $port -q -t set,get,lpush,lrange_100 -n 4000 -c 20
    expect_status 0 "$what"
    run 30 $2 "$tools/redis-benchmark" -p $port -q -t set -n 3000 -c 8 -P 16 -d 3000 -r 100
    expect_status 0 "$what, large values"
    run 20 $2 "$tools/redis-cli" -p $port bgsave
    expect_out 'started' "$what: bgsave"
    for i in {1..50}; do echo "set key$i value$i"; done | run_in $2 "$tools/redis-cli" -p $port
    [ "$(grep -c OK "$work/out")" = 50 ] || fail "$what: $(grep -c OK "$work/out") of 50 values were set"
    for i in {1..50}; do echo "get key$i"; done | run_in $2 "$tools/redis-cli" -p $port
    [ "$(cat "$work/out")" = "$(for i in {1..50}; do echo "value$i"; done)" ] || fail "$what: wrong values"
    "$tools/redis-cli" -p $port shutdown nosave >/dev/null 2>&1
    wait $pid || fail "$what: the server ended with $?"
}
run_in() { timeout 30 "$@" >"$work/out" 2>"$work/err"; } # as run, with the input of the caller

for processors in all one; do
    [ $processors = one ] && taskset -p -c 0 $$ >/dev/null
    together "" ""
    together "$sock" "$sock"
    together "$sock" ""
    together "" "$sock"
    VIADUCT_SOCK=after:0 together "$sock" "$sock"
done
finish
