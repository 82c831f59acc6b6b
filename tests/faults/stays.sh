#!/usr/bin/env bash
# Nothing stays behind: what a rank started in a session of its own with nothing in its environment; what has a large one, when the
# launcher is killed; and all ranks, when first the watchdog is killed and then the launcher.
# timeout: 60 waits: 3
source "$VIADUCT_SOURCE/tests/lib/shell"

expect 0 "" "" $mpiexec -n 2 sh -c 'env -i setsid sleep 4321 & exit 0'
no_process "^sleep 4321" "a session of its own, a normal end"

kill_launcher() { # WHAT
    eventually 5 are 2 -f "^sleep 4321" || fail "$1: it does not run"
    kill -KILL $launcher
    wait $launcher 2>/dev/null
    no_process "^sleep 4321" "$1"
}
large=$(head -c 120000 /dev/zero | tr '\0' x)
A=$large B=$large C=$large $mpiexec -n 2 sh -c 'setsid sleep 4321; exit 0' & launcher=$!
kill_launcher "a large environment, the launcher killed"

$mpiexec -n 2 sleep 4321 & launcher=$!
eventually 5 are 1 -x viaduct-watch || fail "no watchdog"
first=$(processes -x viaduct-watch)
kill -KILL $first
other() { [ -n "$(processes -x viaduct-watch)" ] && [ "$(processes -x viaduct-watch)" != $first ]; }
eventually 5 other || fail "there is no other watchdog"
kill_launcher "the watchdog killed, then the launcher"
finish
