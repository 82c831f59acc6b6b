# What a debugger finds in the launcher, stripped as in a package: the table of ranks at MPIR_Breakpoint, with their pids.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
type gdb >/dev/null 2>&1 || skip "gdb is not installed (apt install gdb)"

strip --strip-unneeded -o $work/viaduct $VIADUCT_BIN/viaduct || { echo "strip does not work"; exit 1; }
cat >$work/commands <<'END'
set pagination off
set debuginfod enabled off
break MPIR_Breakpoint
run run -n 3 sh -c 'echo $$; exec sleep 4711'
printf "state %d, ranks %d\n", *(int *)&MPIR_debug_state, *(int *)&MPIR_proctable_size
set $entry = *(char **)&MPIR_proctable + 24 * 2
printf "rank 2: %s, pid %d\n", *(char **)($entry + 8), *(int *)($entry + 16)
kill
END
gdb -batch -nx -x $work/commands $work/viaduct >$work/out 2>&1 </dev/null
grep -q '^state 1, ranks 3$' $work/out || fail "no table of three ranks: $(cat $work/out)"
pid=$(sed -n 's/^rank 2: sh, pid //p' $work/out)
grep -q "vfork from child process ${pid:-none}\]" $work/out || fail "the third rank is not in it: $(cat $work/out)"
eventually 5 none_of -f "^sleep 4711$" || fail "a debugger that kills the launcher leaves ranks behind"
finish
