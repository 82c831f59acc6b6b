# Sessions and the launcher: process sets of the command line; processes that end in any way while no session is open have ended
# well, and the others do not wait for them; one that ends with a session open has not.
# timeout: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
sets=$programs/session_sets end=$programs/session_end
[ -x "$sets" ] || skip "the programs of sessions were not built"

"$mpiexec" -n 2 --pset ocean "$sets" : -n 1 "$sets" : -n 3 --pset ice "$sets" : -n 1 --pset ocean "$sets" |
    sort >"$work/found"
diff - "$work/found" <<'END' || fail "other sets"
ice 0 of 3
ice 1 of 3
ice 2 of 3
ocean 0 of 3
ocean 1 of 3
ocean 2 of 3
END
"$mpiexec" -n 2 --pset ocean "$VIADUCT_BIN/viaduct" info | grep -q "^sets .*ocean=0-1" || fail "viaduct info shows no sets"
"$mpiexec" -n 1 --pset mpi://WORLD "$sets" 2>"$work/said" && fail "a set mpi://WORLD was taken"
grep -q "pset" "$work/said" || fail "no sentence: $(cat "$work/said")"

for ranks in 1 2 4; do
    for how in return exit _exit exec world-return world-exit world-_exit world-exec; do
        timeout 10 "$mpiexec" -n $ranks "$end" $how || fail "$how of $ranks: status $?"
        VIADUCT_TRANSPORTS=tcp timeout 10 "$mpiexec" -n $ranks "$end" $how || fail "$how of $ranks over tcp: status $?"
    done
done
for how in open-return open-_exit open-exec; do
    timeout 10 "$mpiexec" -n 2 "$end" $how 2>"$work/said" && fail "$how has ended well"
    grep -q "ended without MPI_Finalize" "$work/said" || fail "$how: $(cat "$work/said")"
done
finish
