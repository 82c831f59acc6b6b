# The command line of the launcher: every spelling, MPMD, files, environment, folders, exit statuses.
# timeout: 60 takes: 3
source "$VIADUCT_SOURCE/tests/lib/shell"
say='echo $PMI_RANK/$PMI_SIZE'
sorted() { "$@" | sort; }

# counts, under every name and spelling
for flag in -n -np --n --np -c; do expect 0 $'0/3\n1/3\n2/3' "" sorted $mpiexec $flag 3 sh -c "$say"; done
expect 0 $'0/2\n1/2' "" sorted $mpiexec --np=2 sh -c "$say"
expect 0 0/1 "" $mpiexec sh -c "$say"
expect 0 0/1 "" $VIADUCT_BIN/mpirun sh -c "$say"
expect 0 0/1 "" $VIADUCT_BIN/mprun sh -c "$say"
expect 0 0/1 "" $VIADUCT_BIN/viaduct run sh -c "$say"
expect 0 $'0/2\n1/2' "" sorted $mpiexec -ppn 2 sh -c "$say"
expect 0 $'0/2\n1/2' "" sorted $mpiexec --map-by ppr:2:node sh -c "$say"
expect 0 $'0/3\n1/3\n2/3' "" sorted $mpiexec -host localhost:3 sh -c "$say"
expect 0 $'0/2\n1/2' "" sorted $mpiexec -hosts localhost,$(uname -n) sh -c "$say"
printf '# ours\nlocalhost slots=2 max_slots=8\n\n127.0.0.1:1 # more\n' >$work/hosts
for flag in -f -hostfile --machinefile; do expect 0 $'0/3\n1/3\n2/3' "" sorted $mpiexec $flag $work/hosts sh -c "$say"; done
expect 0 0/1 "" $mpiexec -n 1 -hostfile $work/hosts sh -c "$say"
printf 'localhost max_slots=9 slots = 3\n' >$work/hosts
expect 0 $'0/3\n1/3\n2/3' "" sorted $mpiexec -f $work/hosts sh -c "$say"
for file in HYDRA_HOST_FILE OMPI_MCA_orte_default_hostfile; do
    expect 0 $'0/3\n1/3\n2/3' "" sorted env $file=$work/hosts $mpiexec sh -c "$say"
    expect 0 0/1 "" env $file=/none $mpiexec -host localhost sh -c "$say"
done
printf '# nobody\n' >$work/hosts
expect 2 "" "~^viaduct: the host file .*hosts names no host" $mpiexec -f $work/hosts true
expect 2 "" '~^viaduct: -host "" names no host' $mpiexec -host "" true
for wrong in many 0 2x =2 4294967298; do
    printf 'localhost slots=%s\n' $wrong >$work/hosts
    expect 2 "" "~^viaduct: host localhost: expected a number of 1 or more after slots=" $mpiexec -f $work/hosts true
done
expect 0 0/1 "" $mpiexec --nooversubscribe -host localhost:2147483647,a:2147483647 -n 1 sh -c "$say"
expect 2 "" "~^viaduct: host localhost: expected a number of slots of 1 or more after the colon" $mpiexec -host localhost:0 true
printf 'localhost slots=2147483647\nlocalhost slots=2147483647\nlocalhost slots=5\n' >$work/hosts
expect 126 "" "~^viaduct: [0-9]+ ranks are more than a million" $mpiexec -f $work/hosts true
expect 126 "" "~^viaduct: [0-9]+ ranks are more than a million" $mpiexec -host localhost:2147483647,a:2147483647,b:5 true
for word in slotz=2 ifname=eth0 user=me more; do
    printf 'localhost slots=2 %s\n' $word >$work/hosts
    expect 2 "" "viaduct: host localhost: '$word' is not known: slots=N and max_slots=N are" $mpiexec -f $work/hosts true
done
printf 'localhost slots=2 max-slots=3\n' >$work/hosts
expect 0 $'0/3\n1/3\n2/3' "" sorted $mpiexec -n 3 -f $work/hosts sh -c "$say"
expect 2 "" "viaduct: no host can have rank 3: all have max_slots ranks" $mpiexec -n 4 -f $work/hosts true
printf 'other max_slots=1\n' >>$work/hosts
expect 2 "" "viaduct: no host can have rank 1: all have max_slots ranks" $mpiexec -nolocal -n 2 -f $work/hosts true
expect 2 "" "~^viaduct: no host but this one is named" $mpiexec -nolocal -host localhost true
printf 'localhost slots=3 max_slots=2\n' >$work/hosts
expect 0 $'0/2\n1/2' "" sorted $mpiexec -f $work/hosts sh -c "$say"
printf 'rank 0=localhost\nrank 1=localhost\nrank 2=localhost\n' >$work/ranks
expect 2 "" "viaduct: no host can have rank 2: all have max_slots ranks" $mpiexec -f $work/hosts --rankfile $work/ranks true
printf 'localhost slots=2 max_slots=8\n' >>$work/hosts
expect 0 $'0/2\n1/2' "" sorted $mpiexec -f $work/hosts sh -c "$say"
# addresses, in the form that tells them from a number of slots, too
for host in [::1] [::1]:1 [localhost]:1; do expect 0 0/1 "" $mpiexec -host "$host" sh -c "$say"; done
expect 0 $'0/2\n1/2' "" sorted $mpiexec -host '[::1]:2' sh -c "$say"
expect 255 "" "~^viaduct: cannot start ranks on far.example: its helper or the connection to it ended" \
    $mpiexec --agent false -host far.example true
expect 255 "" "~^viaduct: cannot start ranks on far.example: cannot start /no/agent: No such file" $mpiexec --agent /no/agent -host far.example true
printf 'rank 0=-oProxyCommand=x\n' >$work/ranks
expect 2 "" "viaduct: '-oProxyCommand=x' is not the name of a host" $mpiexec -host -oProxyCommand=x true
expect 2 "" "viaduct: '-oProxyCommand=x' is not the name of a host" $mpiexec --agent false --rankfile $work/ranks true
expect 2 "" "viaduct: '' is not the name of a host" $mpiexec --agent false -host '[]' true

# swallowed without a word
expect 0 0/1 "" $mpiexec --oversubscribe --allow-run-as-root --mca btl self,vader --prtemca a b --pmixmca c d -iface lo \
    -launcher fork --report-state-on-timeout -rmk user --disable-hostname-propagation sh -c "$say"

# wrong ones
expect 2 "" "~^viaduct: unknown option --oversubscibe \(maybe: --oversubscribe\?\)" $mpiexec --oversubscibe true
expect 2 "" "viaduct: invalid value 'x' for -n: expected a whole number >= 1" $mpiexec -n x true
expect 2 "" "~^viaduct: invalid value '0' for -n" $mpiexec -n 0 true
expect 2 "" "~^viaduct: -n needs 1 value" $mpiexec -n
expect 2 "" "~no program to start" $mpiexec -n 2
expect 2 "" "~no program to start" $mpiexec -n 2 true : -n 1
expect 0 "~usage: viaduct run" "" $mpiexec --help
expect 0 "~viaduct run .mpiexec. [0-9]" "" $mpiexec --version

# several programs
expect 0 $'0 a\n1 b\n2 b' "" sorted $mpiexec -n 1 sh -c 'echo $PMI_RANK a' : -n 2 sh -c 'echo $PMI_RANK b'
printf '# parts\n-n 1 sh -c "echo $PMI_RANK \\"a b\\""\n\n-n 2 sh -c '"'"'echo $PMI_RANK $X'"'"'\n' >$work/parts
expect 0 $'0 a b\n1 x\n2 x' "" sorted $mpiexec -genv X x -configfile $work/parts
expect 0 $'0 a b\n1 x\n2 x' "" sorted env X=x $mpiexec --app $work/parts
# a line goes on behind a backslash at its end; others are as in a shell
cat >$work/parts <<'END'
# a comment does not: \
-n 1 -env A "\"\n" \
     printenv A \

-n 1 printf %s\\n a\ b '\' "\x" "y\
z" \\
-n 1 echo new
END
expect 0 $'"\\n\n\\\n\\\n\\x\na b\nnew\nyz' "" sorted $mpiexec -configfile $work/parts

expect 2 "" "~there is no program between the flags of a part and its ':'" $mpiexec -n 1 : -n 1 true
expect 2 "" "~there is no program" $mpiexec -wdir / : -n 1 true : -n 1 true
expect 0 0/1 "" $mpiexec -genv A b : -n 1 sh -c "$say"

# names of this host, and of others that look like it
for name in localhost 127.0.0.1 127.1.2.3 ::1 $(uname -n); do expect 0 0/1 "" $mpiexec -host $name sh -c "$say"; done
for name in $(uname -n).other.cluster 127.bogus 127.0.0.1.example localhost.example; do
    expect 255 "" "~^viaduct: cannot start ranks on $name: " $mpiexec --agent false -host $name true
done

# more ranks than there can be are told before the first is started
expect 126 "" "~^viaduct: 100000 ranks are too many for [^ ]+: at most [0-9]+, since" $mpiexec -n 100000 sh -c "echo >$work/started"
[ ! -e $work/started ] || fail "one of too many ranks was started"
expect 127 "" "~^viaduct: cannot start x .31mred: no such program" $mpiexec $'x\e[31mred'

# environment
export INHERITED=here VIADUCT_LOG=warn
expect 0 "here set all" "" $mpiexec -genv ALL all -env ONE set sh -c 'echo $INHERITED $ONE $ALL'
expect 0 "here set," "" $mpiexec -x INHERITED -x ONE=set -n 1 sh -c 'echo $INHERITED $ONE,$TWO' : -x TWO=2 -n 1 true
expect 0 "," "" $mpiexec -genvnone /bin/sh -c 'echo $INHERITED,$VIADUCT_LOG'
expect 0 "here," "" $mpiexec -genvlist INHERITED /bin/sh -c 'echo $INHERITED,$VIADUCT_LOG'
expect 0 ",warn" "" $mpiexec -envlist VIADUCT_LOG,NONE /bin/sh -c 'echo $INHERITED,$VIADUCT_LOG'
expect 0 "0 1 0 1 0 1 0 0" "" env PMI_RANK=7 PMI_SIZE=9 PMIX_RANK=3 OMPI_COMM_WORLD_RANK=5 $mpiexec sh -c \
    'echo $PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_NODE_RANK$PMIX_RANK'

# folders and programs
mkdir $work/dir
printf 'echo here in $(basename $PWD) $1\n' >$work/dir/plain
chmod +x $work/dir/plain
for flag in -wdir --wd; do expect 0 "here in dir x" "" $mpiexec $flag $work/dir ./plain x; done
expect 0 "here in dir y" "" $mpiexec -wdir $work/dir plain y
expect 0 "~here in" "" $mpiexec -path $work/dir plain
expect 127 "" "~^viaduct: cannot start nosuchprogram: no such program" $mpiexec -n 3 nosuchprogram
expect 127 "" "~^viaduct: cannot start ./nosuch: No such file" $mpiexec ./nosuch
expect 126 "" "~^viaduct: cannot start /etc/passwd: Permission denied; chmod \+x makes" $mpiexec /etc/passwd
echo 'int main;' >$work/hello.c
expect 126 "" "~hello.c: Permission denied; it is a source file: mpicc makes a program of it$" $mpiexec $work/hello.c
expect 126 "" "~/dir: Permission denied; it is a folder$" $mpiexec $work/dir
expect 2 "" "viaduct: cannot read the host file /nowhere: No such file or directory" $mpiexec -f /nowhere true
expect 2 "" "viaduct: -configfile: cannot read /nowhere: No such file or directory" $mpiexec -configfile /nowhere
expect 126 "" "~^viaduct: cannot start rank 0: it cannot go to the folder /nowhere .-wdir.: No such file" $mpiexec -wdir /nowhere true

# what is shown before the start
expect 0 "" $'viaduct: host localhost: 2 slots, 3 ranks, this host\nviaduct: map: host localhost: ranks 0-1 of true\nviaduct: map: host localhost: ranks 2 of env' \
    $mpiexec --display allocation,map -host localhost:2 -n 2 true : -n 1 env -i true
expect 0 "info" "~" env -u VIADUCT_LOG $mpiexec -v sh -c 'echo $VIADUCT_LOG'
$mpiexec --report-pid $work/pid sh -c "[ \$(cat $work/pid) = \$PPID ]" || fail "--report-pid"

# exit statuses: the first that failed, in time
expect 3 "" "~^viaduct: rank 1 .*ended with exit status 3$" $mpiexec -n 3 sh -c '[ $PMI_RANK = 1 ] && exit 3; sleep 20'
expect 139 "" "~rank 0 .*killed by signal 11 \(Segmentation fault\)" $mpiexec -n 2 sh -c '[ $PMI_RANK = 0 ] && kill -SEGV $$; sleep 20'
expect 0 "" "" $mpiexec -n 40 true
expect 5 "" "~exit status 5" $mpiexec -disable-auto-cleanup -n 2 sh -c '[ $PMI_RANK = 1 ] && exit 5; sleep 0.2'
expect 4 "" "~rank 0 \(pid [0-9]+\): exit status 0.*rank 1 \(pid [0-9]+\): exit status 4" \
    $mpiexec -print-all-exitcodes -disable-auto-cleanup -n 2 sh -c 'exit $((PMI_RANK * 4))'

# the first rank fails while the last are not started: one sentence, soon
expect 7 "" "~^viaduct: rank 0 [^:]*ended with exit status 7$" $mpiexec -n 2000 sh -c '[ $PMI_RANK = 0 ] && exit 7; exec sleep 20'

# time limits
printf '#!/bin/sh\nexec sleep 20\n' >$work/deaf
chmod +x $work/deaf
expect 255 "" "~^viaduct: cannot start ranks on far.example: no answer .after [1-4]\.[0-9] s.$" \
    $mpiexec --agent $work/deaf --patience 1 -host far.example true
expect 124 "" "~^viaduct: the time allowed \(0.2 s\) is over" $mpiexec --timeout 0.2 -n 2 sleep 20
expect 124 "" "~the time allowed" env MPIEXEC_TIMEOUT=1 $mpiexec sleep 20
expect 124 "" "~the time allowed" $mpiexec --timeout 200ms sh -c 'trap "" TERM; sleep 20; sleep 20'
expect 2 "" "~a time in seconds" $mpiexec --timeout soon true

# binding
allowed=$(taskset -cp $$ | sed 's/.*: //')
expect 0 "~$allowed" "" $mpiexec sh -c 'taskset -cp $$'
expect 0 "~: [0-9]+$" "" $mpiexec --bind-to core:1 --cpu-list ${allowed%%[,-]*} sh -c 'taskset -cp $$'
expect 0 "" "~rank 0 on .* is bound to processors [0-9].*rank 1 on .* is bound to processors" $mpiexec --bind-to hwthread --report-bindings -n 2 true
expect 0 "" "~rank 0 on .* is not bound" $mpiexec --bind-to none --report-bindings true
expect 2 "" "~^viaduct: invalid value 'moon' for --bind-to: expected none, hwthread" $mpiexec --bind-to moon true
expect 2 "" "~a list like 0-3,8" $mpiexec --cpu-list a-b true
expect 2 "" "~^viaduct: --bind-to none contradicts 2 processors" $mpiexec --bind-to none --map-by :PE=2 true

# a rank file
printf '# ours\nrank 1=localhost slot=%s\n\nrank 0 = +n0 slots = %s\n' "p${allowed%%[,-]*}" 0 >$work/ranks
expect 0 "~: ${allowed%%[,-]*}$" "~rank 0 on .* is bound to .*rank 1 on .* is bound to processors ${allowed%%[,-]*}$" \
    $mpiexec -host localhost --rankfile $work/ranks --report-bindings sh -c '[ $PMI_SIZE = 2 ] && [ $PMI_RANK = 0 ] || taskset -cp $$'
expect 2 "" "viaduct: the rank file has no line for rank 2" $mpiexec -n 3 -host localhost --rankfile $work/ranks true
expect 2 "" "viaduct: rank file: +n0 is none of the hosts that were named" $mpiexec --rankfile $work/ranks true
wrong_line() { printf "$1\n" >$work/ranks; expect 2 "" "~^viaduct: rank file: $2" $mpiexec --rankfile $work/ranks true; }
wrong_line 'rank 0=localhost slot=4000' "slot=4000: this host has no such"
wrong_line 'rank 0=localhost sockets=1' "expected .rank N=HOST slot=LIST. in the line"
wrong_line 'rank 0 slot=1' "expected"
wrong_line 'rank 1=localhost' "there is no line for rank 0"
wrong_line 'rank 0=localhost\nrank 0=localhost' "two lines name rank 0"
finish
