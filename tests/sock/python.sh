# Python: socketserver with threads and with processes, asyncio, and asyncio over uvloop; a client with select and one with asyncio.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need python3
python=/usr/bin/python3 # the one that Debian's modules are for
[ -x $python ] || python=python3
export PYTHONPATH=$unpacked/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1
$python -c 'import uvloop' 2>/dev/null || skip "uvloop is not installed (scripts/need programs unpacks it)"
moves="0 8"
program=$VIADUCT_SOURCE/tests/sock/programs/echo.py
kinds="threads processes asyncio uvloop"
serve() {
    local kind p=$port
    pids=
    for kind in $kinds; do
        background $server $python "$program" $kind $((p++))
        pids+="$pid "
    done
}
ready() {
    local p
    for p in 0 1 2 3; do (: </dev/tcp/127.0.0.1/$((port + p))) 2>/dev/null || return; done
}
leave() { for pid in $pids; do end $pid; done; }
talk() {
    local p=$port kind
    for kind in $kinds; do
        check "$kind" $client $python "$program" client $((p++))
    done
    check asynchronous $client $python "$program" asynchronous $port
    check uvloop $client $python "$program" uvlooped $port
}
combinations
