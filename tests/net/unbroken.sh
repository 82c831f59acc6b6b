# Every link fails, the receiver stands still or computes: the job waits and goes on, and nobody is declared dead.
#   STOP, COMPUTE and REBOOT: seconds that the receiver is stopped, computes, the switch is away (make soak: longer)
# timeout: 120 clock: 1 takes: 62
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 2
ticks=$work/ticks
source "$VIADUCT_SOURCE/tests/net/meter.bash"
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
lab-link all all rate 100mbit
stop=${STOP:-10} compute=${COMPUTE:-5} reboot=${REBOOT:-3}

start() { # ARGUMENTS OF THE METER
    : >$ticks
    timeout $((stop + compute + reboot + 60)) $mpiexec -host h0,h1 "$VIADUCT_BUILD/tests/programs/meter" "$@" >$ticks 2>$work/log & job=$!
    eventually 10 grep -q tick $ticks || fail "not started: $(cat $work/log)"
}
end() { # WHAT FROM TO: it went on, and the longest time without a message is in between
    wait $job || fail "$1: the job ended badly: $(tail -n 3 $work/log)"
    echo "$1: $(grep total $ticks)"
    least "$(longest)" "$2" && least "$3" "$(longest)" || fail "$1: $(longest) s without a message, not $2 to $3"
}
on_host() { # HOST PROGRAM: its process
    processes -x "$2" | while read -r pid; do [ "$(nsenter -t "$pid" -u uname -n)" = "$1" ] && echo "$pid" && break; done
}

start 1048576 8 9
lab-link h1 all cut
sleep 5
lab-link h1 all restore
end "all links cut for 5 s" 4.5 9

start 1048576 8 8
lab-link all all reboot $reboot
end "the switch is away for $reboot s" "$reboot" $((reboot + 6))

# The pairs of one subnet fail for a while: one of last resort carries, by a card that a better one needs. It goes when they
# are back.
on() { local host=$1; shift; nsenter -t "$(cat /mnt/pid/$host)" -n -- "$@"; }
walls() { # add, del
    for link in 0 1; do
        for host in h0 h1; do on $host ip rule $1 pref 5 ipproto tcp from 10.77.$link.0/24 to 10.77.$link.0/24 blackhole; done
    done
}
for host in h0 h1; do on $host ip rule add pref 10 lookup local && on $host ip rule del pref 0; done
start 1048576 8 12
walls add
lab-link all all reset
eventually 8 grep -qE "is up: eth. 10.77.(0.. - 10.77.1|1.. - 10.77.0)" $work/log || fail "no pair of last resort: $(cat $work/log)"
walls del
end "better pairs come back" 0 8
grep -q "better pairs of cards are up than" $work/log || fail "the pair of last resort stays: $(cat $work/log)"
least "$(between $(plus $EPOCHREALTIME -2) 9e9)" 20 || fail "better pairs are back, and one link carries"
for host in h0 h1; do on $host ip rule add pref 0 lookup local && on $host ip rule del pref 10; done

start 1048576 8 8
for ((i = 0; i < 10; i++)); do
    lab-link h$((i % 2)) all reset
    sleep 0.4
done
end "every connection reset at once, ten times" 0 2

start 1048576 8 $((stop + 3))
pid=$(on_host h1 meter)
kill -STOP $pid
sleep $stop
kill -CONT $pid
end "the receiver is stopped for $stop s" $((stop - 1)) $((stop + 2))
! grep -E "down|lost|dead" $work/log || fail "a receiver that was stopped lost a rail"

start 1048576 8 $((compute + 3)) $compute
end "the receiver computes for $compute s" $((compute - 1)) $((compute + 2))
! grep -E "down|lost|dead" $work/log || fail "a receiver that computes lost a rail"
finish
