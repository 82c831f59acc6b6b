# VIADUCT_ variables as a user meets them: wrong ones are told once for the whole job, the log and the trace of an MPI
# program lie in the files that were asked for.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
traffic=$VIADUCT_BUILD/tests/programs/traffic
[[ -x $traffic ]] || skip "no traffic program was built"
fault=LD_PRELOAD=$VIADUCT_BUILD/tests/libfault.so # accidents, see tests/fault

# wrong ones
expect 0 "all right" "viaduct: warning: the variable VIADUCT_EAGRE is unknown (maybe: VIADUCT_EAGER?)" env VIADUCT_EAGRE=1K $mpiexec -n 3 $traffic
expect 2 "" "viaduct: invalid value '3x' for VIADUCT_EAGER: expected a number with B, K, M, G or T, like 16K" \
    env VIADUCT_EAGER=3x $mpiexec -n 3 $traffic
expect 2 "" "viaduct: invalid value 'shm,pigeon' for VIADUCT_TRANSPORTS: expected one or more of shm verbs tcp, with commas" \
    env VIADUCT_TRANSPORTS=shm,pigeon $mpiexec -n 3 $traffic
expect 1 "" "~^viaduct: rank 0 .*: MPI_Init: .*invalid value 'shm,pigeon' for VIADUCT_TRANSPORTS: expected one or more of" env VIADUCT_TRANSPORTS=shm,pigeon $traffic
expect 0 "all right" "" env $fault FAULT=delay=10us,refuse=5% VIADUCT_TRANSPORTS=shm $mpiexec -n 3 $traffic

# what viaduct info says of the ways in shared memory is what the table says
viaduct=$VIADUCT_BIN/viaduct
$viaduct info --tunables >"$work/table"
$viaduct info --shm >"$work/ways"
for pair in row:SHM_ROW_MOST eager:EAGER_MOST once:SINGLE_FROM; do
    table=$(awk -v name="${pair#*:}" '$1 == name { print $3, $4, $5 }' "$work/table")
    ways=$(awk -v name="${pair%:*}" '$1 == name { print $2, $3, $4 }' "$work/ways")
    [[ -n $table && $table == "$ways" ]] || fail "$pair: $ways bytes, and $table in the table"
done
grep -q "of addresses" "$work/ways" && fail "a segment is not mapped at once"

# the log
expect 0 "all right" "" env VIADUCT_LOG=debug VIADUCT_LOG_FILE=$work/log.%r VIADUCT_SINGLE_COPY=no $mpiexec -n 2 $traffic
expect 0 "all right" "~\[rank [01]\] warning: no trace: $work/none/x cannot be opened" env VIADUCT_TRACE=$work/none/x $mpiexec -n 2 $traffic
[[ $(wc -l <$work/err) == 2 ]] || fail "not one warning for each rank: $(cat $work/err)"

expect 0 "" "viaduct: warning: the log file $work/none/log cannot be opened (No such file or directory): the log goes to standard error" \
    env VIADUCT_LOG_FILE=$work/none/log $mpiexec -n 3 true
expect 0 "all right" "~rank 0\] info: a job of 3 ranks, 3 of them here on [^ ]+; transports: shm; single copy: (yes|no .*); window: 1024 KiB; [0-9]+ processors" \
    env VIADUCT_LOG=info $mpiexec -n 3 $traffic
[[ $(grep -c "a job of" $work/err) == 1 ]] || fail "not one line for a job: $(cat $work/err)"
expect 0 "all right" "~transports: tcp; single copy: no .VIADUCT_SINGLE_COPY." env VIADUCT_LOG=info VIADUCT_TRANSPORTS=tcp VIADUCT_SINGLE_COPY=no $mpiexec -n 2 $traffic

# the trace: each line that enters has one that leaves, at the same depth, no sooner
expect 0 "all right" "" env VIADUCT_TRACE=$work/trace.%r $mpiexec -n 3 $traffic
for rank in 0 1 2; do
    awk '{ depth = index($0, $3) } $3 == ">" { name[depth] = $4; at[depth] = $1 }
         $3 == "<" && (name[depth] != $4 || $1 < at[depth]) { exit 1 } $3 != "<" && $3 != ">" { exit 1 }' $work/trace.$rank ||
        fail "the trace of rank $rank is no tree"
    for call in start MPI_Isend MPI_Irecv MPI_Wait goodbye; do
        grep -qE "< $call [0-9.]+ us$" $work/trace.$rank || fail "no $call in the trace of rank $rank"
    done
done
expect 0 "all right" "" env VIADUCT_TRACE=$work/one $mpiexec -n 2 $traffic
[[ $(grep -c '> start' $work/one) == 2 ]] || fail "two ranks do not share a trace"
finish
