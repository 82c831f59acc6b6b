# Java: sockets that block, and NIO with a selector, a server and a client of each; a socket that is closed while another thread reads.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need java javac
moves="0 8"
javac -d "$work" "$VIADUCT_SOURCE/tests/sock/programs/Echo.java" || fail "the program does not compile"
java="java -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp $work Echo"
serve() {
    background $server $java blocking $port
    blocking=$pid
    background $server $java selecting $((port + 1))
}
ready() { (: </dev/tcp/127.0.0.1/$port) 2>/dev/null && (: </dev/tcp/127.0.0.1/$((port + 1))) 2>/dev/null; }
leave() { end $blocking; end $pid; }
talk() { check all $client $java ask $port; }
combinations
