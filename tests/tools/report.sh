# mpiexec --report: the page and the trace tell what a program of known traffic did; killed ranks, tools in between, two hosts, many
# ranks; texts that would command a browser; files that cannot be written.
# timeout: 240 takes: 10
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libviaduct-profile.so" ] || skip "a build with sanitizers has no libviaduct-profile.so"
program=$programs/report
has() { grep -qF -- "$1" $work/page.html || fail "no \"$1\" in the page: $(grep '<tr>' $work/page.html | head -60)"; }
lacks() { ! grep -qF -- "$1" $work/page.html || fail "\"$1\" is in the page"; }

# what it counts: 4 ranks, to the next one 7 + 5 + 1 messages, to the one before 2
expect 0 "" "" $mpiexec --report $work/page.html --report=$work/trace.json -n 4 $program
has "<tr><td>ranks in this report<td>4 of 4"
has "<tr><td>exit status<td>0"
has "<tr><td>messages between two ranks<td>60"
has "<tr><td>their payload<td>43.36 kB"
has "<tr><td>MPI_Send<td>32<td>"
has "<tr><td>MPI_Startall<td>20<td>"
has "<tr><td>MPI_Init<td>4<td>"
has "<tr><td>MPI_Finalize<td>4<td>"
has "<tr><td>512-1023<td>28<td>46.7 %<td>28.00 kB"
has "<tr><td>8-15<td>20<td>33.3 %<td>160 B"
has "<tr><td>256-511<td>8<td>13.3 %<td>3.20 kB"
has "<caption>8 pairs;"
has "<tr><td>3<td>0<td>13<td>10.04 kB"
has "<tr><td>0<td>3<td>2<td>800 B"
has "4 of them here on"
has "<td>send_eager<td>" || has "messages sent with their payload at once"
if command -v python3 >/dev/null; then
    python3 "$VIADUCT_SOURCE/tests/lib/schema" "$VIADUCT_SOURCE/docs/trace.schema.json" <$work/trace.json ||
        fail "the trace does not fit docs/trace.schema.json"
    python3 - $work/trace.json $work/page.html <<'PYTHON' || fail "the trace"
import html.parser, json, sys
trace = json.load(open(sys.argv[1]))
assert trace['otherData']['ranks'] == 4 and trace['otherData']['status'] == 0, trace['otherData']
calls = [e for e in trace['traceEvents'] if e['ph'] == 'X']
assert len(calls) == trace['otherData']['calls'], (len(calls), trace['otherData'])
for rank in range(4):
    own = sorted((e for e in calls if e['pid'] == rank), key=lambda e: e['ts'])
    names = [e['name'] for e in own]
    assert names[0] == 'MPI_Init' and names[-1] == 'MPI_Finalize' and names.count('MPI_Send') == 8, names
    assert all(a['ts'] + a['dur'] <= b['ts'] + .002 for a, b in zip(own, own[1:])), own # one thread: none within another
named = {e['pid'] for e in trace['traceEvents'] if e['name'] == 'process_name'}
assert named == {0, 1, 2, 3, 4}, named
class Page(html.parser.HTMLParser): # nothing from outside, nothing that runs
    def handle_starttag(self, tag, attributes):
        assert tag not in ('script', 'link', 'img', 'iframe', 'object') and not {'href', 'src', 'onload'} & dict(attributes).keys(), tag
Page().feed(open(sys.argv[2]).read())
PYTHON
fi

# a shell in between, over the network, another host with a launcher of its own
printf '#!/bin/sh\nshift\nsh -c "$*"\n' >$work/agent
chmod +x $work/agent
VIADUCT_TRANSPORTS=tcp expect 0 "" "" $mpiexec --agent $work/agent -host localhost:2,elsewhere:2 --report $work/page.html -n 4 sh -c "$program; exit \$?"
has "<tr><td>ranks in this report<td>4 of 4"
has "<tr><td>hosts<td>2"
has "<tr><td>3<td>0<td>13<td>10.04 kB"
has "<tr><td>VIADUCT_TRANSPORTS<td class='text'>tcp"
has "<h2>By the second"
grep -qE "card 0, [^<:]*: at most [0-9.]+ [kMG]?B a second" $work/page.html || fail "no card by the second"

# a tool that stands between the program and MPI, and another preload
cat >$work/tool.c <<'C'
#include <mpi.h>
#include <stdio.h>
int MPI_Barrier(MPI_Comm comm) { puts("barrier"); return PMPI_Barrier(comm); }
C
"$VIADUCT_BIN/mpicc" -shared -fPIC $work/tool.c -o $work/tool.so
expect 0 $'barrier\nbarrier' "" $mpiexec --report $work/page.html -x LD_PRELOAD=$work/tool.so -n 2 $program
has "<tr><td>MPI_Barrier<td>2<td>"
expect 0 $'barrier\nbarrier' "" $mpiexec --report $work/page.html -x LD_PRELOAD=$work/tool.so -genvnone -n 2 $program

# a tool whose functions call MPI: none of its calls is counted, none of ours goes through it; a free that is refused once
cat >$work/calls.c <<'C'
#include <mpi.h>
static int size, asked, refused;
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group) { asked++; MPI_Comm_size(comm, &size); return PMPI_Comm_group(comm, group); }
int MPI_Type_size_c(MPI_Datatype type, MPI_Count *bytes) { asked++; MPI_Type_size(type, &size); return PMPI_Type_size_c(type, bytes); }
int MPI_Request_free(MPI_Request *request) { return refused++ ? PMPI_Request_free(request) : MPI_ERR_OTHER; }
int MPI_Finalize(void) { if (asked) PMPI_Abort(MPI_COMM_WORLD, 9); return PMPI_Finalize(); }
C
"$VIADUCT_BIN/mpicc" -shared -fPIC $work/calls.c -o $work/calls.so
expect 0 "" "" timeout 30 $mpiexec --report $work/page.html -x LD_PRELOAD=$work/calls.so -n 2 $program threads
has "<tr><td>messages between two ranks<td>32"
has "<tr><td>MPI_Comm_size<td>2<td>"
lacks "<td>MPI_Type_size<td>"
has "<tr><td>MPI_Request_free<td>6<td>"

# calls that are not the program's own, a communicator in the place of another, and two threads that count at once
expect 0 "" "" timeout 30 $mpiexec --report $work/page.html -n 4 $program others
has "<tr><td>MPI_Allreduce<td>4<td>"
lacks "<td>MPI_Type_size<td>"
lacks "<td>MPI_Finalized<td>"
has "<tr><td>messages between two ranks<td>20"
has "<tr><td>3<td>0<td>2<td>16 B"
has "<tr><td>0<td>3<td>3<td>24 B"
expect 0 "" "" timeout 60 $mpiexec --report $work/page.html --report $work/trace.json -n 2 $program many
has "<tr><td>MPI_Comm_rank<td>400002<td>"
if command -v python3 >/dev/null; then # there is no room for all events: the short ones are left out
    python3 - $work/trace.json <<'PYTHON' || fail "the trace of many calls"
import json, sys
trace = json.load(open(sys.argv[1]))
calls = [e for e in trace['traceEvents'] if e['ph'] == 'X']
shortest = trace['otherData']['calls shorter than so many ns may be left out'] # in the rank that left out the longest
least = [min(e['dur'] for e in calls if e['pid'] == rank) * 1000 for rank in (0, 1)]
assert shortest > 0 and len(calls) < 400002 and max(least) >= shortest - 2, (shortest, len(calls), least)
PYTHON
fi

# without a trace calls that do not wait are all counted and not all timed; what is estimated is no more than there was
has "<tr><td>MPI_Comm_rank<td>400002<td>"
lacks "is an estimate"
expect 0 "" "" timeout 60 $mpiexec --report $work/page.html -n 2 $program many
has "<tr><td>MPI_Comm_rank<td>400002<td>"
has "their time is an estimate"
share=$(sed -n 's/.*<td>time in MPI<td>\([0-9]*\)[.].*/\1/p' $work/page.html)
[ -n "$share" ] && [ $share -le 200 ] || fail "two threads are in MPI for $share % of the time of their ranks"

# one long wait among many calls that do not wait is in the sums, and is the longest, whichever calls are timed
expect 0 "" "" timeout 60 $mpiexec --report $work/page.html -n 2 $program late
grep -qE '<tr><td>MPI_Recv<td>2000<td>([1-9][0-9][0-9][.][0-9]+ ms|[0-9.]+ s)<' $work/page.html || fail "the late message: $(grep MPI_Recv $work/page.html)"

# more threads at the same time than there are slices in a page
expect 0 "" "" timeout 60 $mpiexec --report $work/page.html -n 2 $program crowd
has "<tr><td>MPI_Comm_size<td>40000<td>"

# two sessions, opened by two threads at the same time; one ends before the other
for round in 1 2 3 4 5; do
    expect 0 "" "" timeout 30 $mpiexec --report $work/page.html -n 2 $program sessions
    has "<tr><td>MPI_Session_init<td>4<td>"
    has "<tr><td>MPI_Session_finalize<td>4<td>"
    has "<tr><td>messages between two ranks<td>12"
    lacks "did not end MPI"
done
expect 137 "" "~rank 1 .* was killed by signal 9" timeout 30 $mpiexec --report $work/page.html -n 2 $program sessions kill
has "<td>did not end MPI; last call"

# a program that was built with MPICH: calls and times, no messages, and a sentence
if type mpicc.mpich >/dev/null 2>&1; then
    mpicc.mpich -w "$VIADUCT_SOURCE/tests/programs/report.c" -o $work/old || fail "mpicc.mpich does not compile"
    for mode in single threads; do
        expect 0 "" "" $mpiexec --report $work/page.html \
            -x LD_LIBRARY_PATH=$VIADUCT_BUILD/lib/viaduct/abi:$VIADUCT_BUILD/lib -n 4 $work/old $mode
        has "<tr><td>MPI_Send<td>32<td>"
        has "<tr><td>MPI_Finalize<td>4<td>"
        has "<tr><td>messages between two ranks<td>0"
        has "Messages are not counted: the program was built with another MPI library"
    done
fi

# the end of a job that fails; its status stays, and what was known of a killed rank
expect 137 "" "~rank 2 .* was killed by signal 9" $mpiexec --report $work/page.html -n 3 $program kill
has "<tr><td>exit status<td>137"
has "<tr><td>ranks in this report<td>3 of 3"
has "<td>did not end MPI; last call MPI_Barrier"
has "<tr><td>MPI_Startall<td>15<td>"
expect 3 "" "~exit status 3" $mpiexec --report $work/page.html -n 1 sh -c 'exit 3'
has "<tr><td>ranks in this report<td>0 of 1"
has "did not call MPI"
if unshare -m true 2>/dev/null; then # the status of the job stays, and no half of a report
    mkdir $work/small
    small() { unshare -m bash -c "mount -t tmpfs -o size=$1 none $work/small && $2; status=\$?; wc -c <$work/small/page.html; exit \$status"; }
    expect 5 0 "~the report $work/small/page.html could not be written: No space left on device" small 8k \
        "$mpiexec --report $work/small/page.html -n 2 sh -c '$program; exit 5'"
    expect 5 0 "~the report $work/small/page.html could not be written: Read-only file system" small 1m \
        "{ : >$work/small/page.html; $mpiexec --report $work/small/page.html -n 1 sh -c 'mount -o remount,ro none $work/small; exit 5'; }"
    expect 2 "" "~--report: cannot write $work/small/page.html: Read-only file system" unshare -m bash -c \
        "mount -t tmpfs -o ro none $work/small && exec $mpiexec --report $work/small/page.html -n 1 touch $work/ran"
    [ ! -e $work/ran ] || fail "the job ran although its report cannot be written"
else
    echo "not tried: a full disk and one that is only read (unshare may not make a mount namespace)"
fi
ln -s /dev/full $work/full.html
expect 3 "" "~the report $work/full.html could not be written: No space left on device" $mpiexec --report $work/full.html -n 1 sh -c 'exit 3'

# texts of others are texts
expect 0 "" "" $mpiexec --report $work/page.html --report $work/trace.json -n 1 $program $'<script>alert(1)</script>\e[31m'
lacks "<script"
has "&#60;script&#62;alert(1)&#60;/script&#62; [31m"
! grep -q $'\e' $work/page.html $work/trace.json || fail "an escape sequence"
name=$'<script>alert(2)<\e[31m\xff\xe0\x80\xaf"\\'
cp $program "$work/$name"
expect 0 "" "" $mpiexec --report $work/page.html --report $work/trace.json -n 1 "$work/$name" $'\xc2\x9b1m\xff\n&lt;'
lacks "<script"
has "&#60;script&#62;alert(2)&#60; [31m    &#34;&#92;"
has "  1m  &#38;lt;"
iconv -f UTF-8 -t UTF-8 $work/page.html >/dev/null || fail "the page is not UTF-8"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' $work/trace.json || fail "the trace of a program with a strange name"
fi

# more ranks than the map has rows
expect 0 "" "" timeout 60 $mpiexec --report $work/page.html -n 300 $program
has "in blocks of ranks"
has "<tr><td>messages between two ranks<td>4500"
has "<caption>556 pairs;" # each of 256 blocks to the next and the one before, 44 blocks of two ranks to themselves
has "viewBox='0 0 256 256'"
[ $(stat -c %s $work/page.html) -lt 200000 ] || fail "the page of 300 ranks has $(stat -c %s $work/page.html) bytes"

# not asked for: nothing is left in the environment
expect 0 "" "" $mpiexec -n 1 sh -c 'env | grep -E "^(VIADUCT_JOB_PROFILE|LD_PRELOAD)="; true'

expect 2 "" "~invalid value '$work/page.txt' for --report: expected a file whose name ends with .html" $mpiexec --report $work/page.txt true
expect 2 "" "~invalid value 'html' for --report: expected a file" $mpiexec --report html true
expect 2 "" "~cannot write $work/no/page.html: No such file" $mpiexec --report $work/no/page.html true
mkdir $work/folder.html
expect 2 "" "~cannot write $work/folder.html: Is a directory" $mpiexec --report $work/folder.html true
[ ! -e $work/page.txt ] || fail "a file that was refused is there"
finish
