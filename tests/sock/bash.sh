# Bash's /dev/tcp, with its descriptors copied, given to children and closed, and curl and wget, at a server of Python.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need python3 curl wget
moves=any # what bash has on a descriptor its children hold
serve() {
    mkdir www && data 1024 >www/small && data 4000000 >www/large
    background $server python3 "$VIADUCT_SOURCE/tests/sock/programs/web.py" $port www
}
talk() {
    check asked $client bash -c "$(declare -f ask); ask $port"
    check curl $client curl -s http://127.0.0.1:$port/{small,large,none,small}
    check parallel eval '$client curl -sZ $(for i in {1..8}; do echo http://127.0.0.1:$port/large -o part$i; done) && cat part?'
    check posted $client curl -s -H Expect: --data-binary @www/large http://127.0.0.1:$port/echo
    check wget $client wget -q -O - http://127.0.0.1:$port/small http://127.0.0.1:$port/large
}
ask() {
    exec 5<>/dev/tcp/127.0.0.1/$1
    for i in {1..20}; do
        printf 'GET /small HTTP/1.1\r\nHost: x\r\n\r\n' >&5
        while read -r line <&5 && [ "${line%$'\r'}" ]; do [[ $line != Date* && $line != Last* ]] && echo "$line"; done
        head -c 1024 <&5 | sha256sum
    done
    exec 6<&5 5<&-
    printf 'GET /large HTTP/1.0\r\n\r\n' >&6
    cat <&6 | tail -c 4000000 | sha256sum
    exec 6<&-
}
combinations
