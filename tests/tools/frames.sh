# What passes between the launcher and its helpers, spoiled byte by byte: refused or obeyed, but no crash, no hang, nobody left.
# CHECK_SEED draws other bytes.
# timeout: 120 takes: 7
# presets: release asan
source "$VIADUCT_SOURCE/tests/lib/shell"
RANDOM=${CHECK_SEED:-1}
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 # who refuses a job ends at once, with all that it had read of it
cp "$VIADUCT_BIN/viaduct" $work # so that all processes of this test are known by their names
run="$work/viaduct run"
printf '#!/bin/sh\ntee %s/job | { shift; sh -c "$*"; } | tee %s/words\n' $work $work >$work/listen
printf '#!/bin/sh\ncat %s/spoiled\n' $work >$work/liar
chmod +x $work/listen $work/liar
expect 0 $'0\n1' "" $mpiexec --agent $work/listen -host elsewhere:2 -n 2 sh -c 'test $PMI_RANK = 1 && sleep 0.2; echo $PMI_RANK'
[ -s $work/job ] && [ -s $work/words ] || fail "nothing was said"

# spoil FILE: a few bytes of it are others, or its end is missing
spoil() {
    local size=$(stat -c %s $work/$1)
    cp $work/$1 $work/spoiled
    for ((i = RANDOM % 4; i >= 0; i--)); do
        printf "\\x$(printf %x $((RANDOM % 256)))" |
            dd of=$work/spoiled bs=1 seek=$((RANDOM % 3 ? (RANDOM * 32768 + RANDOM) % size : RANDOM % 64)) conv=notrunc status=none
    done
    ((RANDOM % 4)) || truncate -s $((RANDOM % size)) $work/spoiled
}
# STATUS: the launcher was told by END or DONE to end with it
told() { [[ $(od -An -v -tx1 $work/spoiled | tr -d ' \n') == *0[79]00000004000000$(printf %02x $1)* ]]; }
sane() { # STATUS WHO: no signal of its own fault, no time-out
    [ "$2" = "the launcher" ] && told $1 || case $1 in 124 | 132 | 134 | 135 | 136 | 139) fail "$2 ended with status $1: $(base64 -w 0 $work/spoiled)" ;; esac
    grep -q Sanitizer $work/err && fail "$2: $(grep -m1 Sanitizer $work/err)"
}
for ((round = 0; round < 150 && failed == 0; round++)); do
    spoil job
    timeout 10 $work/viaduct helper <$work/spoiled >/dev/null 2>$work/err
    sane $? "a helper"
    spoil words
    timeout 10 $mpiexec --agent $work/liar -host elsewhere:2 -n 2 true >/dev/null 2>$work/err </dev/null
    sane $? "the launcher"
done
no_process $work "after all this"
finish
