#!/usr/bin/env bash
# A poor environment: what is missing is done without, silently, or named in one line.
# timeout: 120 takes: 3
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
traffic=$programs/traffic
[ -x "$traffic" ] || skip "no traffic program was built"

good() { # WHAT COMMAND...: runs, right, and silent
    local what=$1
    shift
    run 60 "$@"
    expect_status 0 "$what"
    expect_out 'all right' "$what"
    expect_silence "$what"
}

good "as it is" $mpiexec -n 4 "$traffic"
good "one rank" $mpiexec -n 1 "$traffic"
good "without a launcher" "$traffic"
good "process_vm calls refused" "$programs/without" process_vm_readv process_vm_writev -- $mpiexec -n 4 "$traffic"
good "only reading allowed" "$programs/without" process_vm_writev -- $mpiexec -n 4 "$traffic"
good "64 descriptors" bash -c "ulimit -n 64; exec $mpiexec -n 4 '$traffic'"
good "no TMPDIR, no HOME" env -i "PATH=$PATH" $mpiexec -n 3 "$traffic"
good "a small stack" bash -c "ulimit -s 256; exec $mpiexec -n 4 '$traffic'"
good "from a folder that is gone" bash -c "mkdir '$work/gone'; cd '$work/gone'; rmdir '$work/gone'; exec $mpiexec -n 2 '$traffic'"
if unshare -U true 2>/dev/null; then
    good "in a user namespace" unshare -U $mpiexec -n 4 "$traffic"
    good "as root of a user namespace" unshare -Ur $mpiexec -n 4 "$traffic"
fi
if unshare -m true 2>/dev/null; then
    good "/dev/shm of 64 KiB" unshare -m bash -c "mount -t tmpfs -o size=64k none /dev/shm && exec $mpiexec -n 4 '$traffic'"
    good "/tmp not writable" unshare -m bash -c "mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp && exec $mpiexec -n 4 '$traffic'"
    good "no /proc" unshare -m bash -c "mount -t tmpfs -o ro none /proc && exec $mpiexec -n 3 '$traffic'"
fi
if unshare -u true 2>/dev/null; then
    good "a host name that does not resolve" unshare -u bash -c "hostname no-such-host-$$.invalid; exec $mpiexec -n 4 '$traffic'"
fi
if unshare -n true 2>/dev/null; then
    good "no network, not even loopback" unshare -n $mpiexec -n 4 "$traffic"
fi
run 20 bash -c "ulimit -n 10; exec $mpiexec -n 16 '$traffic'"
[ "$status" -ne 0 ] && [ "$(wc -l <"$work/err")" -gt 2 ] && { fail "10 descriptors: more than one line"; cat "$work/err"; }
run 10 bash -c "ulimit -f 100; exec $mpiexec -n 3 '$traffic'"
expect_err 'MPI_Init: .*\(ulimit -f\) of 102400 bytes is below' "files of 100 KiB"
expect_status 1 "files of 100 KiB"
[ "$(wc -l <"$work/err")" -eq 1 ] || { fail "files of 100 KiB: not one line"; cat "$work/err"; }
out=$(bash -c "ulimit -f 0; exec $mpiexec -n 3 '$traffic'" 2>&1 | cat)
[[ $out == "viaduct: the file size limit (ulimit -f) of 0 bytes is below"* ]] || fail "no files: $out"
# 2 GB of addresses are enough for all that is used without a limit
free=$($mpiexec -n 2 "$programs/limited") limited=$(bash -c "ulimit -v 2000000; exec $mpiexec -n 2 '$programs/limited'")
[[ $free == "hall 1, "* ]] || fail "no hall: $free"
[ "$free" = "$limited" ] || fail "2 GB of address space: $limited; without a limit: $free"
run 20 bash -c "ulimit -v 20000; exec $mpiexec -n 2 '$traffic'"
[ "$status" -ge 128 ] && [ "$status" -ne 137 ] && { fail "20 MB of address space: exit status $status"; cat "$work/err"; }
[ "$status" -ne 0 ] && { [ -s "$work/err" ] || fail "20 MB of address space: not a word"; }
finish
