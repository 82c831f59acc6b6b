# The page of mpiexec --report stays small, however long the job is and however many ranks it has: 2 MB at most. A halo exchange of
# REPORT_RANKS ranks for REPORT_SECONDS; scripts/soak has 64 ranks for 10 minutes and 4,096 ranks. What it costs: tests/counts/report.sh.
# timeout: 900 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libviaduct-profile.so" ] || skip "a build with sanitizers has no libviaduct-profile.so"
ranks=${REPORT_RANKS:-64} seconds=${REPORT_SECONDS:-10}
run $((seconds + 300)) $mpiexec --report $work/page.html -n $ranks $programs/halo $seconds
expect_status 0 "$ranks ranks for $seconds s"
expect_silence "$ranks ranks for $seconds s"
steps=$(sed -n 's/ steps$//p' $work/out)
[ "${steps:-0}" -gt 0 ] || fail "no steps: $(cat $work/out)"
has() { grep -qF -- "$1" $work/page.html || fail "no \"$1\" in the page: $(grep '<tr>' $work/page.html | head -40)"; }
has "<tr><td>ranks in this report<td>$ranks of $ranks"
has "<tr><td>MPI_Isend<td>$((2 * steps * ranks))<td>"
has "<tr><td>MPI_Waitall<td>$((steps * ranks))<td>"
bytes=$(stat -c %s $work/page.html)
echo "$ranks ranks, $seconds s, $steps steps: a page of $bytes bytes"
[ $bytes -le 2000000 ] || fail "the page has $bytes bytes, more than 2 MB"
finish
