# Half-close, reset, death, time-outs, urgent data, signals, stdio, exec, passing, forking, nested sets: the same answers with and
# without shared memory, at once or after a while, with one processor or all.
# timeout: 180 takes: 40 presets: programs
source "$VIADUCT_SOURCE/tests/lib/shell"
source "$VIADUCT_SOURCE/tests/sock/lib/same"
sock="$VIADUCT_BIN/viaduct sock"
plain cases 60
same_as_plain "after 2 calls" $sock --after 2 --
same_as_plain "one processor" taskset -c 0 $sock --after 8 --
joined_least $((4 * $(grep -vc 'stays TCP' "$work/plain")))
finish
