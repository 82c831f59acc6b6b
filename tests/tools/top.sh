# viaduct top: the counters of a job's ranks, second by second, in a table, a line, or JSON; wrong arguments.
# timeout: 120 takes: 25
source "$VIADUCT_SOURCE/tests/lib/shell"
viaduct=$VIADUCT_BIN/viaduct
$mpiexec -n 2 $programs/hang talk >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"

# what two ranks that talk do, as a pipe sees it
$viaduct top -n 1 $job >$work/table || fail "status $? of a table"
grep -qE '^ +RANK +PID +CPU% +WAIT% +SENT/s' $work/table || fail "no head: $(cat $work/table)"
[ "$(grep -cE '^ +[01] +[0-9]+ +[0-9]+ +[0-9]+ +[1-9][0-9]* +[1-9][0-9]* ' $work/table)" -eq 2 ] || fail "ranks: $(cat $work/table)"
grep -qE '^ +all +[0-9]+ +[0-9]+ +[1-9]' $work/table || fail "no sum: $(cat $work/table)"
$viaduct top -b -n 2 $job >$work/lines
[ "$(grep -cE '^2 ranks: [0-9]+% of processors, [0-9]+% of their time in waits, [1-9][0-9]* messages/s sent' $work/lines)" -eq 2 ] || fail "lines: $(cat $work/lines)"
if command -v python3 >/dev/null; then
    $viaduct top --json -n 1 $job | python3 -c 'import json, sys
ranks = json.load(sys.stdin)["ranks"]
assert [r["rank"] for r in ranks] == [0, 1] and all(r["sent"] > 0 for r in ranks), ranks
assert all(0 < r["waited"] <= 100 for r in ranks), ranks' || fail "JSON"
    schema() { python3 "$VIADUCT_SOURCE/tests/lib/schema" "$VIADUCT_SOURCE/docs/$1.schema.json"; }
    $viaduct top --json -n 2 $job >$work/json
    schema top <$work/json || fail "JSON does not fit docs/top.schema.json"
    for bad in s/\"pid\":/\"pit\":/ 's/"sent":[0-9]*/"sent":"many"/' 's/"rank":0/"rank":-1/' 's/"waited":[0-9]*/"waited":101/' 's/"card_bytes":\[0,/"card_bytes":[/'; do
        sed "$bad" $work/json | schema top >$work/bad && fail "the schema takes $bad"
    done
fi
# in a terminal no line is longer than that, nor are there more of them; no colours are asked for, with NO_COLOR and without
if command -v script >/dev/null; then
    for size in "60 20" "20 20" "8 7" "200 20"; do
        script -qec "stty cols ${size% *} rows ${size#* }; NO_COLOR=1 $viaduct top -n 1 $job" /dev/null >$work/screen
        ! grep -q $'\e\[[0-9;]*m' $work/screen || fail "colours with NO_COLOR: $(cat -v $work/screen)"
        sed -i 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r$//' $work/screen
        [ "$(grep -cE '^ +(RANK|[01] |0$|1$|all|2$|RA$)' $work/screen)" -ge 4 ] || fail "no table in a terminal of $size: $(cat -v $work/screen)"
        awk -v most=${size% *} 'length > most { exit 1 }' $work/screen || fail "wider than $size: $(cat -v $work/screen)"
        [ $(wc -l <$work/screen) -le ${size#* } ] || fail "more lines than $size: $(cat -v $work/screen)"
    done
else
    echo "not tried: terminals (script of the package bsdutils is not installed)"
fi
! grep -q CARD $work/table && ! grep -q "card" $work/lines || fail "cards of a job that uses none: $(cat $work/table $work/lines)"
# it ends with the job
$viaduct top -b $job >$work/ends &
top=$!
eventually 10 grep -q "^2 ranks" $work/ends || fail "says nothing: $(cat $work/ends)"
kill -TERM $job
wait $job 2>/dev/null
wait $top || fail "status $? of one whose job has ended"

# one rank waits all the time, in a single call, for one that computes
$mpiexec -n 2 $programs/hang loop >$work/said 2>&1 &
job=$!
waits() { $viaduct jobs $job 2>/dev/null | grep -qE "^rank 0 .*: waits ([3-9]|[0-9][0-9])"; } # its first second is over
eventually 20 waits || fail "does not wait: $($viaduct jobs $job)"
$viaduct top -n 1 $job >$work/table
grep -qE '^ +0 +[0-9]+ +[0-9]+ +100 ' $work/table && grep -qE '^ +1 +[0-9]+ +[0-9]+ +0 ' $work/table &&
    grep -qE '^ +all +[0-9]+ +50 ' $work/table || fail "shares of waits: $(cat $work/table)"
$viaduct top -b -n 1 $job >$work/lines
grep -q ", 50% of their time in waits, " $work/lines || fail "share of waits: $(cat $work/lines)"
kill -TERM $job
wait $job 2>/dev/null

# what it reads grows with the ranks, not with their square
if command -v strace >/dev/null; then
    $mpiexec -n 60 $programs/hang cycle >$work/said 2>&1 &
    job=$!
    all_wait() { [ "$($viaduct jobs $job 2>/dev/null | grep -c "^rank .*: waits")" -eq 60 ]; }
    eventually 30 all_wait || fail "60 ranks do not wait: $($viaduct jobs $job)"
    strace -qq -e trace=pread64 -o $work/calls $viaduct top -b -n 1 $job >$work/lines
    [ $(wc -l <$work/calls) -lt $((60 * 30)) ] || fail "reads $(wc -l <$work/calls) times of 60 ranks"
    kill -TERM $job
    wait $job 2>/dev/null
else
    echo "not tried: what viaduct top reads of many ranks (strace is not installed)"
fi

# what goes over network cards
VIADUCT_TRANSPORTS=tcp $mpiexec -n 2 $programs/hang talk >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "not started: $(cat $work/said)"
$viaduct top -n 1 $job >$work/table
grep -qE '^ +CARD +FRAMES/s +SENT MB/s +LOST$' $work/table && grep -qE '^ +[0-7] +[1-9][0-9]* +[0-9.]+ +0$' $work/table || fail "no table of cards: $(cat $work/table)"
$viaduct top -b -n 1 $job >$work/lines
[ $(wc -l <$work/lines) -eq 1 ] && grep -qE '^2 ranks: .* links lost; card [0-7]: [1-9][0-9]* frames/s, [0-9.]+ MB/s, 0 lost$' $work/lines || fail "no line with cards: $(cat $work/lines)"
if command -v python3 >/dev/null; then
    $viaduct top --json -n 1 $job >$work/json
    schema top <$work/json || fail "JSON with cards does not fit docs/top.schema.json: $(cat $work/json)"
    grep -qE '"cards":\[\{"card":[0-7],"frames":[1-9][0-9]*,"bytes":[1-9][0-9]*,"lost":0\}\]' $work/json || fail "no cards: $(cat $work/json)"
    sed 's/"lost":0/"lost":-1/' $work/json | schema top >$work/bad && fail "the schema takes a negative count"
fi
if command -v script >/dev/null; then
    for size in "200 20" "60 8" "30 7"; do
        script -qec "stty cols ${size% *} rows ${size#* }; $viaduct top -n 1 $job" /dev/null >$work/screen
        sed -i 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r$//' $work/screen
        grep -qE '^ +CARD +FRAMES/s' $work/screen || fail "no cards in a terminal of $size: $(cat -v $work/screen)"
        awk -v most=${size% *} 'length > most { exit 1 }' $work/screen || fail "wider than $size: $(cat -v $work/screen)"
        [ $(wc -l <$work/screen) -le ${size#* } ] || fail "more lines than $size: $(cat -v $work/screen)"
    done
fi
kill -TERM $job
wait $job 2>/dev/null

expect 2 "" "~-x is not an option" $viaduct top -x
expect 2 "" "~0 is not an option or its value" $viaduct top -n 0
expect 2 "" "~there is no process 4194303" $viaduct top 4194303
expect 2 "" "~no is no PID" $viaduct top no
expect 0 "~usage: viaduct top" "" $viaduct top --help
finish
