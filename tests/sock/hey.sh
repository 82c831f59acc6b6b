# hey, a client in Go, which calls the kernel itself: its connections stay TCP, and its peer, nginx, does not care.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need hey nginx
serve() {
    mkdir www && data 1024 >www/small
    cat >conf <<-END
	daemon off; pid $here/pid; error_log $here/log.nginx; $([ "$(id -u)" -ne 0 ] || echo "user root;")
	events { worker_connections 256; }
	http { access_log off; sendfile on; $(for i in client_body proxy fastcgi uwsgi scgi; do echo "${i}_temp_path $here/$i;"; done)
	  server { listen 127.0.0.1:$port; root $here/www; } }
	END
    background $server nginx -e $here/log.nginx -c $here/conf -p $here
}
leave() { end $pid QUIT; }
talk() { check all hey_run -n 3000 -c 10 http://127.0.0.1:$port/small; }
hey_run() { $client hey "$@" | grep -E 'Total data|responses'; }
combinations
