# What build systems find of an installed tree that is named to them, on a machine that may have other MPIs as well: C and
# the three bindings of Fortran by CMake, Meson, autoconf's macros and pkg-config. A link that another MPI's library gets
# into is refused.
# presets: fortran
# timeout: 240 takes: 40
source "$VIADUCT_SOURCE/tests/lib/shell"
for tool in cmake gfortran meson ninja pkg-config autoreconf aclocal; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -e /usr/share/aclocal/ax_mpi.m4 ] || skip "autoconf-archive is not installed"
unset MPI_CC MPI_CXX MPI_FC MPICH_CC MPICH_FC OMPI_CC OMPI_FC MPI_HOME CC FC F77 FCFLAGS
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH DESTDIR PREFIX
tree=$work/tree
cmake --install "$VIADUCT_BUILD" --prefix "$tree" >"$work/log" || fail "no tree: $(tail -1 "$work/log")"
export HOME=$work/home
mkdir "$HOME"
expect 0 "" "" "$tree/bin/mpifort" --prepare

# One program of C and of each binding, in a folder for each build system.
program() { # BEFORE DECLARED
    printf 'program hello\n%s\nimplicit none\n%s\ninteger rank, error\ncall MPI_Init(error)\n' "$1" "$2"
    printf 'call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)\nif (rank == 0) print "(a)", "hello"\n'
    printf 'call MPI_Finalize(error)\nend program\n'
}
mkdir "$work/cmake" "$work/meson" "$work/autoconf"
for folder in "$work"/{cmake,meson,autoconf}; do
    printf '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v)\n{\n    int rank;\n    MPI_Init(&c, &v);\n    %s\n}\n' \
        'MPI_Comm_rank(MPI_COMM_WORLD, &rank); rank || puts("hello"); return MPI_Finalize();' >"$folder/c.c"
    program "" "include 'mpif.h'" >"$folder/h.f90"
    program "use mpi" "" >"$folder/m.f90"
    program "use mpi_f08" "" >"$folder/f.f90"
done
ours() { # FOLDER: the four programs in it need our libraries and no others, and run
    local name
    for name in c h m f; do
        ldd "$1/$name" >"$work/ldd" || fail "$1/$name was not built"
        ! grep -E 'libmpi(ch)?\.so|libmpi_mpifh|libmpi_usempi' "$work/ldd" || fail "$1/$name has another MPI"
        grep -qF "libmpi_abi.so.1 => $tree/lib/" "$work/ldd" || fail "$1/$name: $(grep mpi "$work/ldd")"
        expect 0 hello "" timeout 30 "$tree/bin/mpiexec" -n 2 "$1/$name"
    done
}

# CMake, which is told of the tree in three ways
cat >"$work/cmake/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.12)
project(hello C Fortran)
set(MPI_DETERMINE_Fortran_CAPABILITIES ON)
find_package(MPI 3.0 REQUIRED COMPONENTS C Fortran)
message(STATUS "is ${MPI_C_COMPILER} ${MPI_Fortran_COMPILER} ${MPIEXEC_EXECUTABLE} ${MPI_C_VERSION} ${MPI_Fortran_VERSION}")
foreach(binding F77_HEADER F90_MODULE F08_MODULE)
  message(STATUS "${binding}: ${MPI_Fortran_HAVE_${binding}} ${MPI_Fortran_${binding}_SUBARRAYS} ${MPI_Fortran_${binding}_ASYNCPROT}")
endforeach()
add_executable(c c.c)
target_link_libraries(c PRIVATE MPI::MPI_C)
foreach(name h m f)
  add_executable(${name} ${name}.f90)
  target_link_libraries(${name} PRIVATE MPI::MPI_Fortran)
endforeach()
EOF
configured() { # WHAT ENVIRONMENT...
    local what=$1
    shift
    rm -rf "$work/cmake/build"
    run 100 env "$@" cmake -S "$work/cmake" -B "$work/cmake/build"
    expect_status 0 "CMake by $what"
    expect_out "^-- is $tree/bin/mpicc $tree/bin/mpi(fort|f90) $tree/bin/mpiexec 5\.0 5\.0$" "CMake by $what"
    expect_out '^-- F77_HEADER: TRUE FALSE FALSE$' "CMake by $what"
    expect_out '^-- F90_MODULE: TRUE FALSE FALSE$' "CMake by $what"
    expect_out '^-- F08_MODULE: TRUE TRUE TRUE$' "CMake by $what"
}
configured MPI_HOME "MPI_HOME=$tree"
configured CMAKE_PREFIX_PATH "CMAKE_PREFIX_PATH=$tree"
configured PATH "PATH=$tree/bin:$PATH"
run 100 cmake --build "$work/cmake/build"
expect_status 0 "CMake: building"
ours "$work/cmake/build"
# Told of mpicc alone, it takes neither C++ nor Fortran of another MPI.
sed -i 's/^project.*/project(hello C CXX Fortran)/; s/COMPONENTS C/COMPONENTS C CXX/; s/\(is .{MPI_C_COMPILER}\)/\1 ${MPI_CXX_COMPILER}/' \
    "$work/cmake/CMakeLists.txt"
rm -rf "$work/cmake/build"
run 100 env "CC=$tree/bin/mpicc" cmake -S "$work/cmake" -B "$work/cmake/build"
expect_status 0 "CMake by CC"
expect_out "^-- is $tree/bin/mpicc $tree/bin/aCC $tree/bin/lf95 " "CMake by CC"
run 100 cmake --build "$work/cmake/build"
expect_status 0 "CMake by CC: building"
ours "$work/cmake/build"

# Meson, which asks pkg-config for names of Open MPI before it looks for wrappers
cat >"$work/meson/meson.build" <<'EOF'
project('hello', 'c', 'fortran')
executable('c', 'c.c', dependencies: dependency('mpi', language: 'c'))
foreach name : ['h', 'm', 'f']
  executable(name, name + '.f90', dependencies: dependency('mpi', language: 'fortran'))
endforeach
EOF
cd "$work/meson" || exit 1
run 100 env "PKG_CONFIG_PATH=$tree/lib/pkgconfig" meson setup build
expect_status 0 "Meson"
run 100 ninja -C build
expect_status 0 "Meson: building"
ours "$work/meson/build"

# Both families of macros in autoconf's archive: wrappers beside the compilers, and wrappers as the compilers
cd "$work/autoconf" || exit 1
configured_by() { # MACROS SETTING...
    printf 'AC_INIT([hello], [1])\n%b\nAC_CONFIG_FILES([made])\nAC_OUTPUT\n' "$1" >configure.ac
    rm -f made c h m f
    run 100 autoreconf -f -i -W none
    expect_status 0 "autoreconf"
    run 100 env "${@:2}" ./configure
    expect_status 0 "configure"
    source ./made
    expect 0 "" "" env "${@:2}" ${MPICC:-$CC} -o c c.c
    for name in h m f; do
        expect 0 "" "" env "${@:2}" ${MPIFC:-$FC} -o $name $name.f90
    done
    ours "$work/autoconf"
}
echo 'MPICC="@MPICC@ @MPILIBS@" MPIFC="@MPIFC@ @MPILIBS@"' >made.in
macros='AC_PROG_CC\nAC_PROG_FC\nAX_MPI([], [AC_MSG_ERROR([no C])])\nAC_LANG([Fortran])\nAX_MPI([], [AC_MSG_ERROR([no Fortran])])'
configured_by "$macros" "MPICC=$tree/bin/mpicc" "MPIFC=$tree/bin/mpifort"
echo 'CC="@CC@" FC="@FC@" MPICC= MPIFC=' >made.in
macros='AX_PROG_CC_MPI([true], [], [AC_MSG_ERROR([no C])])\nAX_PROG_FC_MPI([true], [], [AC_MSG_ERROR([no Fortran])])'
configured_by "$macros" "PATH=$tree/bin:$PATH"

# pkg-config, by our names and by those of others
export PKG_CONFIG_PATH=$tree/lib/pkgconfig
for name in mpi mpi-c mpi-cxx ompi ompi-c ompi-cxx; do
    expect 0 "~-I$tree/lib/pkgconfig/../../include .*-lmpi_abi *$" "" pkg-config --cflags --libs $name
done
for name in mpi-fort ompi-fort; do
    expect 0 "" "" gfortran -o f f.f90 $(pkg-config --cflags --libs $name)
    expect 0 hello "" "$tree/bin/mpiexec" -n 2 ./f
done

# Another MPI's library in a link is refused; where nothing is linked it does no harm.
for library in -lmpi -lmpich -lmpi_mpifh -lmpichfort /usr/lib/any/libmpi.so /usr/lib/any/libmpich.so.12; do
    expect 1 "" "mpicc: $library is a library of another MPI, and a program can have only one: leave it out, or use the wrapper of that MPI" \
        "$tree/bin/mpicc" -o c c.c $library
done
expect 1 "" "~^mpifort: -lmpi is a library of another MPI" "$tree/bin/mpifort" -o f f.f90 -lmpi
expect 0 "" "" "$tree/bin/mpicc" -c -o c.o c.c -lmpi
finish
