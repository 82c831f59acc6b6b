#!/usr/bin/env bash
# The launcher killed outright takes its ranks with it, and the children they started as shells do.
# timeout: 60 waits: 4
set -um # with job control, so that what runs in the background does not ignore SIGINT
source "$VIADUCT_SOURCE/tests/lib/shell"
cp "$programs/victim" "$work/victim-$$" || skip "no victim was built"
victim=$work/victim-$$
for signal in KILL TERM INT; do
    for how in direct shell; do
        # rank 1 sleeps in pause() after SIGSTOP-like absence; the others wait for it
        if [ $how = direct ]; then
            $mpiexec -n 4 "$victim" 1 23 recv >/dev/null 2>"$work/err" </dev/null &
        else
            $mpiexec -n 4 sh -c "'$victim' 1 23 recv; exit \$?" >/dev/null 2>"$work/err" </dev/null &
        fi
        launcher=$!
        eventually 10 are 4 -f "^$victim" || fail "$signal $how: the job does not run: $(cat "$work/err")"
        kill -$signal $launcher
        no_process "$victim" "launcher ended by SIG$signal, ranks started $how"
        wait $launcher 2>/dev/null
    done
done
finish
