# What ranks write: whole lines, labels, files, unfinished lines, slow and closed readers; what they read.
# timeout: 90 takes: 5
source "$VIADUCT_SOURCE/tests/lib/shell"

# 12 ranks, 2,000 lines each in three writes: every line whole, every rank's lines in order
$mpiexec -n 12 bash -c 'for ((i = 0; i < 2000; i++)); do printf "<$PMI_RANK "; printf "$i "; printf "%050d>\n" $i; done' >$work/lines
[[ $(wc -l <$work/lines) == 24000 ]] || fail "lines lost: $(wc -l <$work/lines)"
grep -vqE '^<[0-9]+ [0-9]+ [0-9]{50}>$' $work/lines && fail "a cut line: $(grep -vE '^<[0-9]+ [0-9]+ [0-9]{50}>$' $work/lines | head -2)"
for rank in 0 5 11; do
    grep "^<$rank " $work/lines | awk '$2 != NR - 1 { exit 1 }' || fail "the lines of rank $rank are not in order"
done

# labels at true line starts only
expect 0 $'[0] one\n[0] two' "" $mpiexec -l sh -c 'printf o; sleep 0.02; printf "ne\ntwo\n"'
expect 0 $'[0] a\n[1] a' "" sh -c "$mpiexec --tag-output -n 2 echo a | sort"
expect 0 "~^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} \[0\] a$" "" $mpiexec --timestamp-output -l echo a
expect 0 "[0] no end" "" $mpiexec -l printf "no end"
expect 0 "" "[0] wrong" $mpiexec -l sh -c 'echo wrong >&2'
expect 0 $'<0 of 0> a\n<1 of 0> a' "" sh -c "$mpiexec -prepend-pattern '<%r of %g> ' -n 2 echo a | sort"
expect 0 $'[0] right' "[0] wrong" $mpiexec --output tag sh -c 'echo wrong >&2; echo right'

# an unfinished line is shown after a while; others wait for its end, but not for ever
expect 0 $'name? bob\nother' "" $mpiexec -n 2 sh -c '[ $PMI_RANK = 0 ] && { printf "name? "; sleep 0.6; echo bob; } || { sleep 0.3; echo other; }'
expect 0 $'name? \nother\nbob' "" $mpiexec -n 2 sh -c '[ $PMI_RANK = 0 ] && { printf "name? "; sleep 2; echo bob; } || { sleep 0.3; echo other; }'
(
    $mpiexec sh -c 'printf "prompt> "; sleep 5' >$work/prompt &
    eventually 2 grep -q 'prompt> ' $work/prompt || echo "a prompt is not shown" >&2
    kill %1
) 2>$work/err
[[ -s $work/err ]] && grep -q "not shown" $work/err && fail "a prompt is not shown"

# both outputs in one place keep their order
$mpiexec sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done' >$work/both 2>&1
[[ $(tr '\n' ' ' <$work/both) == "$(for i in 1 2 3 4 5 6 7 8 9; do printf 'out %s err %s ' $i $i; done)" ]] || fail "the order of out and err is lost"

# what a rank writes before a fence leaves its host before the fence, although its launcher hears of both at once
printf '#!/bin/sh\nshift; sh -c "$*" | tee %s/words\n' $work >$work/listen
chmod +x $work/listen
cat >$work/fenced <<'FENCED'
say() { echo "cmd=$1" >&$PMI_FD; }
hear() { read -r -u $PMI_FD; }
say "init pmi_version=1 pmi_subversion=1"; hear
[ $PMI_RANK = 0 ] || kill -STOP $PPID
say get_maxes
[ $PMI_RANK = 0 ] || echo before
say barrier_in
[ $PMI_RANK = 0 ] || kill -CONT $PPID
hear; hear
say finalize; hear
FENCED
expect 0 before "" $mpiexec --agent $work/listen -host localhost:1,elsewhere:1 -n 2 bash $work/fenced
frames=$(od -An -v -tx1 $work/words | tr -d ' \n') # FENCE is kind 3 and has no body here
[[ $frames == *6265666f7265*0300000000000000* ]] || fail "a fence passes by what was written before it: $frames"

# files
expect 0 "" "" $mpiexec -outfile-pattern $work/o.%r -errfile-pattern $work/e.%r -n 2 sh -c 'echo out $PMI_RANK; echo err $PMI_RANK >&2'
[[ $(cat $work/o.1 $work/e.0) == $'out 1\nerr 0' ]] || fail "files of ranks"
expect 0 "" "" $mpiexec --output-filename $work/d -n 11 sh -c 'echo out $PMI_RANK; echo err >&2'
[[ $(cat $work/d/1/rank.03/stdout $work/d/1/rank.10/stderr) == $'out 3\nerr' ]] || fail "folders of ranks"
expect 0 "" "" $mpiexec --output-filename $work/m --merge-stderr-to-stdout sh -c 'echo out; echo err >&2'
[[ $(cat $work/m/1/rank.0/stdout) == $'out\nerr' ]] || fail "merged output"

# bytes pass as they are
head -c 3000000 /dev/urandom >$work/random
$mpiexec cat <$work/random | cmp - $work/random || fail "bytes were changed on the way"
$mpiexec -n 4 --stdin 2 sh -c 'cat' <$work/random | cmp - $work/random || fail "bytes were changed on the way to rank 2"
$mpiexec -n 3 --stdin none cat <$work/random | cmp - /dev/null || fail "--stdin none"
{ $mpiexec true; head -c 4; } <<<"left" >$work/rest
[[ $(cat $work/rest) == left ]] || fail "input was eaten that no rank read"

# a slow reader slows down; a reader that goes away ends the job, as a program ends by SIGPIPE
size=$($mpiexec -n 4 sh -c 'yes | head -c 8000000' | (sleep 1; wc -c))
[[ $size == 32000000 ]] || fail "a slow reader got $size bytes"
ended="viaduct: standard output was closed by its reader: job terminated"
$mpiexec -n 2 yes 2>$work/err | head -1 >$work/out
[[ ${PIPESTATUS[0]} == 141 && $(cat $work/err) == "$ended" ]] || fail "an endless job whose output nobody reads: $(cat $work/err)"
mkfifo $work/gone
$mpiexec sh -c "echo x; read y <$work/gone; echo z" 2>$work/err | { read -r line; exec <&-; echo >$work/gone; }
case ${PIPESTATUS[0]} in
141) grep -qx "$ended" $work/err ;;
1) grep -qx "viaduct: output of the ranks is lost: Broken pipe" $work/err ;;
*) false ;;
esac && [[ $(wc -l <$work/err) == 1 ]] || fail "a finite job whose output nobody reads: $(cat $work/err)"
expect 0 "" "" sh -c "$mpiexec -n 2 echo nobody reads >&- 2>&-"

# what cannot be written is told, and fails a job that did well
expect 1 "" "viaduct: output of the ranks is lost: No space left on device" sh -c "$mpiexec -n 2 echo x >/dev/full"
expect 1 "" "" sh -c "$mpiexec -n 2 sh -c 'echo x >&2' 2>/dev/full"
expect 5 "" "~with exit status 5" sh -c "$mpiexec sh -c 'echo x >&2; exit 5' >/dev/full"

# a reader that is stopped holds nobody up but those who write to him
mkfifo $work/fifo
sleep 100 <$work/fifo &
reader=$!
$mpiexec -n 2 sh -c "[ \$PMI_RANK = 0 ] && exec head -c 50000000 /dev/zero; echo done >$work/alone" >$work/fifo &
eventually 5 test -s $work/alone || fail "a stuck reader holds up another rank"
kill $! $reader
wait 2>/dev/null

# a signal while the last output waits for its reader: what is lost is no success
mkfifo $work/slow
sleep 100 <$work/slow & reader=$! # it opens the fifo and reads nothing
$mpiexec -n 1 sh -c "head -c 150000 /dev/zero; echo >$work/wrote" >$work/slow & job=$!
eventually 10 test -s $work/wrote || fail "the launcher does not take what its rank wrote"
kill -TERM $job
wait $job 2>/dev/null
status=$?
[ $status = 143 ] || fail "ended by a signal before all was written: status $status"
kill $reader
wait 2>/dev/null

# nor does it hold up the end of the time allowed: a job whose ranks write, and one that has ended
for bytes in 50000000 150000; do
    mkfifo $work/slow.$bytes
    sleep 100 <$work/slow.$bytes & readers+=" $!"
    # three seconds in all, not for each rank
    ranks=$((bytes > 1000000 ? 12 : 1))
    timeout -s KILL 15 $mpiexec --timeout 0.2 -n $ranks head -c $bytes /dev/zero >$work/slow.$bytes 2>$work/err.$bytes &
    jobs+=" $!"
done
for job in $jobs; do
    wait $job
    status=$?
    [ $status = 124 ] || fail "a reader that is stuck keeps a job beyond its time: status $status"
done
for bytes in 50000000 150000; do
    grep -qx "viaduct: output of the ranks is lost: its reader has not read it in the time allowed" $work/err.$bytes ||
        fail "does not tell of output that nobody reads: $(cat $work/err.$bytes)"
done
kill $readers
wait 2>/dev/null

# a full disk is told when it is full, not at the end
mkfifo $work/told
$mpiexec -n 1 sh -c "echo x; cat $work/told" >/dev/full 2>$work/err & job=$!
eventually 10 grep -q "^viaduct: output of the ranks is lost: No space left on device" $work/err || fail "a full disk is not told: $(cat $work/err)"
echo end >$work/told
wait $job
[ $? = 1 ] && [ $(wc -l <$work/err) = 1 ] || fail "a full disk is told twice: $(cat $work/err)"

# orphans of ranks that end together leave no zombies
mkfifo $work/go
exec 7<>$work/go # it stays open: an orphan may be seen before it has opened it
$mpiexec -n 1 sh -c "for i in \$(seq 50); do (sh -c 'read x <$work/go' &); done; exec sleep 100" & job=$!
orphans() { [ $(processes -P $job -x sh | wc -l) = $1 ]; }
eventually 20 orphans 50 || fail "no orphans: $(ps --ppid $job)"
printf '\n%.0s' {1..50} >&7
eventually 5 orphans 0 || fail "zombies: $(ps --ppid $job -o stat=,comm= | sort | uniq -c)"
exec 7>&-
kill -TERM $job
wait $job 2>/dev/null

# one file for all ranks: emptied once, then each adds to it
for again in 1 2; do
    expect 0 "" "" $mpiexec -n 7 -outfile-pattern $work/all -errfile-pattern $work/all.%h sh -c 'echo $PMI_RANK; echo $PMI_RANK >&2'
    [ "$(sort $work/all | tr -d '\n')" = 0123456 ] || fail "one file for all ranks: $(cat $work/all)"
    [ "$(sort $work/all.* | tr -d '\n')" = 0123456 ] || fail "one file for all ranks of a host: $(cat $work/all.*)"
done

# no standard input: ranks read the end at once, and nothing of ours is there
expect 0 "" "" sh -c "$mpiexec -n 2 cat <&-"
expect 0 /dev/null "" sh -c "$mpiexec -n 1 $programs/input_is <&-"

# programs come from PATH first and from this folder last, also where the ranks, or we, have no PATH
mkdir $work/folder
printf '#!/bin/sh\necho from here\n' | tee $work/folder/uname >$work/folder/only_here
chmod +x $work/folder/*
expect 0 $'Linux\nfrom here' "" sh -c "cd $work/folder && $mpiexec -n 1 uname && $mpiexec -n 1 only_here"
expect 0 Linux "" $mpiexec -genvnone -n 1 uname
expect 0 Linux "" env -i $mpiexec -n 1 uname

# children of the shell that became us by exec are not ours to end
sh -c "(sleep 1; echo >$work/older) & exec $mpiexec -n 1 true"
eventually 10 test -s $work/older || fail "a child from before was killed"
# and what such a child has still to print is printed
bash -c "exec > >(sed 's/^/log: /' >$work/log); exec $mpiexec -n 2 echo hello"
logged() { [ "$(cat $work/log)" = $'log: hello\nlog: hello' ]; }
eventually 10 logged || fail "a filter from before was killed: $(cat $work/log)"

# many ranks and few descriptors
(failed=0; ulimit -n 64 && expect 0 30 "" sh -c "$mpiexec -n 30 echo x | wc -l" && expect 0 "" "" $mpiexec -n 44 true &&
    expect 126 "" "~^viaduct: 60 ranks need 80 open files in the launcher, the limit is 64 .ulimit -n.$" $mpiexec -n 60 true
    exit $failed) || fail "with 64 descriptors"
(failed=0; ulimit -Sn 64 && expect 0 200 "" sh -c "$mpiexec -n 200 sh -c 'ulimit -Sn' | grep -c 64"; exit $failed) || fail "the soft limit is raised and given back"
expect 0 256 "" sh -c "$mpiexec -n 256 echo x | wc -l"
finish
