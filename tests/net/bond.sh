# All cards carry, unequal ones in proportion, and a cable that is pulled takes nothing but its own share: told by what each
# card has sent. How fast that is: bench/bond.
# timeout: 120 waits: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 2 3
ticks=$work/ticks
source "$VIADUCT_SOURCE/tests/net/meter.bash"
links() { # COUNT [MBIT...]
    local count=$1 link
    shift
    for link in 0 1 2; do
        lab-link all $link rate "${1:-60}mbit"
        lab-link all $link restore
        ((link < count)) || { lab-link h0 $link cut; lab-link h1 $link cut; }
        shift $(($# > 0))
    done
}
sent() { # CARD...: MB that the job has sent by them
    "$VIADUCT_BIN/viaduct" info --net | awk -v cards=" $* " '
        index(cards, " " $1 " ") { for (i = 2; i < NF; i++) if ($(i + 1) == "MB") sum += $i } END { printf "%d", sum }'
}
has_sent() { (($(sent $2) >= $1)); } # MB CARDS
all="eth0 eth1 eth2"

# shares WHAT CARD LEAST MOST...: of the first 15 MB nothing is said, of the next 40 the cards have these parts in a hundred
shares() {
    local what=$1 card before=() sum=0
    shift
    start 1048576 8 100
    eventually 30 has_sent 15 "$all" || fail "$what: nothing is sent: $(cat $work/log)"
    for card in $all; do before+=($(sent $card)); done
    eventually 60 has_sent $((before[0] + before[1] + before[2] + 40)) "$all" || fail "$what: too little is sent"
    local now=($(sent eth0) $(sent eth1) $(sent eth2))
    end "$what"
    for i in 0 1 2; do sum=$((sum + now[i] - before[i])); done
    echo "$what: of $sum MB: $((now[0] - before[0])) $((now[1] - before[1])) $((now[2] - before[2]))"
    while [ $# -gt 0 ]; do
        local i=${1#eth}
        local part=$(((now[i] - before[i]) * 100 / sum))
        ((part >= $2 && part <= $3)) || fail "$what: $1 carries $part %, not $2 to $3"
        shift 3
    done
}
links 2
shares "two links" eth0 35 65 eth1 35 65
links 3 60 18 6
shares "ten to three to one" eth0 50 85 eth1 12 35 eth2 2 15

# One of three cut in the middle, and mended: the others go on, and then it carries again.
links 3
start 1048576 8 100
eventually 30 has_sent 10 eth1 || fail "eth1 carries nothing"
lab-link h1 1 cut
before=$(sent eth0 eth2) alone=$(sent eth1)
eventually 30 has_sent $((before + 40)) "eth0 eth2" || fail "one of three cut: the others carry $(($(sent eth0 eth2) - before)) MB"
(($(sent eth1) - alone < 10)) || fail "a card without a cable has sent $(($(sent eth1) - alone)) MB"
lab-link h1 1 restore
alone=$(sent eth1)
eventually 30 has_sent $((alone + 10)) eth1 || fail "mended: it carries $(($(sent eth1) - alone)) MB"
end "one of three cut and mended"
finish
