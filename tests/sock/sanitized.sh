# The library with the address and undefined sanitizers: random calls, calls with known answers, and faults at every step.
# presets: asan
# timeout: 300 takes: 60
source "$VIADUCT_SOURCE/tests/lib/shell"
programs=$VIADUCT_BUILD/tests/sock
# the library comes before the runtime of the sanitizer, and what it holds for the whole life of a process is no leak
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
# The sanitizer's own runtime calls sigaltstack when a thread that was cancelled has left functions with large arrays,
# and reports that as an overflow of the stack (google/sanitizers, issue 1399).
echo interceptor_name:sigaltstack >"$work/suppressed"
export ASAN_OPTIONS=$ASAN_OPTIONS:suppressions=$work/suppressed
run 60 "$programs/cases"
cp "$work/out" "$work/plain"
export LD_PRELOAD=$VIADUCT_BUILD/lib/libviaduct-sock.so VIADUCT_SOCK=after:4
expect 0 '' '' timeout 100 "$programs/twin" "${CHECK_SEED:-1}" 100000
expect 0 "$(cat "$work/plain")" '' timeout 60 "$programs/cases"
steps=$(sed -n 's/.*SOCK_STEP(\([a-z_]*\));.*/\1/p' "$VIADUCT_SOURCE"/src/sock/*.c)
for action in kill descriptors; do
    LD_PRELOAD=$programs/libviaduct-sock.so expect 0 '' '' timeout 60 "$programs/faults" $action $steps
done
finish
