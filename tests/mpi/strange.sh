#!/usr/bin/env bash
# Random wrong arguments to every function: an error class and a sentence, never a crash. See tests/programs/strange.c.
# timeout: 170 waits: 24 presets: release asan
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
unset PMI_FD PMI_RANK PMI_SIZE
program=$VIADUCT_BUILD/tests/programs/strange
[ -x "$program" ] || skip "strange is not built"
# Memory that a call left behind is not what is looked for.
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 "$program" >"$work/said" 2>&1 ||
    { tail -20 "$work/said" | cut -c1-300 && fail "a function went wrong: repeat with strange FUNCTION SEED"; }
finish
