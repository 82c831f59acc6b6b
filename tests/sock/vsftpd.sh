# vsftpd, whose connections are made by one process and used by another, with tnftp.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need vsftpd
source "$VIADUCT_SOURCE/tests/lib/ftp"
moves=any
serve() {
    files_make && chmod 755 "$work" . && chmod 555 files && mkdir empty
    cat >conf <<-END
	listen=YES
	listen_address=127.0.0.1
	listen_port=$port
	background=NO
	anonymous_enable=YES
	anon_root=$here/files
	anon_upload_enable=YES
	write_enable=YES
	ftp_username=daemon
	nopriv_user=nobody
	secure_chroot_dir=$here/empty
	async_abor_enable=YES
	connect_from_port_20=NO
	file_open_mode=0666
	anon_umask=022
	seccomp_sandbox=NO
	END
    background $server vsftpd conf
}
combinations
