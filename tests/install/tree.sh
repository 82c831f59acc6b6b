#!/usr/bin/env bash
# The installed tree, moved elsewhere: C and C++ programs through the wrappers, CMake's FindMPI, the CMake package and
# pkg-config; then uninstall leaves nothing, and folders that were there keep their permissions.
# timeout: 180
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
unset MPI_CC MPI_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR PREFIX
cmake=$(command -v cmake) || skip "cmake is not installed"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"

in_place() { # install or uninstall, into the scratch folder and nowhere else
    BUILD=$VIADUCT_BUILD DESTDIR=$work/stage PREFIX=/opt/viaduct bash "$VIADUCT_SOURCE/scripts/install" "$1" \
        >"$work/log" 2>&1 || { fail "$1:"; cat "$work/log"; finish; }
}
mkdir -p "$work/stage/opt" && chmod 751 "$work/stage" && chmod 2775 "$work/stage/opt"
in_place install
[ "$(stat -c %a "$work/stage") $(stat -c %a "$work/stage/opt")" = "751 2775" ] ||
    fail "install changed the permissions of folders that were there"
mkdir -p "$work/new home"
cp -a "$work/stage/opt/viaduct" "$work/new home/moved"
mv "$work/stage/opt/viaduct" "$work/hidden" # nothing may lean on the old place
tree="$work/new home/moved"
PATH=$tree/bin:$PATH

cat >"$work/sum.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, sum = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d of %d\n", sum, size);
    MPI_Finalize();
    return 0;
}
EOF
cp "$work/sum.c" "$work/sum.cc"
sums() { # PROGRAM WHAT: three ranks of it add up, silently
    run 30 mpiexec -n 3 "$1"
    expect_status 0 "$2"
    expect_out '^sum 3 of 3$' "$2"
    expect_silence "$2"
}

# Links of the documents lead somewhere
(cd "$tree/share/doc/viaduct" && grep -Ho ']([^)#:]*' ./*.md docs/*.md | while IFS=: read -r page link; do
    [ -e "${page%/*}/${link#](}" ] || echo "$page: $link"
done) >"$work/out"
[ ! -s "$work/out" ] || { fail "links that lead nowhere:"; cat "$work/out"; }

# Without Fortran and other ABIs (VIADUCT_FORTRAN, VIADUCT_ABIS) a tree is no larger than before there were any: they lie in
# files of their own.
theirs() { nm -D --defined-only "$tree/lib/$1" | grep -qE ' (p?mpi_.*_|ompi_mpi_int)$'; }
for name in libmpi_abi.so.1 libviaduct.so.0; do
    [ -e "$tree/lib/$name" ] || fail "no $name"
    ! theirs $name || fail "$name has names of Fortran or of Open MPI"
done
for name in libviaduct_mpifort.so.0 viaduct/abi/libmpi.so.40; do
    [ ! -e "$tree/lib/$name" ] || theirs $name || fail "$name has no such names"
done

# Wrappers
run 60 mpicc -O2 -Wall -Wextra -pedantic "$work/sum.c" -o "$work/by-mpicc"
expect_status 0 "mpicc"
expect_silence "mpicc"
sums "$work/by-mpicc" "a C program"
readelf -d "$work/by-mpicc" | grep NEEDED >"$work/out"
[ "$(grep -cvE 'libc\.so|libmpi_abi\.so\.1|ld-linux' "$work/out")" -eq 0 ] || { fail "a program needs more than libmpi_abi"; cat "$work/out"; }
if command -v g++ >/dev/null; then
    run 60 mpicxx -O2 -Wall -Wextra -pedantic "$work/sum.cc" -o "$work/by-mpicxx"
    expect_status 0 "mpicxx"
    expect_silence "mpicxx"
    sums "$work/by-mpicxx" "a C++ program"
fi

# A CMake project that wants MPI, by the wrappers; and one that wants this library
mkdir "$work/project" "$work/project2"
cat >"$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.12)
project(sum C)
find_package(MPI 3.0 REQUIRED COMPONENTS C)
add_executable(sum ../sum.c)
target_link_libraries(sum PRIVATE MPI::MPI_C)
message(STATUS "launcher ${MPIEXEC_EXECUTABLE} version ${MPI_C_VERSION} libraries ${MPI_C_LIBRARIES}")
EOF
configure() { # FOLDER WHAT OPTION...
    local folder=$1 what=$2
    shift 2
    run 120 "$cmake" -S "$folder" -B "$folder/build" "$@"
    expect_status 0 "$what: configuring"
    expect_out "^-- launcher $tree/bin/mpiexec version 5.0 libraries $tree/lib/libmpi_abi.so" "$what"
    run 120 "$cmake" --build "$folder/build"
    expect_status 0 "$what: building"
    sums "$folder/build/sum" "$what"
}
configure "$work/project" "find_package(MPI)"
cat >"$work/project2/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.12)
project(sum C)
find_package(viaduct 0.1 REQUIRED CONFIG)
add_executable(sum ../sum.c)
target_link_libraries(sum PRIVATE viaduct::mpi)
get_target_property(file viaduct::mpi IMPORTED_LOCATION)
message(STATUS "launcher ${viaduct_MPIEXEC} version 5.0 libraries ${file}")
EOF
configure "$work/project2" "find_package(viaduct)" "-Dviaduct_DIR=$tree/lib/cmake/viaduct"

if command -v gfortran >/dev/null; then
    mkdir "$work/project3"
    cat >"$work/project3/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.12)
project(sum Fortran)
find_package(MPI 3.0 REQUIRED COMPONENTS Fortran)
add_executable(sum sum.f90)
target_link_libraries(sum PRIVATE MPI::MPI_Fortran)
message(STATUS "bindings ${MPI_Fortran_HAVE_F77_HEADER} ${MPI_Fortran_HAVE_F90_MODULE} ${MPI_Fortran_HAVE_F08_MODULE}")
message(STATUS "launcher ${MPIEXEC_EXECUTABLE} version ${MPI_Fortran_VERSION} libraries @TREE@/lib/libmpi_abi.so")
message(STATUS "found ${MPI_Fortran_LIBRARIES}")
EOF
    sed -i "s|@TREE@|$tree|" "$work/project3/CMakeLists.txt"
    cat >"$work/project3/sum.f90" <<'EOF'
program sums
  use mpi_f08
  implicit none
  integer :: rank, size, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(a, i0, a, i0)', 'sum ', total, ' of ', size
  call MPI_Finalize()
end program
EOF
    configure "$work/project3" "find_package(MPI COMPONENTS Fortran)"
    run 120 "$cmake" -S "$work/project3" -B "$work/project3/build"
    expect_out '^-- bindings TRUE TRUE TRUE$' "the bindings of Fortran"
    expect_out "^-- found $tree/lib/libviaduct_mpifort.so;$tree/lib/libmpi_abi.so$" "the libraries of Fortran"
fi

# pkg-config
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$tree/lib/pkgconfig
    eval "gcc '$work/sum.c' -o '$work/by-pkg-config' $(pkg-config --cflags --libs mpi-c)" || fail "pkg-config mpi-c"
    sums "$work/by-pkg-config" "pkg-config"
    pkg-config --exists viaduct mpi-cxx || fail "pkg-config does not know viaduct and mpi-cxx"
fi

# Away again
mv "$work/hidden" "$work/stage/opt/viaduct"
in_place uninstall
left=$(find "$work/stage/opt" -mindepth 1)
[ -z "$left" ] || { fail "uninstall leaves:"; echo "$left" | head -5; }
[ -d "$work/stage/opt" ] || fail "uninstall took a folder that was there before"
finish
