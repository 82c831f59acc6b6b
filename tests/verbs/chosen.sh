# Which RDMA ports are used, and which are not and why, in words (viaduct info --net, viaduct doctor); and that VIADUCT_TRANSPORTS and
# VIADUCT_VERBS choose, on the double of libibverbs. rdma/chosen.sh: on software RoCE.
# presets: release asan
# timeout: 120 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs VIADUCT_TRANSPORTS=verbs,tcp DOUBLE_GIDS=127.0.0.1,198.51.100.9
told() { # PATTERN: viaduct info --net
    "$VIADUCT_BIN/viaduct" info --net >"$work/net" 2>&1 || fail "viaduct info --net: status $?"
    grep -Eq -- "$1" "$work/net" || fail "no \"$1\" in: $(cat "$work/net")"
}
told '^double0/1 +RoCE +100 Gb/s +127\.0\.0\.1 +used as card lo: GID 1, MTU 4096, service level 0, traffic class 0, entry 0 of partition keys$'
told '^double1/1 +RoCE +100 Gb/s +- +not used: no GID of RoCE v2 is the address of a network card$'
told '^registered +.*(an adapter takes|may be locked)'
DOUBLE_DOWN=double0 told '^double0/1 .*not used: its port is down$'
DOUBLE_RECEIVES=199 told '^double0/1 .*127\.0\.0\.1 +not used: its device has no shared receive queue of 200$'
DOUBLE_RECEIVES=200 told '^double0/1 .*used as card lo'
VIADUCT_TRANSPORTS=tcp told '^not used: VIADUCT_TRANSPORTS leaves it out$'
VIADUCT_TRANSPORTS=verbs:double1 told '^double0/1 .*127\.0\.0\.1 +not used: VIADUCT_TRANSPORTS leaves it out$'
VIADUCT_TRANSPORTS=verbs:lo told '^double0/1 .*used as card lo'
VIADUCT_VERBS="level:3 class:0x6a" told '^double0/1 .*service level 3, traffic class 106,'
VIADUCT_VERBS=key:0x7fff told '^double0/1 .*used as card lo'
VIADUCT_VERBS=key:5 told '^double0/1 .*not used: it has no partition key 0x5'
VIADUCT_VERBS=gid:0 told '^double0/1 .*not used: no GID of RoCE v2 is the address'
mkdir "$work/lib" && : >"$work/lib/librdmacm.so.1"
LD_PRELOAD=$VIADUCT_BUILD/tests/verbs/iwarp.so LD_LIBRARY_PATH=$work/lib:$LD_LIBRARY_PATH ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
    told '^double1/1 +iWARP +.*not used: .*librdmacm.so.1.*install the package librdmacm1'
if [ ! -e /sys/class/infiniband ]; then
    unset VIADUCT_TRANSPORTS
    told '^not used: there is nothing in /sys/class/infiniband$'
fi

# Such a job, and what its queue pairs were given.
job() { # STATUS PATTERN; what it logs
    rm -f "$work/memory" "$work/counts"
    DOUBLE_COUNTS=$work/counts DOUBLE_MEMORY=$work/memory VIADUCT_LOG=info run 60 "$mpiexec" -n 2 "$VIADUCT_BUILD/tests/test-mpi-sendrecv"
    expect_status "$1" "$VIADUCT_TRANSPORTS"
    expect_err "$2" "$VIADUCT_TRANSPORTS"
}
export VIADUCT_TRANSPORTS=verbs:double0
VIADUCT_VERBS="class:106 level:3" job 0 'rail 16 to rank 1 is up'
awk '{ for (i = 1; i < NF; i += 2) sum[$i] += $(i + 1) } END { exit !(sum["connected"] >= 2 && sum["levels"] == 3 * sum["connected"] &&
    sum["classes"] == 106 * sum["connected"]) }' "$work/counts" || fail "queue pairs have other values: $(cat "$work/counts")"
VIADUCT_TRANSPORTS=verbs:double1 job 1 'transport verbs is not used: no active port of an RDMA device'
VIADUCT_TRANSPORTS=verbs:lo,tcp:lo job 0 'transports: verbs, tcp'
VIADUCT_TRANSPORTS=tcp:nowhere job 1 'transport tcp is not used: VIADUCT_TRANSPORTS="tcp:nowhere" names no network card of host'
DOUBLE_LOCKABLE=65536 job 1 'double0 registers no [0-9]+ bytes \(ulimit -l tells'
VIADUCT_TRANSPORTS=verbs:lo,tcp:lo DOUBLE_LOCKABLE=65536 job 0 'double0 registers no [0-9]+ bytes \(ulimit -l tells'
rm -f "$work/memory" "$work/counts"
program=$VIADUCT_BUILD/tests/test-mpi-sendrecv
DOUBLE_COUNTS=$work/counts DOUBLE_MEMORY=$work/memory run 60 "$mpiexec" -n 1 env DOUBLE_MTU=3 "$program" : -n 1 "$program"
expect_status 0 "ports of two MTUs"
awk '{ for (i = 1; i < NF; i += 2) sum[$i] += $(i + 1) } END { exit !(sum["connected"] >= 2 && sum["mtus"] == 3 * sum["connected"]) }' \
    "$work/counts" || fail "not the smaller MTU: $(cat "$work/counts")"
for wrong in "level:16" "class:256" "key:0x8000" "gid:-1" "gid:256" "level" "level:" "level:1x" "color:3" "level:1,class:2"; do
    VIADUCT_VERBS=$wrong expect 2 "" "~invalid value '$wrong' for VIADUCT_VERBS: expected level:" "$mpiexec" -n 1 true
done
for wrong in "shm:eth0" "tcp:" "verbs,pigeon:1"; do
    VIADUCT_TRANSPORTS=$wrong expect 2 "" "~invalid value '$wrong' for VIADUCT_TRANSPORTS: " "$mpiexec" -n 1 true
done
finish
