# One port a node: of the launcher, of its helpers, of the lowest rank under a foreign launcher. A range of as many ports as
# nodes is enough; a rank that stops keeps no other from being called.
# timeout: 60 waits: 3
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 3 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
all=$VIADUCT_BUILD/tests/programs/meet
ports() { lab-rsh "$1" ss -Hltn | awk '{print $4}' | sort -u | tr '\n' ' '; }

# the launcher's
expect 0 "6 met" "" env MPIEXEC_PORT_RANGE=20000:20000 timeout 30 $mpiexec -host h0,h1:3,h2:2 $all
mkfifo $work/pause
VIADUCT_LOG=info MPIEXEC_PORT_RANGE=20000:20000 $mpiexec -host h0:2,h1:3 $all wait <$work/pause >$work/out 2>$work/log & job=$!
exec 9>$work/pause
eventually 10 grep -q met $work/out || fail "they did not meet"
for host in h0 h1; do
    [[ $(ports $host) =~ ^10\.77\.0\.[12]%eth0:20000\ 127\.0\.0\.1:20000\ $ ]] || fail "$host listens at $(ports $host)"
done
# strangers cost nothing but a line of the log, and are counted
for stranger in 1 2 3; do
    lab-rsh h2 "bash -c 'exec 8<>/dev/tcp/10.77.0.2/20000; head -c 64 /dev/zero >&8; read -r -t 5 <&8; true'" 2>/dev/null
done
exec 9>&-
wait $job || fail "the waiting ones ended badly"
grep -qx "viaduct: h1: info: rejected connection from 10.77.0.3: not a Viaduct peer" $work/log &&
    [ "$(grep -c "rejected connection from" $work/log)" = 1 ] || fail "strangers: $(cat $work/log)"
grep -q "^viaduct: 3 connections to h1 were rejected" $work/log || fail "strangers are not counted: $(cat $work/log)"

# on one host nothing listens on a card
VIADUCT_TRANSPORTS=tcp $mpiexec -n 2 $all wait <$work/pause >$work/out & job=$!
exec 9>$work/pause
eventually 10 grep -q met $work/out || fail "they did not meet"
[[ $(ports h0) =~ ^127\.0\.0\.1:[0-9]+\ $ ]] || fail "one host alone listens at $(ports h0)"
exec 9>&-
wait $job || fail "the two of one host ended badly"

# a range that makes no sense, or is in use, is told
expect 2 "" "~^viaduct: MPIEXEC_PORT_RANGE is \"20000\", not two ports" env MPIEXEC_PORT_RANGE=20000 timeout 30 $mpiexec -host h0,h1 $all

# the lowest rank's: three pretended nodes, three ports
expect 0 "6 met" "" env MPIEXEC_PORT_RANGE=20000:20002 timeout 30 $mpiexec -n 6 "$VIADUCT_SOURCE/tests/lib/split" $all
# ... and it may leave the library alone meanwhile: ranks 1 to 3 are a node, 1 keeps its door
expect 0 "6 met" "" timeout 30 $mpiexec -n 6 "$VIADUCT_SOURCE/tests/lib/split" $all without 1
finish
