# Every header of src, include and tools compiles alone and twice; those of include also as C++.
# timeout: 240 takes: 2 beside: 1
set -u
cd "$VIADUCT_SOURCE" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc} cxx=${CXX:-c++}
failed=0 seen=0

# compiles LANGUAGE HEADER COMPILER OPTIONS...: included twice, in a file of its own, without a warning
compiles() {
    local language=$1 header=$2
    shift 2
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$scratch/alone.$language"
    "$@" -fsyntax-only -Wall -Wextra -Werror "$scratch/alone.$language"
}

# The check can fail: a header that leans on another, and one without a guard.
printf 'size_t leans;\n' >"$scratch/leaning.h"
printf 'struct twice { int a; };\n' >"$scratch/unguarded.h"
for bad in leaning unguarded; do
    if compiles c "$scratch/$bad.h" "$cc" -std=gnu17 2>/dev/null; then
        echo "headers: the bad header $bad.h was not noticed"
        exit 1
    fi
done

for header in $(find src include tools -name '*.h' 2>/dev/null | sort); do
    seen=$((seen + 1))
    compiles c "$PWD/$header" "$cc" -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -Itools ||
        { echo "headers: $header does not compile alone"; failed=1; }
done
[ "$seen" -gt 10 ] || { echo "headers: only $seen found in $PWD"; exit 1; }

# A user's program knows nothing of us: no options but the include path, the strictest common dialects.
for header in $(find include -name '*.h' 2>/dev/null | sort); do
    compiles c "$PWD/$header" "$cc" -std=c99 -pedantic -Iinclude ||
        { echo "headers: $header does not compile alone in C99"; failed=1; }
    command -v "$cxx" >/dev/null || { echo "skipped: g++ is not installed, for $header"; [ $failed = 0 ] && exit 77; exit 1; }
    compiles cpp "$PWD/$header" "$cxx" -std=c++11 -Iinclude ||
        { echo "headers: $header does not compile alone in C++"; failed=1; }
done
exit $failed
