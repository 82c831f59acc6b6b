# redis-server with io-threads, and a replica of it: values by redis-benchmark and redis-cli, a save in a child while clients go on,
# messages to subscribers.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need redis-server redis-benchmark redis-cli
moves="0 8"
start() { # PORT ARGUMENTS...
    mkdir "$here/$1" && background $server redis-server --port $1 --bind 127.0.0.1 --save "" --dir "$here/$1" --daemonize no --repl-diskless-sync-delay 0 "${@:2}"
}
serve() {
    start $((port + 1)) --replicaof 127.0.0.1 $port
    replica=$pid
    start $port $([ "$(nproc)" -lt 2 ] || echo --io-threads 2 --io-threads-do-reads yes) # that poll for each other
}
answers() { redis-cli -p $port ping 2>/dev/null | grep -q PONG; }
ready() { answers && redis-cli -p $((port + 1)) info replication | grep -q master_link_status:up; }
leave() {
    redis-cli -p $((port + 1)) shutdown nosave
    redis-cli -p $port shutdown nosave
    end $replica "" && end $pid ""
}
talk() {
    local cli="redis-cli -p $port" listener i
    $client $cli --csv subscribe news >"$here/heard" &
    listener=$!
    check small $client redis-benchmark -p $port -q -t set,get,lpush,lrange_100 -n 4000 -c 20 | said
    check saving $client $cli bgsave
    check large $client redis-benchmark -p $port -q -t set -n 3000 -c 8 -P 16 -d 3000 -r 100 | said
    check set $client $cli < <(for i in {1..50}; do echo "set key$i value$i"; done)
    check get $client $cli < <(for i in {1..50}; do echo "get key$i"; done)
    check published $client $cli < <(for i in {1..30}; do echo "publish news message$i"; done)
    eventually 10 grep -q message30 "$here/heard" || echo "not all messages were heard: 1, "
    kill $listener
    check heard cat "$here/heard"
    eventually 10 eval '[ "$(redis-cli -p $((port + 1)) get key50)" = value50 ]'
    check copied redis-cli -p $((port + 1)) mget key1 key25 key50
    eventually 20 eval 'redis-cli -p $port info persistence | grep -q rdb_bgsave_in_progress:0'
    check saved eval 'redis-cli -p $port info persistence | grep rdb_last_bgsave_status | tr -d "\r"'
}
combinations
