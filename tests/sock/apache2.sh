# apache2 with processes (prefork): ab on connections that stay open, curl, and a graceful restart.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need apache2 ab curl
moves="0 8"
modules=$(for folder in "$unpacked" ""; do compgen -G "$folder/usr/lib/apache2/modules" && break; done)
user=
[ "$(id -u)" -ne 0 ] || user="User nobody"
serve() {
    mkdir www && data 1024 >www/small && data 3000000 >www/large && chmod 755 "$work" .
    cat >conf <<-END
	ServerName localhost
	ServerRoot $here
	PidFile $here/pid
	ErrorLog $here/log.apache
	DefaultRuntimeDir $here
	Listen 127.0.0.1:$port
	LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
	LoadModule authz_core_module $modules/mod_authz_core.so
	$user
	StartServers 3
	MaxKeepAliveRequests 0
	DocumentRoot $here/www
	<Directory $here/www>
	  Require all granted
	</Directory>
	END
    background $server apache2 -f "$here/conf" -D FOREGROUND
}
talk() {
    local url=http://127.0.0.1:$port
    check curl $client curl -s $url/{small,large,none,small,large} $url/small
    check many $client curl -s $(for i in {1..40}; do echo $url/small; done)
    check "ab small" ab_run -n 1500 -c 4 $url/small
    check "ab large" ab_run -n 40 -c 4 $url/large
    kill -USR1 $pid
    check after $client curl -s $url/{small,large}
}
ab_run() { $client ab -k -q "$@" | grep -E 'Complete requests|Failed|HTML transferred|Keep-Alive requests: *[1-9]' | sed 's/Keep-Alive.*/kept/'; }
combinations
