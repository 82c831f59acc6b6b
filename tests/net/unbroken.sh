# Every link fails, the receiver stands still or computes: the job waits and goes on, and nobody is declared dead.
#   STOP, COMPUTE and REBOOT: seconds that the receiver is stopped, computes, the switch is away (make soak: longer)
# timeout: 180 waits: 50
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 2
ticks=$work/ticks
source "$VIADUCT_SOURCE/tests/net/meter.bash"
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info
lab-link all all rate 60mbit
stop=${STOP:-5} compute=${COMPUTE:-4} reboot=${REBOOT:-3} ever=$((${STOP:-5} + ${COMPUTE:-4} + 200))

stands_still() { # SECONDS WHAT: from one second after now on no message comes
    sleep 1
    local before=$(heard)
    sleep "$1"
    (($(heard) <= before + 1)) || fail "$2: messages come all the same" # one may have been on its way out of the receiver
}
unharmed() { ! grep -E "down|lost|dead" $work/log || fail "$1 lost a rail"; }
on_host() { # HOST PROGRAM: its process
    processes -x "$2" | while read -r pid; do [ "$(nsenter -t "$pid" -u uname -n)" = "$1" ] && echo "$pid" && break; done
}

start 1048576 8 $ever
lab-link h1 all cut
stands_still 4 "all links cut"
lab-link h1 all restore
goes_on "all links cut for 5 s"
end "all links cut for 5 s"

start 1048576 8 $ever
lab-link all all reboot $reboot & switch=$!
stands_still $((reboot - 2)) "the switch is away"
wait $switch
goes_on "the switch was away for $reboot s"
end "the switch was away for $reboot s"

# The pairs of one subnet fail for a while: one of last resort carries, by a card that a better one needs. It goes when they
# are back.
on() { local host=$1; shift; nsenter -t "$(cat /mnt/pid/$host)" -n -- "$@"; }
walls() { # add, del
    for link in 0 1; do
        for host in h0 h1; do on $host ip rule $1 pref 5 ipproto tcp from 10.77.$link.0/24 to 10.77.$link.0/24 blackhole; done
    done
}
sent() { "$VIADUCT_BIN/viaduct" info --net | awk -v card="$1" '$1 == card { for (i = 2; i < NF; i++) if ($(i + 1) == "MB") printf "%d", $i }'; }
has_sent() { (($(sent $2) >= $1)); } # MB CARD
for host in h0 h1; do on $host ip rule add pref 10 lookup local && on $host ip rule del pref 0; done
start 1048576 8 $ever
walls add
lab-link all all reset
eventually 20 grep -qE "is up: eth. 10.77.(0.. - 10.77.1|1.. - 10.77.0)" $work/log || fail "no pair of last resort: $(cat $work/log)"
goes_on "the pair of last resort"
walls del
eventually 30 grep -q "better pairs of cards are up than" $work/log || fail "the pair of last resort stays: $(cat $work/log)"
first=$(sent eth0) second=$(sent eth1)
eventually 20 has_sent $((first + 8)) eth0 && eventually 20 has_sent $((second + 8)) eth1 ||
    fail "better pairs are back, and one link carries: $(sent eth0) and $(sent eth1) MB, before $first and $second"
end "better pairs come back"
for host in h0 h1; do on $host ip rule add pref 0 lookup local && on $host ip rule del pref 10; done

start 1048576 8 $ever
for ((i = 0; i < 10; i++)); do
    lab-link h$((i % 2)) all reset
    goes_on "every connection reset at once, the time $i"
done
end "every connection reset at once, ten times"

start 1048576 8 $ever
pid=$(on_host h1 meter)
kill -STOP $pid
stands_still $((stop - 1)) "the receiver is stopped"
kill -CONT $pid
goes_on "the receiver was stopped for $stop s"
end "the receiver was stopped for $stop s"
unharmed "a receiver that was stopped"

start 1048576 8 $ever $compute
is_away() { local before=$(heard); sleep 1; (($(heard) == before)); }
eventually 20 is_away || fail "the receiver does not compute"
goes_on "the receiver computes for $compute s"
end "the receiver computes for $compute s"
unharmed "a receiver that computes"
finish
