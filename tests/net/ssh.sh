# Over real ssh, with a server on each host of the laboratory: ranks there, and everything that keeps them from starting.
# timeout: 90 waits: 17
source "$VIADUCT_SOURCE/tests/lib/shell"
sshd=/usr/sbin/sshd
[ -x $sshd ] || sshd=$VIADUCT_SOURCE/build/sshd/usr/sbin/sshd
[ -x $sshd ] && command -v ssh >/dev/null || skip "openssh is not installed (scripts/need check unpacks a server)"
[ "$(id -u)" -eq 0 ] || skip "a server for other ports and hosts needs root"
laboratory 3 1
libraries=$(find "${sshd%/usr/sbin/sshd}" -maxdepth 4 -type d -name '*-linux-gnu' 2>/dev/null | tr '\n' ':')
[ $sshd = /usr/sbin/sshd ] && libraries=
mkdir -p /run/sshd

# Keys, a configuration for the client with names for what may happen, servers with their ways.
ssh-keygen -qt ed25519 -N '' -f $work/host && ssh-keygen -qt ed25519 -N '' -f $work/user && ssh-keygen -qt ed25519 -N '' -f $work/other
cp $work/user.pub $work/authorized && chmod 600 $work/authorized && chmod 755 $work
for address in 10.77.0.2 10.77.0.3; do
    for port in 22 23 24; do echo "[$address]:$port $(cut -d' ' -f1,2 $work/host.pub)"; done
    echo "$address $(cut -d' ' -f1,2 $work/host.pub)"
done >$work/known
cat >$work/config <<CONFIG
Host stranger
    IdentityFile $work/other
Host new
    UserKnownHostsFile $work/none
Host closed
    Port 9
Host silent
    ConnectTimeout 1
    HostName 10.77.0.77
Host talks
    Port 23
Host bare
    Port 24
Host h2
    HostName 10.77.0.3
Host h1 stranger new closed talks bare
    HostName 10.77.0.2
Host * !stranger
    IdentityFile $work/user
Host *
    IdentitiesOnly yes
    UserKnownHostsFile $work/known
CONFIG
serve() { # HOST PORT OPTIONS...; the shell there must not run what the user's own shell runs at its start
    local host=$1 port=$2 set=HOME=$work
    shift 2
    [ "$port" != 24 ] || set="$set PATH=/nowhere"
    lab-rsh $host "LD_LIBRARY_PATH=$libraries exec $sshd -f /dev/null -p $port -h $work/host -o UsePAM=no -o PidFile=none \
        -o PermitRootLogin=yes -o StrictModes=no -o AuthorizedKeysFile=$work/authorized -o 'SetEnv=$set' -E $work/sshd.log $*"
}
# An unpacked server finds no user of its own: the hosts get one, in a list that only they see.
if ! getent passwd sshd >/dev/null; then
    { cat /etc/passwd && echo "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"; } >$work/passwd && chmod 644 $work/passwd
    for host in h1 h2; do lab-rsh $host "mount --bind $work/passwd /etc/passwd" || fail "no user for the server"; done
fi
serve h1 22 && serve h2 22 || fail "no server: $(cat $work/sshd.log)"
serve h1 23 "-o ForceCommand='echo Welcome; echo news >&2; eval \"\$SSH_ORIGINAL_COMMAND\"'" || fail "no server that talks"
serve h1 24 || fail "no server without a path"
# (its name is still ssh, for which the launcher has flags of its own)
mkdir $work/bin && printf '#!/bin/sh\necho >>%s/calls\nexec ssh -F %s/config "$@"\n' $work $work >$work/bin/ssh && chmod +x $work/bin/ssh
over="$mpiexec --agent $work/bin/ssh"
over() { $mpiexec --agent $work/bin/ssh "$@"; }
once() { # HOSTS COMMAND...: each host is called once, and nothing is waited for but ssh's own answer
    local hosts=$1 status calls
    shift
    : >$work/calls
    "$@"
    status=$?
    calls=$(wc -l <$work/calls)
    ((calls <= hosts)) || echo "$calls calls" >&2
    return $status
}

# ranks
expect 0 $'0 h1\n1 h2' "" sh -c "$over -hosts h1,h2 sh -c 'echo \$PMI_RANK \$(uname -n)' | sort"
expect 0 "6 met" "" over -host h0:2,h1:2,h2:2 "$VIADUCT_BUILD/tests/programs/meet"
expect 0 "3 met" "" over --fanout 1 -host h0,h1,h2 "$VIADUCT_BUILD/tests/programs/meet"
expect 7 "" "~on h2\) ended with exit status 7" over -host h1,h2 sh -c 'test $PMI_RANK = 1 && exit 7; sleep 100'
seq 1 100000 >$work/numbers
over -host h1 cat <$work/numbers | cmp -s - $work/numbers || fail "input over ssh is not the same"
over -host h1,h2 sleep 101 & head=$!
eventually 5 are 2 -f "^sleep 101" || fail "not started"
kill -KILL $(processes -P $head -x mpiexec)
wait $head 2>/dev/null
eventually 5 none_of -f "sleep 101|viaduct helper" || fail "the launcher was killed, somebody is left"
over -host h1,h2 sleep 101 2>$work/err & head=$!
eventually 5 are 2 -f "^sleep 101" || fail "not started"
kill -KILL $(processes -f "sshd: .*@notty") # the far side's connections
wait $head
[ $? = 255 ] && grep -q "host h[12] is lost" $work/err || fail "the connections were killed: $(cat $work/err)"
eventually 5 none_of -f "sleep 101|viaduct helper" || fail "the connections were killed, somebody is left"

# other sides that are strange
expect 0 h1 "~^(viaduct: talks: news)?$" over -host talks uname -n
expect 0 h1 "" over -host bare uname -n

# what cannot be, at once, in one line with host, cause and time
one="viaduct: cannot start ranks on"
end='\(after [0-9.]+ s\)$'
expect 255 "" "~^$one stranger: .*Permission denied .* $end" once 2 over -host h1,stranger sleep 100
expect 255 "" "~^$one new: Host key verification failed. $end" once 1 over -host new sleep 100
expect 255 "" "~^$one closed: ssh: connect to host 10.77.0.2 port 9: Connection refused $end" once 1 over -host closed sleep 100
expect 255 "" "~^$one silent: ssh: connect to host 10.77.0.77 port 22: .* $end" once 1 over -host silent sleep 100
expect 255 "" "~^$one no.such.host: ssh: Could not resolve hostname no.such.host: .* $end" once 1 over -host no.such.host sleep 100
id=$(grep -o "[0-9a-f]\{16\}" "$VIADUCT_BUILD/generated/build_id.h" | head -1)
sed "s/$id/$(tr '0-9a-f' '1-9a-f0' <<<"$id")/" "$VIADUCT_BIN/viaduct" >$work/viaduct && chmod +x $work/viaduct
lab-rsh h2 "mount --bind $work/viaduct $VIADUCT_BIN/viaduct"
expect 255 "" "~^$one h2: its Viaduct is of another build: .* $end" once 2 over -host h1,h2 sleep 100
lab-rsh h2 "umount $VIADUCT_BIN/viaduct; mount -t tmpfs none $VIADUCT_BIN"
expect 255 "" "~^$one h2: .*viaduct: No such file or directory $end" once 2 over -host h1,h2 sleep 100
finish
