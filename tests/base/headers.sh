# Every header of src, include and tools compiles alone and twice; those of include also as C++.
# timeout: 240 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cd "$VIADUCT_SOURCE" || exit 1
cc=${CC:-cc} cxx=${CXX:-c++}
seen=0

# compiles LANGUAGE HEADER COMPILER OPTIONS...: included twice, in a file of its own, without a warning
compiles() {
    local language=$1 header=$2
    shift 2
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$work/alone.$language"
    "$@" -fsyntax-only -Wall -Wextra -Werror "$work/alone.$language"
}

# The check can fail: a header that leans on another, and one without a guard.
printf 'size_t leans;\n' >"$work/leaning.h"
printf 'struct twice { int a; };\n' >"$work/unguarded.h"
for bad in leaning unguarded; do
    compiles c "$work/$bad.h" "$cc" -std=gnu17 2>/dev/null && fail "the bad header $bad.h was not noticed"
done

for header in $(find src include tools -name '*.h' 2>/dev/null | sort); do
    seen=$((seen + 1))
    compiles c "$PWD/$header" "$cc" -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -Itools ||
        fail "$header does not compile alone"
done
[ "$seen" -gt 10 ] || fail "only $seen found in $PWD"

# A user's program knows nothing of us: no options but the include path, the strictest common dialects.
for header in $(find include -name '*.h' 2>/dev/null | sort); do
    compiles c "$PWD/$header" "$cc" -std=c99 -pedantic -Iinclude ||
        fail "$header does not compile alone in C99"
    command -v "$cxx" >/dev/null || { [ $failed -eq 0 ] && skip "g++ is not installed, for $header"; finish; }
    compiles cpp "$PWD/$header" "$cxx" -std=c++11 -Iinclude ||
        fail "$header does not compile alone in C++"
done
finish
