# haproxy before a server of Python, with splice in both directions, by HTTP and by TCP alone.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need haproxy curl python3
moves="0 8"
serve() {
    mkdir www && data 1024 >www/small && data 8000000 >www/large
    cat >conf <<-END
	global
	  nbthread 2
	defaults
	  timeout connect 5s
	  timeout client 20s
	  timeout server 20s
	  option splice-request
	  option splice-response
	listen web
	  mode http
	  bind 127.0.0.1:$port
	  server one 127.0.0.1:$((port + 2))
	listen bytes
	  mode tcp
	  bind 127.0.0.1:$((port + 1))
	  server one 127.0.0.1:$((port + 2))
	END
    background $server python3 "$VIADUCT_SOURCE/tests/sock/programs/web.py" $((port + 2)) www
    web=$pid
    background $server haproxy -f conf
}
ready() { curl -s -o /dev/null http://127.0.0.1:$port/small; }
leave() {
    end $web
    end $pid
}
talk() {
    local p url
    for p in $port $((port + 1)); do
        url=http://127.0.0.1:$p
        check get $client curl -s $url/{small,large,none,small,large} $url/small
        check put $client curl -s -H Expect: --data-binary @www/large $url/echo
        check put-slowly $client curl -s -H Expect: --limit-rate 16M --data-binary @www/large $url/echo
        check many $client curl -s $(for i in {1..40}; do echo $url/small; done)
    done
}
combinations
