# epoll_wait tells of connections in the order in which bytes came: what was sent first is found first, as by TCP.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
order=$VIADUCT_BUILD/tests/sock/order
export VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log
for after in 0 8; do
    run 20 "$VIADUCT_BIN/viaduct" sock --after $after -- "$order"
    expect_status 0 "after $after calls"
    expect_out "^0 in another order"
done
joined=$(grep -c 'is joined' "$work/log")
[ "$joined" -eq 12 ] || fail "$joined ends of 12 were joined"
finish
