# nginx with 4 workers and sendfile: small and large files for curl, wget and wrk; new workers (reload), and a new binary in the place of
# the old one, while requests go on.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need nginx curl wget wrk
moves="0 8"
serve() {
    mkdir www && data 1024 >www/small && data 5000000 >www/large && data 200000 >www/middle
    cat >conf <<-END
	env LD_LIBRARY_PATH; env LD_PRELOAD; env VIADUCT_SOCK; env VIADUCT_LOG; env VIADUCT_LOG_FILE; # for the new binary
	worker_processes 4; pid $here/pid; error_log $here/log.nginx; $([ "$(id -u)" -ne 0 ] || echo "user root;")
	events { worker_connections 256; }
	http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000; default_type text/plain; $(for i in client_body proxy fastcgi uwsgi scgi; do echo "${i}_temp_path $here/$i;"; done)
	  server { listen 127.0.0.1:$port; root $here/www; } }
	END
    $server $(command -v nginx) -e $here/log.nginx -c $here/conf -p $here
}
leave() {
    kill -QUIT $(cat pid)
    eventually 10 none_of nginx
}
others() { # PID: there is another nginx than this one that says its number
    [ -s pid ] && [ "$(cat pid)" != "$1" ]
}
ended() { ! [ -e /proc/$1 ]; }
talk() {
    local url=http://127.0.0.1:$port old i
    check curl $client curl -s $url/{small,large,middle,small,none,large} $url/small $url/large
    check many $client curl -s $(for i in {1..60}; do echo $url/small $url/middle; done)
    check wget $client wget -q -O - $url/small $url/large $url/small
    for i in small middle; do check "wrk $i" wrk_run $url/$i; done
    wrk_run $url/small >/dev/null & # may see the end of a connection that lives as long as the old workers
    old=$(cat pid)
    kill -HUP $old
    check reloaded $client curl -s $url/small $url/large
    kill -USR2 $old
    eventually 10 others $old
    check both $client curl -s $(for i in {1..20}; do echo $url/small; done)
    kill -QUIT $old
    eventually 10 ended $old
    check after $client curl -s $url/large $url/middle
    wait
}
wrk_run() { $client wrk -t 1 -c 8 -d 1 "$1" | awk '/Non-2xx|Socket errors/ { print } / requests in / { print ($1 > 50 ? "many" : "few") }'; }
combinations
