# The doctor looks at each transport over cards: what has a port of RDMA (the double of libibverbs) on both hosts, and what lacks it there.
# timeout: 60 takes: 8
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
laboratory 2 2
export HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_TRANSPORTS=verbs,tcp
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs DOUBLE_MEMORY=$work/memory
doctor="$VIADUCT_BIN/viaduct doctor"
number='[0-9]+\.[0-9]+'
ways="way +eth0 10\.77\.0\.1 - 10\.77\.0\.2: $number us one way, $number GB/s"
export DOUBLE_GIDS=10.77.0.1,10.77.0.2 # a device for each of the two hosts
expect 0 "~there +double0/1 .*not used: no GID.*here +double1/1 .*not used: no GID.*$ways.*together +1 way,.*$ways.*together +2 ways" "" \
    timeout 40 $doctor h1
rm -f "$work/memory"
export DOUBLE_GIDS=10.77.0.1,10.77.0.9
expect 0 "~no way +over verbs: it cannot be used there.*$ways.*together +2 ways" "" timeout 40 $doctor h1
rm -f "$work/memory"
export DOUBLE_GIDS=10.77.0.9,10.77.0.2
expect 0 "~no way +over verbs: no active port of an RDMA device belongs.*$ways.*together +2 ways" "" timeout 40 $doctor h1
finish
