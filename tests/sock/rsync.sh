# rsync as a daemon, which makes a process for each connection, and the client two: files to and fro, then what has changed.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need rsync
moves=any # both sides fork while the connection is in use
serve() {
    mkdir there
    printf '%s\n' "use chroot = no" "[files]" "path = $here/there" "read only = no" "$([ "$(id -u)" -ne 0 ] || printf 'uid = root\ngid = root')" >conf
    background $server rsync --daemon --no-detach --address=127.0.0.1 --port=$port --config="$here/conf" --log-file="$here/log.rsync"
}
talk() {
    local url=rsync://127.0.0.1:$port/files/ i
    mkdir here && for i in {1..60}; do data $((i * i * 900)) >here/file$i; done
    check to $client rsync -a here/ $url
    check from $client rsync -a $url back/
    check same eval 'cat back/* | cmp - <(cat here/*)'
    for i in 5 20 59; do echo more >>here/file$i; done
    check changed $client rsync -a --stats --no-motd --checksum here/ $url | sed 's/, .*/, done/'
    check again $client rsync -a --checksum $url back/
    check same eval 'cat back/* | cmp - <(cat here/*)'
}
combinations
