# Where the modules of a compiler are kept, when something is in the way: right, or one sentence. A compiler that is
# replaced, a tree that is moved, a text changed by hand, a place that is full or another user's, eight at once.
# timeout: 180 takes: 25 presets: fortran
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v gfortran >/dev/null || skip "gfortran is not installed"
export HOME=$work/home
tree=$work/tree text=$work/tree/lib/viaduct/fortran
mkdir -p "$HOME" "$tree/bin" "$text"
cp "$VIADUCT_BIN/mpicc" "$tree/bin/mpifort"
cp "$VIADUCT_BUILD"/lib/viaduct/fortran/{mpi.f90,mpi_f08.f90,mplite.f90,mpif.h} "$text"
cp -P "$VIADUCT_BUILD"/lib/lib{viaduct,mpi_abi,viaduct_mpifort}.so* "$tree/lib"
cd "$work" || exit 1
for i in {1..8}; do
    printf 'subroutine s%s\nuse mpi_f08\nprint *, MPI_VERSION\nend subroutine\n' $i >s$i.f90
    objects="${objects:-} s$i.o"
done
kept() { find "$1" -maxdepth 1 -type d -name '*[0-9]' | wc -l; } # FOLDER
cannot() { # PLACE COMMAND...
    expect 1 "" "~^mpifort: the modules of gfortran could not be kept: neither $text nor $1[^ ]* may be written, or they are full$" "${@:2}"
}

# eight sources at the first use
printf '%%.o: %%.f90\n\t@%s -c $<\nall: %s\n' "$tree/bin/mpifort" "$objects" >Makefile
expect 0 "" "" make -s -j8 all
for object in $objects; do [ -s "$object" ] || fail "no $object"; done
[ "$(kept "$text")" -eq 1 ] || fail "modules of one compiler: $(ls "$text")"
[ "$(ls "$text/of-gfortran/")" = $'mpi.mod\nmpi_f08.mod\nmplite.mod\nviaduct_types.mod' ] ||
    fail "of-gfortran has: $(ls "$text/of-gfortran/")"

# another compiler under the name of one
compilers=()
for compiler in gfortran-11 gfortran-12 gfortran flang-new-19 flang-new-22; do
    command -v $compiler >/dev/null && compilers+=("$compiler")
done
mkdir bin
for compiler in "${compilers[@]}"; do
    printf '#!/bin/sh\nexec %s "$@"\n' "$compiler" >bin/mine.new && chmod +x bin/mine.new && mv bin/mine.new bin/mine
    [ -e first ] || cp -p bin/mine first
    expect 0 "" "" "$tree/bin/mpifort" -fc="$work/bin/mine" -c s1.f90
    expect 0 "" "" "$work/bin/mine" -c "-I$text/of-mine" s1.f90
done

# and the first one again, whose modules are there
cp -p first bin/mine
before=$(kept "$text")
expect 0 "" "" "$tree/bin/mpifort" -fc="$work/bin/mine" -c s1.f90
[ "$(kept "$text")" -eq "$before" ] || fail "modules of a compiler that came back were made again"
expect 0 "" "" "$work/bin/mine" -c "-I$text/of-mine" s1.f90

# a tree that is moved keeps them
before=$(kept "$text")
mv tree moved
expect 0 "" "" "$work/moved/bin/mpifort" -c s1.f90
mv moved tree
[ "$(kept "$text")" -eq "$before" ] || fail "a moved tree made modules again"

# a text changed by hand: what it says now, or why not
cp "$text/mpi_f08.f90" saved
sed -i 's/^\(implicit none\)$/\1\ninteger, parameter :: by_hand = 7/' "$text/mpi_f08.f90"
printf 'use mpi_f08\nprint "(i0)", by_hand\nend\n' >hand.f90
expect 0 "" "" "$tree/bin/mpifort" -o hand hand.f90
expect 0 7 "" ./hand
for name in mpi mpi_f08; do
    cp "$text/$name.f90" saved.$name
    echo 'what is this' >>"$text/$name.f90"
done
expect 1 "" $'~^mpifort: gfortran cannot compile the modules of MPI; [^\n]*rror: [^\n]*$' "$tree/bin/mpifort" -c s1.f90
mv saved.mpi "$text/mpi.f90"
mv saved "$text/mpi_f08.f90"
expect 0 "" "" "$tree/bin/mpifort" -c s1.f90
[ -z "$(find "$text" -name '*.[A-Za-z0-9]?????')" ] || fail "something is left: $(ls "$text")"

# a cache of another user; no home at all
if [ "$(id -u)" -eq 0 ]; then
    rm -rf "$text"/[0-9]* "$text"/of-*
    chmod -R a+rX "$work"
    mkdir -m 755 others elsewhere && chmod 777 elsewhere
    as() { (cd elsewhere && setpriv --reuid 65534 --clear-groups "$@"); }
    cannot "$work/others/viaduct" as env "XDG_CACHE_HOME=$work/others" "$tree/bin/mpifort" -c ../s1.f90
    cannot /nowhere as env -u HOME "$tree/bin/mpifort" -c ../s1.f90
    # a tree and a cache that are full
    if unshare -m mount -t tmpfs none "$HOME" 2>/dev/null; then
        cat >full <<'END'
mount -t tmpfs -o size=40k none "$1" && mount -t tmpfs -o size=40k none "$2" && shift 2 && exec "$@"
END
        mkdir "$HOME/.cache"
        mkdir texts && mount=$work/texts && cp "$text"/*.f90 "$text/mpif.h" texts
        rm -rf "${text:?}"/* && for name in mpi.f90 mpi_f08.f90 mplite.f90 mpif.h; do ln -s "$mount/$name" "$text/$name"; done
        cat >linked <<END
for name in mpi.f90 mpi_f08.f90 mplite.f90 mpif.h; do ln -s "$mount/\$name" "$text/\$name"; done && exec "$tree/bin/mpifort" -c s1.f90
END
        cannot "$HOME/.cache/viaduct" unshare -m sh full "$text" "$HOME/.cache" sh linked
    fi
fi
finish
