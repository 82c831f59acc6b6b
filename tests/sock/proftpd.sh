# proftpd with tnftp.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need proftpd
source "$VIADUCT_SOURCE/tests/lib/ftp"
serve() {
    files_make && chmod 755 "$work" .
    cat >conf <<-END
	ServerType standalone
	DefaultServer on
	DefaultAddress 127.0.0.1
	Port $port
	User nobody
	Group nogroup
	UseIPv6 off
	UseReverseDNS off
	WtmpLog off
	AuthPAM off
	PidFile $here/pid
	ScoreboardFile $here/score
	DelayTable none
	TransferLog none
	<Anonymous $here/files>
	  User nobody
	  UserAlias anonymous nobody
	  RequireValidShell off
	</Anonymous>
	END
    background $server proftpd -n -q -c "$here/conf"
}
combinations
