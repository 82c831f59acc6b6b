# The launcher over several hosts of the laboratory: places, input, output, ends, and MPI across them.
# timeout: 150 waits: 14
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
sorted() { "$@" | sort; }
say='echo $PMI_RANK/$PMI_SIZE $MPI_LOCALRANKID/$MPI_LOCALNRANKS $(uname -n)'

# places
expect 0 $'0/3 0/1 h0\n1/3 0/1 h1\n2/3 0/1 h2' "" sorted $mpiexec -hosts h0,h1,h2 sh -c "$say"
expect 0 $'0/3 0/2 h1\n1/3 1/2 h1\n2/3 0/1 h2' "" sorted $mpiexec -host h1:2,h2 sh -c "$say"
printf 'h1 slots=2\nh2:1\n' >$work/hosts
expect 0 $'0/4 0/3 h1\n1/4 1/3 h1\n2/4 0/1 h2\n3/4 2/3 h1' "" sorted $mpiexec -n 4 -f $work/hosts sh -c "$say"
expect 0 $'0/4 0/2 h1\n1/4 0/2 h2\n2/4 1/2 h1\n3/4 1/2 h2' "" sorted $mpiexec -n 4 --map-by node -f $work/hosts sh -c "$say"
expect 0 $'0/4 0/2 h1\n1/4 1/2 h1\n2/4 0/2 h2\n3/4 1/2 h2' "" sorted $mpiexec -n 4 --map-by node --rank-by slot -f $work/hosts sh -c "$say"
expect 0 $'0/3 0/2 h1\n1/3 0/1 h2\n2/3 1/2 h1' "" sorted $mpiexec -n 3 --rank-by node -f $work/hosts sh -c "$say"
expect 0 $'0/1 0/1 h2' "" $mpiexec --nolocal -n 1 -hosts h0,h2 sh -c "$say"
printf 'rank 0=h2 slot=0\nrank 2=+n0 slot=*\nrank 1=h0\n' >$work/ranks
expect 0 $'0/3 0/1 h2\n1/3 0/1 h0\n2/3 0/1 h1' "~rank 0 on h2 is bound to processors 0" \
    sorted $mpiexec --rankfile $work/ranks --report-bindings -f $work/hosts sh -c "$say"
expect 255 "" "~host h1 is lost: rank file: slot=4000: this host has no such processors" $mpiexec --rankfile <(echo rank 0=h1 slot=4000) true
expect 0 $'a h1\nb h2' "" sorted $mpiexec -host h1 sh -c 'echo a $(uname -n)' : -host h2 sh -c 'echo b $(uname -n)'
expect 0 $'[0] h1\n[1] h2' "" sorted $mpiexec -l -host h1,h2 uname -n
expect 0 x "" env MARK=x $mpiexec -host h1 sh -c 'echo $MARK'
expect 0 "$PWD" "" $mpiexec -host h1 pwd

# a file of parts that is only here, or a pipe
printf -- '-host h1 sh -c "echo a \$(uname -n)"\n\n-host h2 uname -n' >$work/parts
expect 0 $'a h1\nh2' "" sorted $mpiexec -configfile <(cat $work/parts)
expect 0 $'a h1\nh0\nh2' "" sorted sh -c "$mpiexec -host h0 uname -n : -configfile /dev/stdin <$work/parts"

# the hosts of a batch job, where none is named
printf 'h1\nh1\nh2\n' >$work/nodes
printf 'h2 1 all.q@h2 UNDEFINED\nh1 2 all.q@h1 UNDEFINED\n' >$work/pe
for nodes in PBS_NODEFILE=$work/nodes LSB_DJOB_HOSTFILE=$work/nodes "SLURM_JOB_NODELIST=h[1-2] SLURM_TASKS_PER_NODE=2,1" \
    "SLURM_JOB_NODELIST=h1,h2 SLURM_TASKS_PER_NODE=2(x1),1"; do
    expect 0 $'0/3 0/2 h1\n1/3 1/2 h1\n2/3 0/1 h2' "" sorted env $nodes $mpiexec sh -c "$say"
done
expect 0 $'0/3 0/1 h2\n1/3 0/2 h1\n2/3 1/2 h1' "" sorted env PE_HOSTFILE=$work/pe $mpiexec sh -c "$say"
expect 0 $'0/2 0/1 h1\n1/2 0/1 h2' "" sorted env PBS_NODEFILE=$work/nodes $mpiexec -ppn 1 sh -c "$say"
expect 0 '0/1 0/1 h2' "" env PBS_NODEFILE=$work/nodes $mpiexec -host h2 sh -c "$say"
expect 0 '0/1 0/1 h0' "" env PBS_NODEFILE=$work/nodes $mpiexec -rmk none sh -c "$say"
expect 0 $'0/3 0/1 h2\n1/3 0/2 h1\n2/3 1/2 h1' "" \
    sorted env PBS_NODEFILE=$work/nodes PE_HOSTFILE=$work/pe $mpiexec -rmk sge sh -c "$say"
expect 2 "" "viaduct: -rmk slurm: SLURM_JOB_NODELIST is not set: this is no job of slurm" $mpiexec -rmk slurm true
expect 2 "" "~the hosts of this job in PBS_NODEFILE: cannot read .*/none: No such file or directory; -rmk none ignores it" env PBS_NODEFILE=$work/none $mpiexec true
expect 0 '0/1 0/1 h0' "" env PBS_NODEFILE=$work/nodes $mpiexec -launcher fork sh -c "$say"
for tasks in x '2(x0),5' '2(x' 2x 0 1,, 99999999; do
    expect 2 "" "~cannot read the hosts of this job in SLURM_TASKS_PER_NODE=" \
        env SLURM_JOB_NODELIST=h1,h2 SLURM_TASKS_PER_NODE="$tasks" $mpiexec true
done
: >$work/empty
printf '\nh1 1 q UNDEFINED\n\nh2 1' >$work/pe # blank lines, and no newline at the end
expect 0 $'h1\nh2' "" sorted env PE_HOSTFILE=$work/pe $mpiexec uname -n
printf 'h1 2 q UNDEFINED\nh2 1 q UNDEFINED\n' >$work/pe
for file in empty none hosts; do
    expect 2 "" "~cannot read the hosts of this job in PE_HOSTFILE=" env PE_HOSTFILE=$work/$file $mpiexec true
done
for list in 'a[1' 'a[3-1]' 'a[1-]' '[' , 'a[]' 'a[1-2-3]' 'a[0-99999]' $(head -c 300 /dev/zero | tr '\0' a); do
    expect 2 "" "~cannot read the hosts of this job in SLURM_JOB_NODELIST=" env SLURM_JOB_NODELIST="$list" $mpiexec true
done
expect 255 "" "~host a1b: 3 slots.*a2b: 3 .*a07b: 1 .*a007b: 1 .*host i: 1 .*x0y9: 1 .*x0y10: 1 .*x1y9: 1 .*x1y10: 1 " \
    env SLURM_JOB_NODELIST='a[1-2,07,007]b,i,x[0-1]y[9-10]' SLURM_TASKS_PER_NODE='3(x2),1(x7)' \
    $mpiexec --agent false --display-allocation true
# such a system may have an agent of its own, which is taken where it is there; srun has words of its own
mkdir $work/agents
printf '#!/bin/sh\nexec lab-rsh "$@"\n' >$work/agents/blaunch
printf '#!/bin/sh\nwhile [ "$1" != -w ]; do shift; done\n[ "$3 $4" = "/bin/sh -c" ] && exec lab-rsh "$2" "$5"\n' >$work/agents/srun
printf '#!/bin/sh\n[ "$1 $2" = "-inherit -V" ] && shift 2 && exec lab-rsh "$@"\n' >$work/agents/qrsh
chmod +x $work/agents/*
for nodes in LSB_DJOB_HOSTFILE=$work/nodes PE_HOSTFILE=$work/pe "SLURM_JOB_NODELIST=h[1-2] SLURM_TASKS_PER_NODE=2,1"; do
    expect 0 $'h1\nh1\nh2' "" sorted env -u HYDRA_LAUNCHER_EXEC PATH=$work/agents:$PATH $nodes $mpiexec uname -n
done
expect 0 h2 "" env -u HYDRA_LAUNCHER_EXEC PATH=$work/agents:$PATH $mpiexec -launcher slurm -host h2 uname -n

# input for a rank elsewhere, byte for byte, and its end
seq 1 300000 >$work/numbers
$mpiexec -host h1,h2 cat <$work/numbers >$work/got || fail "cat over a host"
cmp -s $work/numbers $work/got || fail "input from a file is not the same"
cat $work/numbers | $mpiexec -host h1,h2 cat >$work/got
cmp -s $work/numbers $work/got || fail "input from a pipe is not the same"

# ends
expect 3 "" "~rank 1 .* on h2\) ended with exit status 3" $mpiexec -host h1,h2 sh -c 'test $PMI_RANK = 1 && exit 3; sleep 100'
expect 137 "" "~rank 1 .* on h2\) was killed by signal 9" $mpiexec -host h0,h2 sh -c 'test $PMI_RANK = 1 && kill -9 $$; sleep 100'
expect 255 "" "~^viaduct: cannot start ranks on far: lab-rsh: Could not resolve hostname far" $mpiexec -host h1,far sleep 100
expect 127 "" "~cannot start ./none: No such file or directory: on h1$" $mpiexec -host h1 ./none
expect 126 "" "~cannot start rank 0: it cannot go to the folder /none .-wdir.: No such file or directory: on h1$" $mpiexec -wdir /none -host h1 true
expect 124 "" "~the time allowed" $mpiexec -timeout 1 -host h1,h2 sleep 100
printf '#!/bin/sh\nexec sleep 100\n' >$work/deaf
chmod +x $work/deaf
env --default-signal=INT $mpiexec --agent $work/deaf -host h1 true 2>$work/err & head=$! # (a shell's background ignores it)
eventually 30 grep -q "^viaduct: waiting for h1: no answer yet (5 s)" $work/err || fail "no word of the wait for a host: $(cat $work/err)"
kill -INT $head
wait $head # by the interrupt, not by the end of its patience, of which it would say a word
status=$?
[ $status = 130 ] && ! grep "cannot start ranks" $work/err || fail "interrupted while it waits for a host: $status: $(cat $work/err)"
mkdir $work/here
expect 255 "" "~^viaduct: cannot start ranks on h1: cannot go to .*/here/only there" unshare --mount sh -c \
    "mount -t tmpfs none $work/here && mkdir $work/here/only && cd $work/here/only && $mpiexec -host h1 true"
# (nobody needs it where all programs run in others)
expect 0 $'/\n/' "" unshare --mount sh -c \
    "mount -t tmpfs none $work/here && mkdir $work/here/only && cd $work/here/only && $mpiexec -wdir / -host h1 pwd : -wdir / -host h2 pwd"
expect 255 "" "~^viaduct: cannot start ranks on h1: cannot go to .*/here/only there" unshare --mount sh -c \
    "mount -t tmpfs none $work/here && mkdir $work/here/only && cd $work/here/only && $mpiexec -wdir / -outfile-pattern x -host h1 pwd"
# the folder goes by the name that the user gave it: its real one may not be there
mkdir $work/real
ln -s real $work/named
printf '#!/bin/sh\nexec unshare -m sh -c "mount -t tmpfs none %s && mkdir %s/named && $2"\n' $work $work >$work/agents/elsewhere
chmod +x $work/agents/elsewhere
expect 0 "$work/named" "" sh -c "cd $work/named && $mpiexec --agent $work/agents/elsewhere -host h1 pwd"
mkdir $work/gone
expect 255 "" "~cannot go to .a folder that was removed. there" \
    sh -c "cd $work/gone && rmdir $work/gone && $mpiexec -host h1 true"
nobody() { none_of -f "sleep 101|viaduct helper"; }
$mpiexec -host h0,h1,h2 sleep 101 & head=$!
eventually 5 are 3 -f "^sleep 101" || fail "not started"
kill -KILL $head
eventually 2 nobody || fail "the launcher was killed, somebody is left"
$mpiexec -host h0,h1,h2 sleep 101 2>$work/err & head=$!
eventually 5 are 3 -f "^sleep 101" || fail "not started"
kill -KILL $(processes -x viaduct | tail -n 1) # not its watchdog, which has a name of its own
wait $head
[ $? = 255 ] && grep -q "host h[12] is lost" $work/err || fail "a helper was killed: $(cat $work/err)"
eventually 2 nobody || fail "a helper was killed, somebody is left"

# MPI
"$VIADUCT_BIN/mpicc" -o $work/ring "$VIADUCT_SOURCE/examples/ring.c" || fail "mpicc"
expect 0 "~." "" timeout 30 $mpiexec -host h0,h1:3,h2:2 $work/ring
lab-rsh h2 ip addr flush dev eth0
expect "~[1-9]" "" "~no address of this host .10.77.0.1. can reach one of rank 1's on h2 .none.|of this host .none. can reach one of rank 0's on h0 .10.77.0.1." \
    timeout 30 $mpiexec -host h0,h2 $work/ring
finish
