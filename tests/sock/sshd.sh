# sshd with scp and commands: connections that several processes hold, and that come over exec, so they stay TCP.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need sshd ssh scp ssh-keygen
[ "$(id -u)" -eq 0 ] || skip "a server without its user needs root"
serve() {
    mkdir -p /run/sshd
    ssh-keygen -qt ed25519 -N '' -f host && ssh-keygen -qt ed25519 -N '' -f user && cp user.pub authorized
    background unshare -m bash -c "$(declare -f user_add); user_add '$here' && exec $server '$(command -v sshd)' -D -e -f /dev/null -p $port \
        -h '$here/host' -o ListenAddress=127.0.0.1 -o UsePAM=no -o PidFile=none -o PermitRootLogin=yes -o StrictModes=no \
        -o AuthorizedKeysFile='$here/authorized' -o SetEnv=HOME='$here' -o 'Subsystem=sftp internal-sftp'"
}
# An unpacked server finds no user of its own: it gets one, in a list that only it sees.
user_add() {
    getent passwd sshd >/dev/null && return
    { cat /etc/passwd && echo "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"; } >"$1/passwd" && chmod 644 "$1/passwd" &&
        mount --bind "$1/passwd" /etc/passwd
}
talk() {
    local options="-F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=$here/known -o IdentitiesOnly=yes -i $here/user"
    data 8000000 >file
    check command $client ssh $options -p $port 127.0.0.1 'echo out; echo err >&2; exit 0'
    check piped eval '$client ssh $options -p $port 127.0.0.1 "tr a-z b-za" <file'
    check to $client scp -q $options -P $port file 127.0.0.1:"$here/copy"
    check from $client scp -q $options -P $port 127.0.0.1:"$here/copy" back
    check same cat back
}
combinations
