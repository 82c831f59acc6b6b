#!/usr/bin/env bash
# The wrappers: every query, every way to name the compiler, and what they add to which kind of command; by any name,
# through symbolic links, and from a place with a space in it.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
unset MPI_CC MPI_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX
bin=$VIADUCT_BIN
root=$(cd "$bin/.." && pwd -P)
compile="-I$root/include" link="-L$root/lib -Wl,-rpath,$root/lib -lmpi_abi"
printf 'int main(void) { return 0; }\n' >"$work/a.c"

says() { # EXPECTED COMMAND...: prints exactly this, and nothing else
    local expected=$1
    shift
    run 20 "$@"
    expect_status 0 "${*##*/}"
    [ "$(cat "$work/out" "$work/err")" = "$expected" ] || fail "$*: $(cat "$work/out" "$work/err"), not $expected"
}

says "$compile" "$bin/mpicc" -showme:compile
says "$link" "$bin/mpicc" -showme:link
says "$root/include" "$bin/mpicc" -showme:incdirs
says "$root/lib" "$bin/mpicc" --showme:libdirs
says "mpi_abi" "$bin/mpicc" -showme:libs
says "cc" "$bin/mpicc" -showme:command
says "c++" "$bin/mpicxx" -showme:command
says "cc $compile" "$bin/mpicc" -compile-info
says "c++ $link" "$bin/mpicxx" -link-info
for query in -show --show -showme --showme; do says "cc $compile $link" "$bin/mpicc" $query; done
run 20 "$bin/mpic++" -showme:version
expect_out '^mpic\+\+: Viaduct [0-9.]+ \(Language: C\+\+\)$' "-showme:version"

# What is added: to a link everything, to a compilation the headers, to a question nothing.
says "cc -O2 a.c -o a $compile $link" "$bin/mpicc" -show -O2 a.c -o a
for option in -c -S -E -M -MM -fsyntax-only; do says "cc $option a.c $compile" "$bin/mpicc" -show $option a.c; done
says "cc \"-DA=\\\"b c\\\"\" a.c $compile $link" "$bin/mpicc" -show '-DA="b c"' a.c
says "$(cc --version)" "$bin/mpicc" --version
says "$(cc -dumpmachine)" "$bin/mpicc" -dumpmachine
says "$(cc -print-file-name=libc.so -I "$work")" "$bin/mpicc" -print-file-name=libc.so -I "$work"
says '' "$bin/mpicc" -c "$work/a.c" -o "$work/a.o"
says '' "$bin/mpicc" "$work/a.o" -o "$work/a"
says '' "$work/a"
printf 'int main() { return sizeof(MPI_Comm) != sizeof(void *); }\n' >"$work/b"
says '' "$bin/mpicc" -x c -include mpi.h "$work/b" -o "$work/b.out"
run 20 "$bin/mpicc"
[ "$status" -ne 0 ] || fail "mpicc without arguments succeeds"
run 20 "$bin/mpicc" -showme:nonsense
expect_status 1 "an unknown query"
expect_err 'showme:nonsense is not known' "an unknown query"

# Which compiler
for name in MPI_CC MPICH_CC OMPI_CC; do says "gcc -O1" env "$name=gcc -O1" "$bin/mpicc" -showme:command; done
for name in MPI_CXX MPICH_CXX OMPI_CXX; do says "g++" env "$name=g++" "$bin/mpicxx" -showme:command; done
says one env MPI_CC=one MPICH_CC=two "$bin/mpicc" -showme:command
says mine env MPI_CC=other "$bin/mpicc" -cc=mine -showme:command
says "mine -c a.c $compile" "$bin/mpicc" -show -cc=mine -c a.c

if command -v gfortran >/dev/null; then
    says "-L$root/lib -Wl,-rpath,$root/lib -lviaduct_mpifort -lmpi_abi" "$bin/mpif90" -showme:link
    says "gfortran" env -u MPI_FC "$bin/mpif77" -showme:command
    says "mine" env MPI_FC=mine "$bin/mpifc" -showme:command
    run 20 "$bin/mpifort" -showme:version
    expect_out '^mpifort: Viaduct [0-9.]+ \(Language: Fortran\)$' "mpifort -showme:version"
    run 60 "$bin/mpifort" --prepare
    expect_status 0 "mpifort --prepare"
    run 20 "$bin/mpifort" -show -c a.f90
    expect_out "^gfortran -c a.f90 -I$root/lib/viaduct/fortran -I[^ ]+$" "mpifort -show -c"
fi

# By other names, through links, from elsewhere
ln -s "$bin/mpicxx" "$work/mpicxx.mine"
ln -s mpicxx.mine "$work/mpic++"
ln -s "$bin/mpicc" "$work/compile"
says "c++ $compile" "$work/mpic++" -compile-info
says "c++ $compile" "$work/mpicxx.mine" -compile-info
says "cc $compile" "$work/compile" -compile-info
says "c++" "$bin/mpiCC" -showme:command
says "cc $compile" env "PATH=$bin:$PATH" mpicc -compile-info
(cd "$bin" && says "$compile" ./mpicc -showme:compile)
mkdir -p "$work/a place/bin" && cp -P "$bin/mpicc" "$bin/mpicxx" "$work/a place/bin/"
says "-I\"$work/a place/include\"" "$work/a place/bin/mpicc" -showme:compile
says "-L\"$work/a place/lib\" -Wl,\"-rpath,$work/a place/lib\" -lmpi_abi" "$work/a place/bin/mpicxx" -showme:link
mkdir "$work/none"
for tool in sh readlink sed; do ln -s "$(command -v $tool)" "$work/none/$tool"; done
run 20 env "PATH=$work/none" "$bin/mpicc" -c a.c
expect_status 1 "no compiler"
expect_err 'no C compiler was found' "no compiler"
finish
