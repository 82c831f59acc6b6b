# Sourced by the scripts of this folder; nothing to test by itself when run.
# expect STATUS OUTPUT ERROR COMMAND...: what STATUS, OUTPUT and ERROR must be: exactly, or as a pattern after '~'.
run=$VIADUCT_BIN/mpiexec
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
    echo "line ${BASH_LINENO[1]}: $1" >&2
    failures=$((failures + 1))
}

same() { # EXPECTED ACTUAL
    case $1 in
    "~"*) [[ $2 =~ ${1#\~} ]] ;;
    *) [[ $2 == "$1" ]] ;;
    esac
}

expect() {
    local status=$1 out=$2 err=$3 got
    shift 3
    "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    same "$status" $got && same "$out" "$(cat "$work/out")" && same "$err" "$(cat "$work/err")" ||
        fail "$*: status $got (is to be $status), output '$(head -c 300 "$work/out")', error output '$(head -c 300 "$work/err")'"
}

# Until COMMAND succeeds, at most SECONDS.
eventually() {
    local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
    shift
    until "$@"; do
        ((${EPOCHREALTIME/./} < end)) || return 1
        sleep 0.02
    done
}

finish() { exit $((failures > 0)); }
