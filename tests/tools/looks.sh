# viaduct jobs, stuck and top where they can see little: a launcher that is stopped or ended, another user's, another build's, ranks in
# another PID namespace, programs whose names would command a terminal. One sentence each, and nothing of any other process.
# timeout: 120 takes: 20
source "$VIADUCT_SOURCE/tests/lib/shell"
viaduct=$VIADUCT_BIN/viaduct

# begin RANKS WAY [WORD BEFORE THE PROGRAM...]: $job is the launcher's pid, all ranks are in MPI
begin() {
    : >$work/said.err # what the job before has said is none of this one's
    $launch $mpiexec -n $1 "${@:3}" ${program:-$programs/hang} $2 >$work/said 2>$work/said.err &
    job=$!
    eventually 20 grep -q there $work/said.err || fail "$2: not started: $(cat $work/said.err)"
}
end() { kill -TERM $job; wait $job 2>/dev/null; }
each() { # SENTENCE: all three refuse with it
    expect "~^[12]$" "" "~^viaduct jobs: $1" timeout 20 $viaduct jobs $job
    expect 2 "" "~^viaduct stuck: $1" timeout 20 $viaduct stuck $job
    expect 2 "" "~^viaduct top: $1" timeout 20 $viaduct top -n 1 $job
}

# a launcher that is stopped is not waited for: its ranks tell all the same
begin 3 tag
waits() { $viaduct jobs $job >$work/jobs && [ "$(grep -cE '^rank [0-2] \(pid [0-9]+.*: waits ' $work/jobs)" -eq 3 ]; }
eventually 10 waits || fail "jobs says: $(cat $work/jobs)"
if command -v script >/dev/null; then # a terminal is shown what a file gets, however narrow it is
    # jobs of others come and go meanwhile, and columns are as wide as these need
    plain() { tr -d '\r' | awk -v job=$job '$1 !~ /^[0-9]+$/ || $1 == job' | tr -s ' ' | sed -E 's/[0-9]+([.,][0-9]+)*/N/g'; }
    for verb in jobs "jobs $job" "stuck $job"; do
        $viaduct $verb >$work/file
        TERM=xterm script -qec "stty cols 20 rows 5; $viaduct $verb" /dev/null >$work/screen </dev/null
        grep -q $'\033' $work/screen && fail "viaduct $verb gives a terminal orders"
        same "$(plain <$work/file)" "$(plain <$work/screen)" || fail "viaduct $verb in a terminal"
    done
else
    echo "not tried: terminals (script of the package bsdutils is not installed)"
fi
kill -STOP $job
began=$(cut -d' ' -f1 /proc/uptime)
expect 0 "~rank 1 .*the launcher .process $job. is stopped, so ranks of other hosts are not seen$" "" $viaduct jobs $job
expect 1 "~the tag differs.*the launcher .process $job. is stopped" "" $viaduct stuck $job
awk -v began=$began '{ exit $1 - began > 4 }' /proc/uptime || fail "a stopped launcher was waited for" # it would be 15 s
expect 0 "~RANK.* 1 .*waits" "" $viaduct top -n 1 $job
ranks=$(sed -n 's/^rank [0-9]* (pid \([0-9]*\).*/\1/p' $work/jobs)
kill -STOP $ranks
listed() { $viaduct jobs | grep -E "^ *$job " >$work/list && grep -q "$1" $work/list; }
eventually 5 listed "is stopped$" || fail "all ranks are stopped: $(cat $work/list)"
kill -CONT $ranks $job

# another user sees none of it
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp $viaduct /tmp/viaduct.$$ && other="setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/viaduct.$$"
    expect 0 "~^ *PID [^"$'\n'"]*$" "" $other jobs
    for verb in jobs stuck top; do
        expect "~^[12]$" "" "~^viaduct $verb: process $job belongs to another user: only that user and root" $other $verb $job
        expect "~^[12]$" "" "~^viaduct $verb: process ${ranks%%$'\n'*} belongs to another user" $other $verb ${ranks%%$'\n'*}
    done
    # root sees that user's job
    program=/tmp/hang.$$ launch="setpriv --reuid 65534 --regid 65534 --clear-groups"
    cp $programs/hang $program
    root=$job
    begin 3 tag
    eventually 10 waits || fail "root sees of another user's job: $(cat $work/jobs)"
    end
    job=$root program= launch=
    rm -f /tmp/viaduct.$$ /tmp/hang.$$
else
    echo "not tried: another user (needs root and setpriv)"
fi

# a job that ends between two looks, and one that has ended
$viaduct top -b $job >$work/top &
top=$!
eventually 10 grep -qs "^3 ranks" $work/top || fail "top says: $(cat $work/top)"
end
wait $top || fail "top ends with status $?"
each "there is no process $job; viaduct jobs lists the jobs"

# ranks that are killed while they are looked at: what is said is of the job or one sentence
begin 6 tag
eventually 10 "$viaduct" jobs $job >/dev/null || fail "jobs of six ranks"
ranks=$(processes -f "^$programs/hang tag")
look_on() { # VERB [OPTION...]: again and again, until there is no job
    : >$work/said.$1
    while timeout 20 $viaduct "$@" $job >>$work/said.$1 2>>$work/errors.$1; [ $? -le 2 ] || echo "status above 2" >>$work/errors.$1; do
        grep -qE "there is no process|status above" $work/errors.$1 && return
    done
}
for look in jobs stuck "top -n 1"; do look_on $look & done
for look in jobs stuck top; do eventually 10 test -s $work/said.$look || fail "$look says nothing"; done
for rank in $ranks; do kill -KILL $rank 2>/dev/null; done
wait
for look in jobs stuck top; do
    grep -q "^viaduct $look: there is no process $job" $work/errors.$look && ! grep -vq "^viaduct $look: " $work/errors.$look ||
        fail "$look of a job that is killed: $(cat $work/errors.$look)"
done

# another launcher: its own process is none of ours, each rank leads to the ranks of this host
if type mpiexec.hydra >/dev/null 2>&1; then
    : >$work/said.err
    mpiexec.hydra -n 4 $programs/hang cycle >$work/said 2>$work/said.err &
    job=$!
    eventually 20 grep -q there $work/said.err || fail "under hydra: not started: $(cat $work/said.err)"
    rank=$(processes -f "^$programs/hang cycle" | head -1)
    waits() { $viaduct jobs $rank >$work/jobs && [ "$(grep -cE '^rank [0-3] \(pid [0-9]+.*: waits ' $work/jobs)" -eq 4 ]; }
    eventually 10 waits || fail "under hydra jobs says: $(cat $work/jobs)"
    expect 1 "~^a cycle of 3: rank 1, which waits for 2" "" $viaduct stuck $rank
    $viaduct jobs | grep -qE " hang +4 .*all wait$" || fail "under hydra jobs lists: $($viaduct jobs)"
    expect 1 "" "~^viaduct jobs: process $job is neither the launcher nor a rank of a job" $viaduct jobs $job
    end
else
    echo "not tried: hydra (mpiexec.hydra is not installed)"
fi

# a launcher of another build, and its program
id=$(sed -n 's/.*BUILD_ID "\(.*\)"/\1/p' "$VIADUCT_BUILD/generated/build_id.h")
mkdir $work/bin
sed "s/$id/0123456789abcdef/" $viaduct >$work/bin/viaduct
chmod +x $work/bin/viaduct
cmp -s $viaduct $work/bin/viaduct && fail "viaduct does not carry the identity of its build"
mpiexec="$work/bin/viaduct run" begin 3 tag
each "the job of process $job uses another build of Viaduct than this program: call $work/bin/viaduct$"
$viaduct jobs | grep -qE "^ *$job .*of another build of Viaduct$" || fail "jobs lists: $($viaduct jobs)"
expect 0 "" "~^viaduct jobs: no rank tells what it does: .* another build of Viaduct" $work/bin/viaduct jobs $job
rank=$(processes -f "^$programs/hang tag" | head -1)
expect 2 "" "~^viaduct stuck: the job of process [0-9]+ uses another build of Viaduct than this program: call the viaduct" $work/bin/viaduct stuck $rank
names_tag() { $viaduct stuck $rank >$work/stuck 2>&1; [ $? -eq 1 ] && grep -q "^rank 1 waits .* the tag differs" $work/stuck; }
eventually 10 names_tag || fail "ranks and tool are of one build: $(cat $work/stuck)"
end

# ranks in another PID namespace: what they wait for is told, of their processes nothing, for other processes have these numbers here
if unshare -pf --mount-proc --kill-child true 2>/dev/null; then
    launch="unshare -pf --mount-proc --kill-child" begin 3 tag
    outer=$job job=$(processes -f "^$mpiexec -n 3" | head -1)
    waits() { $viaduct jobs $job >$work/jobs && [ "$(grep -cE '^rank [0-2] \(pid [0-9]+, in another PID namespace\): waits ' $work/jobs)" -eq 3 ]; }
    eventually 10 waits || fail "jobs of another PID namespace says: $(cat $work/jobs)"
    expect 1 "~^rank 1 waits .* the tag differs" "" $viaduct stuck $job
    expect 0 "~ 1 +[0-9]+ +0 +100 .* waits [0-9.]+ s in MPI_Recv" "" $viaduct top -n 1 $job
    $viaduct jobs | grep -qE "^ *$job +[?] +3 .*all wait$" || fail "jobs lists: $($viaduct jobs)"
    rm $work/top
    $viaduct top -b $job >$work/top & # it ends with the job
    top=$!
    eventually 10 grep -qs "^3 ranks" $work/top || fail "top says: $(cat $work/top)"
    kill -KILL $outer
    wait $outer 2>/dev/null
    wait $top || fail "top ends with status $?"
    # the launcher here, the ranks there; their stacks are not those of strangers
    begin 2 loop unshare -pf --mount-proc --kill-child
    waits() { $viaduct jobs $job >$work/jobs && [ "$(grep -cE '^rank [01] \(pid 1 on [^,]*, in another PID namespace\): waits ' $work/jobs)" -ge 1 ]; }
    eventually 10 waits || fail "jobs of ranks in other PID namespaces says: $(cat $work/jobs)"
    end
    if type gdb >/dev/null 2>&1; then
        expect 124 "" "~the stacks of 2 ranks in other PID namespaces are not taken" \
            $mpiexec --timeout 2 --get-stack-traces -n 2 unshare -pf --mount-proc --kill-child $programs/hang loop
    fi
else
    echo "not tried: PID namespaces (unshare may not make one)"
fi

# names that would command a terminal or a browser
name=$'\e[31m<script>alert(1)<'
cp $programs/hang "$work/$name"
$mpiexec -n 3 "$work/$name" tag >$work/said 2>&1 &
job=$!
eventually 20 grep -q there $work/said || fail "the program with a strange name: $(cat $work/said)"
$viaduct jobs >$work/jobs
grep -qF " ?[31m<script>alert(1" $work/jobs || fail "jobs lists: $(cat -v $work/jobs)"
kill -KILL $(processes -f "alert.1.< tag" | tail -1)
wait $job
cat $work/said >>$work/jobs
! grep -q $'\e' $work/jobs || fail "an escape sequence: $(cat -v $work/jobs)"
finish
