# socat and nc, a server for one connection each: an echo that goes on after a half-close; inetd with cat.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need socat nc.openbsd inetd python3
moves="0 8"
serve() {
    background $server socat TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork PIPE
    socat=$pid
    background $server socat TCP-LISTEN:$((port + 1)),bind=127.0.0.1,reuseaddr,fork EXEC:"tr a-z b-za"
    filter=$pid
    echo "127.0.0.1:$((port + 3)) stream tcp nowait $(id -un) /bin/cat cat" >conf
    background $server inetd -d -E "$here/conf"
}
leave() { end $socat; end $filter; end $pid; }
talk() {
    local p what
    data 3000000 >file
    for p in 0 1 3; do
        check "socat $p" eval '$client socat -t 10 - TCP:127.0.0.1:$((port + p)) <file'
        check "nc $p" eval '$client nc.openbsd -N 127.0.0.1 $((port + p)) <file'
        [ $p = 1 ] || check "lines $p" $client python3 "$VIADUCT_SOURCE/tests/sock/programs/lines.py" $((port + p)) 300
    done
    nc.openbsd -l -N 127.0.0.1 $((port + 4)) >heard <file &
    eventually 10 eval '$client nc.openbsd -N 127.0.0.1 $((port + 4)) <file >back 2>/dev/null && [ -s back ]'
    wait
    check both cat back heard
}
combinations
