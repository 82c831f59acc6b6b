# Which cards of two hosts go together, and what becomes of pairs that do not answer. All of it in the laboratory.
# timeout: 180 waits: 12
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 4 3
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
rounds=$VIADUCT_BUILD/tests/programs/rounds
on() { local host=$1; shift; nsenter -t "$(cat /mnt/pid/$host)" -n -- "$@"; }
hub() { nsenter -t 1 -n -- "$@"; }

# A job that talks until it is told to end; its log grows in $work/log.
start() { # HOSTS
    : >$work/go
    : >$work/log
    timeout 60 $mpiexec -host "$1" $rounds $work/go >$work/said 2>$work/log & job=$!
}
end() {
    rm $work/go
    wait $job || fail "the job ended badly: $(tail -3 $work/log)"
    [ "$(cat $work/said)" = "all right" ] || fail "$(cat $work/said)"
    for rank in "${!wanted[@]}"; do exactly $rank ${wanted[$rank]}; done # nor later
    wanted=()
}
# has RANK TEXT: the log of this rank says so
has() { grep -q "rank $1\] info: $2" $work/log; }
said() { eventually 5 has "$@" || fail "rank $1 does not say \"$2\": $(cat $work/log)"; }
ups() { grep -c "rank $1\] info: rail .* is up" $work/log; }
enough() { [ "$(ups $1)" -ge $2 ]; }
exactly() { [ "$(ups $1)" -eq $2 ] || fail "rank $1 has $(ups $1) rails, not $2: $(cat $work/log)"; } # RANK COUNT
declare -A wanted
rails() { # RANK COUNT: so many have come up, and no more until the job ends
    eventually 5 enough $1 $2
    exactly $1 $2
    wanted[$1]=$2
}

# three cards on both hosts: three rails, each of its own
start h0,h1
for link in 0 1 2; do
    said 0 "rail $link to rank 1 is up: eth$link 10.77.$link.1 - 10.77.$link.2"
    said 1 "rail $link to rank 0 is up: eth$link 10.77.$link.2 - 10.77.$link.1"
done
rails 0 3

# what befalls a card that does not carry costs nothing, and it comes again
lab-link h1 2 reset
said "[01]" "rail [012] to rank . is down: eth[012] 10.77" # one may first hear of its successor
rails 0 4
rails 1 4
wanted=() # what follows may bring more
lab-link h1 1 cut || fail cut
sleep 0.3
lab-link h1 1 restore || fail restore
lab-link h1 2 mute || fail mute
sleep 0.3
lab-link h1 2 restore || fail restore
lab-link h1 0 slow 100mbit || fail slow
on h1 tc qdisc show dev eth0 | grep -q "rate 100Mbit" || fail "the link is not slow"
sleep 0.3
lab-link h1 0 restore || fail restore
on h1 tc qdisc show dev eth0 | grep -q tbf && fail "the link is still slow"
end

# a card without carrier there: the two others; no answer by a card that is not the one
lab-link h1 2 cut
start h0,h1
rails 0 2
has 0 "rail . to rank 1 is up: eth2" && fail "a card goes with one that has no carrier"
end
lab-link h1 2 restore

# unequal numbers: one card here, three there
on h2 ip addr flush dev eth0
on h2 ip addr flush dev eth2
start h0,h2
said 0 "rail 0 to rank 1 is up: eth1 10.77.1.1 - 10.77.1.3"
rails 1 1
end

# a pair that does not answer: one sentence, and the job goes on over the others; the best pair, too
for link in 1 0; do
    lab-link h1 $link mute
    start h0,h1
    said 0 "rail $link to rank 1 does not come up: connecting from 10.77.$link.1 (eth$link) to 10.77.$link.2 port"
    rails 0 2
    [ "$(grep -c "rank 0. info: rail $link to rank 1 does not" $work/log)" = 1 ] || fail "told more than once"
    end
    lab-link h1 $link restore
done

# another host has taken the address: it refuses, or is of another job; the next rail carries
hub ip link set h1-0 nomaster
on h2 ip addr add 10.77.0.2/24 dev eth0
on h0 ip neigh flush dev eth0
start h0,h1
said 0 "rail 0 to rank 1 does not come up: connecting from 10.77.0.1 .*refused"
rails 0 2
end
export MPIEXEC_PORT_RANGE=21000:21000
: >$work/other
lab-rsh h2 "env VIADUCT_LOG=error timeout 60 $mpiexec -host h3,h2 $rounds $work/other" >/dev/null 2>$work/errors & other=$!
eventually 10 sh -c 'nsenter -t $(cat /mnt/pid/h2) -n -- ss -Hltn | grep -q 21000' || fail "the other job: $(cat $work/errors)"
start h0,h1
said 0 "rail 0 to rank 1 does not come up: the process that answers there does not belong to this job"
rails 0 2
end
rm $work/other
wait $other || fail "the other job: $(cat $work/errors)"
unset MPIEXEC_PORT_RANGE
on h2 ip addr flush dev eth0
lab-link h1 0 restore
on h0 ip neigh flush dev eth0

# a wall on one side: nobody gets in at h1, who may call others. Who only calls there is told within a bounded time, also
# where his last call was MPI_Finalize; who is called by h1 never notices
on h1 ip rule add pref 10 lookup local
on h1 ip rule del pref 0
for port in 20000 20001 20002; do on h1 ip rule add pref 5 ipproto tcp dport $port blackhole; done
for link in 1 2; do on h1 ip link set eth$link down; done
programs=$VIADUCT_BUILD/tests/programs
export MPIEXEC_PORT_RANGE=20000:20002 VIADUCT_PATIENCE=6s
timeout 50 $mpiexec -host h0,h1 $programs/oneway 2>$work/one & one=$!
timeout 50 $mpiexec -host h0,h1 $programs/meet >$work/met 2>$work/two & two=$!
expect 0 "" "" env VIADUCT_LOG=error timeout 50 $mpiexec -host h1,h0 $programs/oneway
wait $one
status=$?
[ $status = 1 ] || fail "rank 0 could not send before its end: status $status: $(cat $work/one)"
wait $two
status=$?
[ $status != 0 ] && [ $status != 124 ] || fail "rank 0 could not send: status $status"
for words in one two; do
    grep -q "no rail to rank 1 on h1 (10.77.0.2) for 6 s; the last error: connecting from 10.77.[012].1 (eth[012]) to 10.77.0.2 port 2000.: Connection timed out" $work/$words ||
        fail "the wall is not named: $(cat $work/$words)"
done
unset MPIEXEC_PORT_RANGE VIADUCT_PATIENCE
for port in 20000 20001 20002; do on h1 ip rule del pref 5; done
for link in 1 2; do on h1 ip link set eth$link up; done

# a bridge with the same address on both hosts, and something behind it: never
for host in h0 h1; do
    on $host ip link add docker0 type bridge
    on $host ip addr add 172.17.0.1/16 dev docker0
    on $host ip link set docker0 up
    on $host ip link add vethx type veth peer name vethy
    on $host ip link set vethx master docker0 up
    on $host ip link set vethy up
done
start h0,h1
rails 0 3
grep -q "172\.17" $work/log && fail "the bridge is used: $(cat $work/log)"
end

# all of it in words
is() { echo "$net" | grep -Eq "$1" || fail "viaduct info --net does not say \"$1\": $net"; }
net=$(PMI_FD=3 $VIADUCT_BIN/viaduct info --net)
is '^lo +loopback +- +127\.0\.0\.1/8 +used between ranks of this host$'
is '^eth0 +veth +.* 10\.77\.0\.1/24 +used$'
is '^docker0 +bridge +.* 172\.17\.0\.1/16 +used$'
is '^vethx +veth +.* not used: it belongs to a bridge'
is '^secret .*another launcher'
on h0 ip link set vethy down
net=$($VIADUCT_BIN/viaduct info --net)
is '^docker0 .* 172\.17\.0\.1/16 +not used: it has no carrier$'
is '^secret  *by viaduct run'
finish
