#!/usr/bin/env bash
# A tool is told by MPI_T of a link that is cut and of the one that takes its place; and one that begins to listen just then, on
# whichever side, is told of what comes from then on, and disturbs nothing.
# timeout: 90 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"
links=$programs/tool_links
[ -x "$links" ] || skip "the program with a tool was not built"
export VIADUCT_TRANSPORTS=tcp FAULT=drop-link=1@300,rank=0

told() { # ROUND: how many links went, in $down, and came, in $up, at each rank
    run 20 env LD_PRELOAD=$VIADUCT_BUILD/tests/libfault.so $mpiexec -n 2 "$links" $1
    expect_status 0 "from round $1 on"
    down=($(sed -n 's/^rank [01]: \([0-9]*\) down.*/\1/p' "$work/out")) up=($(sed -n 's/.*down, \([0-9]*\) up$/\1/p' "$work/out"))
    [ ${#down[@]} -eq 2 ] || { fail "from round $1 on: $(cat "$work/out" "$work/err")"; down=(0 0) up=(0 0); }
}
told 0
[ ${down[0]} -ge 1 ] && [ ${down[1]} -ge 1 ] || fail "not told of a link that is cut: $(cat "$work/out")"
[ ${up[0]} -ge 1 ] && [ ${up[1]} -ge 1 ] || fail "not told of the new link: $(cat "$work/out")"
all=${down[0]}
for round in 100 140 145 146 147 148 149 150 151 152 153 154 155 160 200; do
    told $round
    [ ${down[0]} -le $all ] || fail "from round $round on more is told than from the first: $(cat "$work/out")"
done
told 399
[ ${down[0]} -eq 0 ] && [ ${down[1]} -eq 0 ] || fail "told of what was over: $(cat "$work/out")"
finish
