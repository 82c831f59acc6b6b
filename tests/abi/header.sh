#!/usr/bin/env bash
# mpi.h equals the tables: every prototype and constant in C and C++, under both names, and no function besides.
# timeout: 120
source "$VIADUCT_SOURCE/tests/lib/shell"
set -e
here=$VIADUCT_SOURCE/tests/abi header=$VIADUCT_SOURCE/include/mpi.h

cat >"$work/prototypes.c" <<'EOF'
#include "mpi.h"
#define SAME(a, b) __builtin_types_compatible_p(a, b)
#define FUNCTION(result, name, parameters)                                                   \
    _Static_assert(SAME(__typeof__(name), __typeof__(result parameters)), #name);            \
    _Static_assert(SAME(__typeof__(P##name), __typeof__(result parameters)), "P" #name);
#include "functions.h"
#define CONSTANT(type, name, value)                                                          \
    _Static_assert(SAME(__typeof__(name), type) || sizeof(type) == 4, #name); \
    static type the_##name = name; /* so it is a constant expression */
#include "constants.def"
int main(void)
{
#undef CONSTANT
#define CONSTANT(type, name, value) if (the_##name != (type)(value)) return 1;
#include "constants.def"
    _Static_assert(sizeof(MPI_Status) == 32 && _Alignof(MPI_Status) == 4, "MPI_Status");
    _Static_assert(sizeof(MPI_Aint) == sizeof(void *) && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "sizes");
    _Static_assert((MPI_Aint)-1 < 0 && (MPI_Count)-1 < 0 && (MPI_Offset)-1 < 0, "signed");
    char version[] = {'0' + MPI_VERSION, '.', '0' + MPI_SUBVERSION, 0};
    return version[0] != '5' || version[2] != '0';
}
EOF

cat >"$work/prototypes.cc" <<'EOF'
#include "mpi.h"
template <class A, class B> struct same { static const bool value = false; };
template <class A> struct same<A, A> { static const bool value = true; };
#define FUNCTION(result, name, parameters)                                                   \
    static_assert(same<decltype(name), result parameters>::value, #name);                    \
    static_assert(same<decltype(P##name), result parameters>::value, "P" #name);
#include "functions.h"
#define CONSTANT(type, name, value) static type the_##name = name;
#include "constants.def"
int main()
{
#undef CONSTANT
#define CONSTANT(type, name, value) if (the_##name != (type)(value)) return 1;
#include "constants.def"
}
EOF

# What users write with the constants that stand for absent arguments, where compilers look into arrays.
cat >"$work/absent.c" <<'EOF'
#include "mpi.h"
int main(int argc, char **argv)
{
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int some[2] = {0, 1}, flag = 0;
    if (argc < 100)
        return argv[0] == 0;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, some, MPI_UNWEIGHTED, 2, some, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, some, some, some, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors(graph, 2, some, MPI_UNWEIGHTED, 2, some, MPI_UNWEIGHTED);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Comm_spawn("x", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &graph, MPI_ERRCODES_IGNORE);
    MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, some, some, some, MPI_INT, 0, graph);
    return MPI_Bcast(MPI_BOTTOM, 0, MPI_INT, 0, graph);
}
EOF
# A tool may define what Fortran compilers call, in whatever case and with whatever number of underscores.
"$here/names" >"$work/names"
while read -r name; do
    echo "void ${name^^}(int *); void ${name^^}_(int *); void ${name^^}__(int *); void ${name,,}_(int *);"
done <"$work/names" >"$work/fortran"
{ echo '#ifdef __cplusplus' && echo 'extern "C" {' && echo '#endif' && cat "$work/fortran" && echo '#ifdef __cplusplus' && echo '}' && echo '#endif'; } >>"$work/absent.c"
cp "$work/absent.c" "$work/absent.cc"

compiled=0
compile() # compiler, standard, source: a compiler that is not here is passed over, one must be here
{
    command -v "$1" >/dev/null || return 0
    "$1" -std="$2" -Wall -Wextra -pedantic -Wshadow -Werror \
        -I"$VIADUCT_SOURCE/include" -I"$VIADUCT_SOURCE/src" -I"$here" "$3" -o "$work/program" 2>"$work/said" && "$work/program" || {
        head -20 "$work/said"
        echo "mpi.h is not as the tables say: $1 -std=$2"
        exit 1
    }
    "$1" -std="$2" -O2 -Wall -Wextra -Werror -I"$VIADUCT_SOURCE/include" -c "$work/absent.${3##*.}" -o "$work/absent.o" \
        2>"$work/said" || { head -20 "$work/said" && echo "$1 -std=$2 warns in a user's program" && exit 1; }
    compiled=$((compiled + 1))
}
# A program in the C and C++ of old, whose own lines are held to the letter: mpi.h adds no warning and no error.
old() # compiler, standard, source, more
{
    command -v "$1" >/dev/null || return 0
    "$1" -std="$2" -Wall -Wextra -pedantic-errors -Werror "${@:4}" -I"$VIADUCT_SOURCE/include" -c "$3" -o "$work/absent.o" \
        2>"$work/said" || { head -20 "$work/said" && echo "$1 -std=$2 refuses a user's program" && exit 1; }
}
for compiler in gcc clang; do
    compile $compiler gnu11 "$work/prototypes.c"
    compile $compiler gnu17 "$work/prototypes.c"
    old $compiler c89 "$work/absent.c"
done
for compiler in g++ clang++; do
    compile $compiler c++11 "$work/prototypes.cc"
    compile $compiler c++20 "$work/prototypes.cc"
    old $compiler c++98 "$work/absent.cc" -Wold-style-cast
done
[ $compiled -gt 0 ] || { echo "no C compiler found"; exit 1; }

sort "$work/names" >"$work/table"
# What a compiler sees of them: all functions, each with both names.
for compiler in gcc clang; do command -v $compiler >/dev/null && break; done
echo "#include \"$header\"" | $compiler -E -P -x c - | grep -v '^typedef\|^static __inline' |
    grep -oE '\bP?MPI_\w+ ?\(' | tr -d ' (' >"$work/seen"
grep '^MPI_' "$work/seen" | sort >"$work/declared"
cmp "$work/table" "$work/declared"
sed -n 's/^P//p' "$work/seen" | sort | cmp "$work/table" - || { echo "a function with one name"; exit 1; }
echo "$(wc -l <"$work/table") functions, $(grep -c '^CONSTANT' "$here/constants.def") constants, $compiled compilers"
