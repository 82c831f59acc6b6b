# MPI_Comm_split_type by the parts of made-up machines whose processors 0 and 1 share all, a cache, a socket, or nothing, with
# ranks bound to one of them each and with ranks that are not bound.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
split=$programs/split_hardware
[ -x "$split" ] || skip "the program was not built"
[ "$(nproc)" -ge 2 ] || skip "two processors are needed"

# machine CORE L2 L3 NUMA SOCKET: how many of the two processors share one
machine() {
    rm -rf "$work/sys"
    for cpu in 0 1; do
        local at=$work/sys/devices/system/cpu/cpu$cpu
        mkdir -p "$at/topology" "$at/cache/index2" "$at/cache/index3"
        echo $cpu >"$at/topology/core_id"
        echo $((cpu / $1 * $1)) >"$at/topology/thread_siblings_list"
        echo $((cpu / $2 * $2)) >"$at/cache/index2/shared_cpu_list"
        [ "$3" = 0 ] || echo $((cpu / $3 * $3)) >"$at/cache/index3/shared_cpu_list"
        [ "$4" = 0 ] || mkdir -p "$at/node$((cpu / $4))"
        echo $((cpu / $5)) >"$at/topology/physical_package_id"
    done
}
# splits ARGUMENT...: what the program tells, with this machine
splits() { VIADUCT_MACHINE=$work run 20 taskset -c 0,1 "$mpiexec" -n 4 "$@" "$split"; expect_status 0 "$*"; }
# expect_split LINE
expect_split() { grep -qx "$1" "$work/out" || fail "not there: $1; but $(cat "$work/out")"; }

machine 1 1 2 2 2 # cores of one socket
splits --bind-to hwthread
expect_split "mpi_shared_memory=true: 4 4 4 4"
expect_split "socket=true: 4 4 4 4"
expect_split "l3cache=true: 4 4 4 4"
expect_split "core=true: 2 2 2 2"
expect_split "unguided: 2 2 2 2"
expect_split "set: 1 1 1 1"
splits --bind-to none
expect_split "socket=true: 4 4 4 4"
expect_split "core=false: 0 0 0 0"
expect_split "unguided: 0 0 0 0"

machine 1 1 1 1 1 # two sockets
splits --bind-to hwthread
expect_split "socket=true: 2 2 2 2"
splits --bind-to none
expect_split "socket=false: 0 0 0 0"
expect_split "mpi_shared_memory=true: 4 4 4 4"

machine 2 2 2 2 2 # two threads of a core
splits --bind-to hwthread
expect_split "core=true: 4 4 4 4"
expect_split "hwthread=true: 2 2 2 2"
expect_split "unguided: 2 2 2 2"

machine 1 1 0 2 2 # no shared cache that is told
splits --bind-to hwthread
grep -q l3cache "$work/out" && fail "a cache that is not there: $(cat "$work/out")"

rm -rf "$work/sys" # nothing is told
splits --bind-to none
expect_split "mpi_shared_memory=true: 4 4 4 4"
expect_split "unguided: 0 0 0 0"
finish
