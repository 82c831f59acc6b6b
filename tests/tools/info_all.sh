# viaduct info --all: each page is in one text, and nothing of others that may be a secret.
source "$VIADUCT_SOURCE/tests/lib/shell"
viaduct=$VIADUCT_BIN/viaduct
VIADUCT_LOG=info VIADUCT_JOB_ID=x SLURM_SECRET=hidden $viaduct info --all >$work/all || fail "status $?"
for title in installation system environment settings "shared memory" network tunables collectives MPI; do
    grep -qx "==== $title ====" $work/all || fail "no part $title"
done
grep -qx "VIADUCT_LOG=info" $work/all || fail "a setting of the environment is missing"
grep -qx "SLURM_SECRET is set" $work/all || fail "the name of a launcher's variable is missing"
! grep -qE "hidden|VIADUCT_JOB_ID" $work/all || fail "the value of a variable of others: $(grep -E 'hidden|VIADUCT_JOB_ID' $work/all)"
grep -qE "^limit +open files \(ulimit -n\): ([0-9]+|none)$" $work/all || fail "no limits"
grep -qE "^libc +2\." $work/all && grep -qE "^build +[0-9a-f]{16}$" $work/all || fail "no versions"
grep -q "one copy" $work/all && grep -q -i "^allreduce" $work/all || fail "pages are missing: $(grep -A3 collectives $work/all | head -c 500)"
finish
