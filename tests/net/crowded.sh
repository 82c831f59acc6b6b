# 200 ranks on 20 hosts: connections are made where they are used and nowhere else, and descriptors stay few; 64 ranks
# on 32 hosts start, meet and end, at all (a lost call would wait for the time-out of a helper).
# timeout: 150 takes: 12
# alone: 1 (20 launchers are 20 sessions, between which the kernel divides the processors evenly, and nothing is left for others.
source "$VIADUCT_SOURCE/tests/lib/shell"
laboratory 32 1
export HYDRA_LAUNCHER_EXEC=lab-rsh
expect 0 "~200 ranks, everybody: at most [0-9]+ descriptors, 190 connections" "" \
    timeout 120 $mpiexec -host h0:10$(printf ',h%d:10' {1..19}) "$VIADUCT_BUILD/tests/programs/crowded"
cat $work/out
expect 0 "" "" timeout 60 $mpiexec -host h0:2$(printf ',h%d:2' {1..31}) "$VIADUCT_BUILD/tests/programs/met"
finish
