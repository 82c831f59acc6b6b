# memcached with 4 threads: values of many sizes, by command line tools and by clients of bash that keep their connections.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need memcached memccp memccat memcslap
moves="0 8"
user=
[ "$(id -u)" -ne 0 ] || user="-u nobody"
serve() { background $server memcached $user -l 127.0.0.1 -p $port -U 0 -t 4; }
leave() { end $pid INT; }
talk() {
    mkdir values
    for i in {1..40}; do data $((i * i * 600)) >values/value$i; done
    check copied $client memccp --servers=127.0.0.1:$port values/*
    for i in 1 7 20 33 40; do check value$i $client memccat --servers=127.0.0.1:$port value$i; done
    for what in set get; do check $what $client memcslap --servers=127.0.0.1:$port --concurrency=16 --execute-number=500 --test=$what | sed "s,\,.*,\, done,"; done
    check talk $client bash -c "$(declare -f conversation); conversation $port"
}
conversation() {
    exec 5<>/dev/tcp/127.0.0.1/$1
    for i in {1..10}; do printf 'set key%d 0 0 %d\r\n%s\r\n' $i ${#i} $i >&5; read -r line <&5; echo "$line"; done
    for i in {1..10}; do printf 'get key%d\r\n' $i >&5; for j in 1 2 3; do read -r line <&5; echo "$line"; done; done
}
combinations
