# Sourced by the scripts of foreign launchers: on hosts of the laboratory, the same ordeal for each.
source "$VIADUCT_SOURCE/tests/lib/shell"
programs=$VIADUCT_BUILD/tests/programs

to_lab() { # REASON: goes there, or skips where the launcher is not installed
    [ -z "$1" ] || skip "$1"
    laboratory 3 1
}

# EXPECT-ARGUMENTS...: by an event: VIADUCT_PATIENCE would outlast this test
soon() { VIADUCT_PATIENCE=1000s expect "$@"; }

# The launcher is killed while a rank sleeps in the library and another, of another host, is stopped. ($! is a shell that runs it.)
beheaded() { # LAUNCH NAME
    $1 3 $programs/victim 2 19 recv >$work/out 2>&1 &
    eventually 10 are 3 -x victim || fail "not started: $(cat $work/out)"
    kill -KILL $(processes -x "$2") || fail "no $2 to kill"
    wait $! 2>/dev/null
    # mostly at once; whom the launcher's own helpers leave behind alone goes when VIADUCT_PATIENCE (30 s) is over
    eventually 45 none_of -x victim || { fail "$2 was killed, ranks are left: $(cat $work/out)"; kill -KILL $(processes -x victim); }
}

quiet= # what may be said when all is well

# ordeal LAUNCH ABORTED EXITED LEFT KILLED: LAUNCH N PROGRAM... starts ranks on all hosts, if need be several on one. The
# status after MPI_Abort with 7, after exit(5) and after exit(0) without MPI_Finalize, and after a rank was killed.
ordeal() {
    for ranks in 2 3 7 16; do
        soon 0 "$ranks met" "$quiet" $1 $ranks $programs/meet
        VIADUCT_TRANSPORTS=tcp soon 0 "$ranks met" "$quiet" $1 $ranks $programs/meet
    done
    soon $2 "~" "~rank 1 on h.* ends the job: MPI_Abort: .*error code 7" $1 3 $programs/victim 1 -2 loop
    soon $4 "~" "~rank 1 on h.* ends the job: the program ended without MPI_Finalize" $1 3 $programs/victim 1 -1 barrier
    soon $3 "~" "~rank 2 on h.* ends the job: the program ended without MPI_Finalize" $1 3 $programs/victim 2 -3 loop
    for where in loop barrier finalize; do
        soon $5 "~" "~" $1 3 $programs/victim 1 9 $where
    done
    soon 0 "~key-value space of another launcher" "$quiet" $1 1 $VIADUCT_BIN/viaduct info --net
}
