# Every flag of the launchers of others, with a value that makes no sense: refused, or a warning that names it. What has no value works,
# or is refused by name.
# timeout: 60 takes: 3
source "$VIADUCT_SOURCE/tests/lib/shell"

# flag, wrong value. None of these may be silent.
valued='
n x | np 0 | nprocs 0 | c -1 | ppn x | N 0 | npernode -2 | ranks-per-proc x | perhost 1.5 | ppr 2:core | ppr x | usize MANY | usize 0
host - | H - | hosts , | hostfile /none | machinefile /none | machine /none | f /none | default-hostfile /none | rankfile /none | rf /none
launcher carrier | bootstrap carrier | launcher-exec /none | bootstrap-exec /none | agent /none | rmk moon | wdir /none | wd /none | configfile /none | app /none | file /none | abi x | max-vm-size x
x =1 | env A=B | genv A=B | envlist A=B | genvlist A=B
stdin all | stdin x | s -5 | prepend-pattern %q | outfile-pattern %q | errfile-pattern %q | outfile-pattern /proc/none/x | errfile-pattern /proc/none/x
output-filename /proc/none | output-directory /proc/none | output tagg | output file= | output xml
bind-to moon | bind-to core:x | bind-to core:0 | bind-to core:9999 | binding moon | map-by foo | map-by x:PE=4 | map-by core:PE=0
map-by core:PE=9999 | map-by core:moon | map-by ppr:2:core | map-by seq | rank-by foo | rank-by core:PE=2 | cpus-per-proc 0
cpus-per-rank 9999 | npersocket 2 | cpu-set a-b | cpu-list 1- | cpu-list 4000 | membind nearest | topolib none | display foo
timeout soon | xterm 1 | report-pid /none/x | report-uri - | report-events x | demux x | iface none0 | nameserver x | ompi-server x
order-nodes up | localhost x | gpus-per-proc 2 | personality x | prefix /none | preload-files x | am /none | amca /none | tune /none
launch-agent /none | initial-errhandler x | max-restarts 3 | memory-alloc-kinds x | with-ft ulfm | rtos x | runtime-options x | soft x
arch moon | fanout x | patience x | pset mpi://x | debugger x | cartofile /none | cf /none | xml-file /none | mca b=c
omca b=c | gmca b=c | prtemca b=c | gprtemca b=c | pmixmca b=c | gpmixmca b=c | report page | report /none/page.html'
while read -r flag value; do
    [ -n "$flag" ] || continue
    two=
    case $flag in env | genv | *mca) two=1 ;; launcher-exec | bootstrap-exec | agent) two="-host far.example" ;; esac
    run 10 $mpiexec -$flag "$value" $two true
    [ "$status" -ne 0 ] || grep -q warning $work/err || fail "-$flag $value: accepted"
    grep -qE -- "$flag|$value" $work/err || fail "-$flag $value: not named: $(cat $work/err)"
done <<<"${valued//|/$'\n'}"

# without a value
plain='hostname-propagation mpmd skip-hosts-check pernode nolocal skip-launch-node nooversubscribe envnone genvnone l prepend-rank tag-output timestamp-output
merge-stderr-to-stdout merge-stderr-to-stdout-raw tag-output-detailed tag-output-fullname bind-to-core bind-to-socket bind-to-none bycore bynode byslot bysocket rr use-hwthread-cpus report-bindings
display-map display-devel-map display-diffable-map display-allocation display-devel-allocation v verbose print-all-exitcodes
disable-auto-cleanup continuous enable-recovery version V info help h allow-run-as-root d debug-daemons
disable-hostname-propagation disable-recovery disable-x do-not-resolve envall genvall leave-session-attached noprefix novm
overload-allowed oversubscribe pmi-port q quiet report-child-jobs-separately report-state-on-timeout show-progress display-topo
enable-x get-stack-traces index-argv-by-rank preload-binary set-cwd-to-session-dir debug tv output-proctable xml profile'
for flag in $plain; do
    run 10 $mpiexec -$flag /bin/true
    [ "$status" -eq 0 ] || grep -q -- "-$flag" $work/err || fail "-$flag: status $status: $(cat $work/err)"
    run 10 $mpiexec --$flag=x true
    [ "$status" -eq 2 ] || fail "--$flag=x: status $status"
    grep -q -- "--$flag" $work/err || fail "--$flag=x: not named: $(cat $work/err)"
done

# All that the launchers here list is in the lists above, and all that ours takes. Every text is a list of folders for -path.
known=" $(sed 's/|/\n/g' <<<"$valued" | awk '{ print $1 }' | tr '\n' ' ') ${plain//$'\n'/ } "
listed() {
    mpiexec.mpich --help 2>/dev/null | grep -oE '^ +-[a-z][a-zA-Z/-]+' | tr '/' '\n'
    for category in general debug output input mapping ranking binding compatibility; do
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpiexec.openmpi --help $category 2>/dev/null |
            grep -oE '^ *-[a-zA-Z-]+(\|-+[a-zA-Z-]+)*' | tr '|' '\n'
    done
}
for flag in $(listed | tr -d ' ' | sed 's/^-*//' | sort -u); do
    [[ $known == *" $flag "* ]] || fail "-$flag, which another launcher lists, is not tried"
done
ours=$("$VIADUCT_BIN/viaduct" words run | sed 's/^-*//; s/[ =].*//')
[ $(wc -w <<<"$ours") -ge 100 ] || fail "the flags of this launcher are not known: $ours"
for flag in $ours; do
    [[ $known == *" $flag "* || $flag = path ]] || fail "-$flag, which this launcher takes, is not tried"
done
finish
