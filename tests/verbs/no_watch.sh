# Where the kernel gives no userfaultfd: memory of MPI_Alloc_mem stays registered until it is given back, and other memory is
# registered for each transfer; on the double of libibverbs, which counts.
# presets: release
# timeout: 100 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -e "$VIADUCT_BUILD/tests/verbs/libibverbs.so.1" ] || skip "libibverbs-dev is not installed"
[ -x "$programs/no_watch" ] || skip "the program was not built"
export LD_LIBRARY_PATH=$VIADUCT_BUILD/tests/verbs VIADUCT_TRANSPORTS=verbs DOUBLE_MEMORY=$work/memory DOUBLE_COUNTS=$work/counts
registered() { # ARGUMENT: registrations of both ranks, in $count
    rm -f "$work/memory" "$work/counts"
    run 60 "$mpiexec" -n 2 "$programs/no_watch" $1
    [ "$status" != 77 ] || skip "no filter of system calls is permitted here"
    expect_status 0 "${1:-MPI_Alloc_mem}"
    count=$(awk '{ for (i = 1; i < NF; i += 2) if ($i == "registered") sum += $(i + 1) } END { print sum + 0 }' "$work/counts")
    echo "${1:-MPI_Alloc_mem}: $count registrations of 500 sends and receives"
}
registered malloc
[ "$count" -ge 500 ] || fail "$count registrations: memory of malloc was kept"
registered ""
[ "$count" -gt 0 ] && [ "$count" -le 60 ] || fail "$count registrations: memory of MPI_Alloc_mem was not kept"
finish
