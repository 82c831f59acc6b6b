# RoCE in software works where the tests run: every byte that one card sends to the other comes, by the cable between them.
# presets: rdma timeout: 200 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
emulated
for card in rxeA rxeB; do
    run 20 ibv_devinfo -d $card
    expect_out 'state:[[:space:]]*PORT_ACTIVE' "$card"
    expect_out 'link_layer:[[:space:]]*Ethernet' "$card"
done

listens() { ss -Htln 'sport = 18515' | grep -q .; }
cross() { # FROM TO ADDRESS: 200 messages of 4 KiB there and back, compared
    local before
    before=$(cat /sys/class/net/r${1#rxe}/statistics/tx_bytes)
    ibv_rc_pingpong -d "$2" -g 1 -c -s 4096 -n 200 >"$work/called" 2>&1 &
    eventually 20 listens || fail "nobody listens: $(cat "$work/called")"
    run 60 ibv_rc_pingpong -d "$1" -g 1 -c -s 4096 -n 200 "$3"
    expect_status 0 "$1 to $2"
    wait $! || fail "$2, which was called: $(tail -3 "$work/called")"
    [ $(($(cat /sys/class/net/r${1#rxe}/statistics/tx_bytes) - before)) -gt $((200 * 4096)) ] || fail "$1 to $2: not by the cable"
    tail -1 "$work/out"
}
cross rxeA rxeB 10.9.0.2
cross rxeB rxeA 10.9.0.1
finish
