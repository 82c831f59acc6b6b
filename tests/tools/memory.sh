# A rank that the kernel kills for want of memory is told apart from one that somebody killed.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
name=viaduct-test-$$
if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
    group=/sys/fs/cgroup/$name limit=memory.max swap=memory.swap.max
else
    group=/sys/fs/cgroup/memory/$name limit=memory.limit_in_bytes swap=memory.swappiness
fi
mkdir $group 2>/dev/null && [[ -w $group/$limit ]] || { rmdir $group 2>/dev/null; skip "no memory cgroup may be made here (needs root)"; }
trap 'rmdir $group; rm -rf "$work"' EXIT
echo 40M >$group/$limit
[[ -w $group/$swap ]] && echo 0 >$group/$swap

# The eater grows by a line that never ends.
expect 137 "" "~^viaduct: rank 1 \(pid [0-9]+ on [^ ]+\) was killed by signal 9 \(Killed\): the kernel's out-of-memory killer; use fewer ranks or raise the memory limit" \
    bash -c "echo \$\$ >$group/cgroup.procs; exec $mpiexec -n 2 bash -c '[ \$PMI_RANK = 1 ] && exec tail /dev/zero; sleep 20'"
expect 137 "" "~ended with exit status 137: the kernel's out-of-memory killer" \
    bash -c "echo \$\$ >$group/cgroup.procs; exec $mpiexec -n 2 bash -c '[ \$PMI_RANK = 1 ] && { tail /dev/zero; exit; }; sleep 20'"
expect 137 "" "~was killed by signal 9 \(Killed\)$" bash -c "echo \$\$ >$group/cgroup.procs; exec $mpiexec -n 2 sh -c 'kill -9 \$\$'"
eventually 5 test ! -s $group/cgroup.procs || fail "somebody is left in the group"
finish
