#!/usr/bin/env bash
# The Debian packages: their fields, their files, their scripts; unpacked it is a tree that works; built twice they are
# the same.
# timeout: 180
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v dpkg-deb >/dev/null || skip "dpkg-deb is not there: this is no Debian"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"
unset LD_LIBRARY_PATH

make_deb() { # FOLDER: the name of the package is in $deb
    mkdir -p "$1"
    SOURCE_DATE_EPOCH=1700000000 BUILD=$VIADUCT_BUILD bash "$VIADUCT_SOURCE/scripts/deb" "$1" >"$work/out" 2>"$work/err" ||
        { fail "scripts/deb fails:"; cat "$work/err"; finish; }
    deb=$(tail -1 "$work/out")
}
make_deb "$work/two"
make_deb "$work/one"
for file in "$work"/one/*.deb; do
    cmp -s "$file" "$work/two/${file##*/}" || fail "two packages of one build differ: ${file##*/}"
done

field() { dpkg-deb -f "$deb" "$1"; }
[ "$(field Package)" = viaduct ] || fail "Package: $(field Package)"
[ "$(field Architecture)" = "$(dpkg --print-architecture)" ] || fail "Architecture: $(field Architecture)"
[[ $(field Version) =~ ^[0-9]+\.[0-9]+\.[0-9]+-1$ ]] || fail "Version: $(field Version)"
[[ $(field Depends) =~ ^libc6\ \(\>=\ 2\.[0-9]+\)$ ]] || fail "Depends: $(field Depends)"

dpkg-deb -x "$deb" "$work/root"
dpkg-deb -e "$deb" "$work/control"
machine=$(gcc -dumpmachine)
for file in usr/bin/viaduct usr/bin/mpiexec.viaduct usr/bin/mpicc.viaduct usr/bin/mpicxx.viaduct \
    usr/lib/viaduct/lib/libmpi_abi.so.1 usr/lib/viaduct/lib/libviaduct.so.0 usr/lib/viaduct/include/mpi.h \
    "usr/lib/$machine/libviaduct.so.0" "usr/lib/$machine/pkgconfig/viaduct.pc" usr/share/doc/viaduct/copyright \
    usr/share/doc/viaduct/changelog.Debian.gz usr/share/man/man1/mpiexec.viaduct.1.gz usr/share/man/man7/viaduct.7.gz; do
    [ -e "$work/root/$file" ] || fail "the package has no $file"
done
for name in mpicc mpicxx mpiexec mpirun; do # these belong to the alternatives
    [ ! -e "$work/root/usr/bin/$name" ] || fail "the package owns /usr/bin/$name"
    grep -q "/usr/bin/$name " "$work/control/postinst" || fail "postinst offers no $name"
done
(cd "$work/root" && md5sum --quiet -c "$work/control/md5sums") || fail "md5sums are wrong"
dpkg-deb -c "$deb" >"$work/list"
grep -vqE '^[-dl]r.[x-]r-[x-]r-[x-] root/root|^l' "$work/list" && { fail "odd permissions or owners:"; grep -vE '^[-dl]r.[x-]r-[x-]r-[x-] root/root|^l' "$work/list" | head -3; }
grep -E '\.(c|sh|log|o|a)$' "$work/list" | grep -v examples/ && fail "the package has files that do not belong"
for script in postinst prerm; do sh -n "$work/control/$script" || fail "$script is no shell script"; done

# What postinst asks of update-alternatives and what prerm takes back are the same names.
mkdir "$work/bin"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$work/asked" >"$work/bin/update-alternatives"
chmod +x "$work/bin/update-alternatives"
PATH=$work/bin:$PATH sh "$work/control/postinst" configure && PATH=$work/bin:$PATH sh "$work/control/prerm" remove
awk '$1 == "--install" { n[$3 " " $4]++ } $1 == "--remove" { n[$2 " " $3]-- }
     END { for (a in n) if (n[a] != 0) { print a; bad = 1 } exit bad || NR != 6 }' "$work/asked" ||
    { fail "alternatives that come do not go:"; cat "$work/asked"; }
awk '$1 == "--install" { print $4 }' "$work/asked" | while read -r path; do
    [ -e "$work/root$path" ] || echo "$path"
done >"$work/out"
[ ! -s "$work/out" ] || { fail "alternatives point at nothing:"; cat "$work/out"; }

printf '#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n' >"$work/a.c"
"$work/root/usr/bin/mpicc.viaduct" "$work/a.c" -o "$work/a" || fail "mpicc.viaduct of the unpacked package"
run 30 "$work/root/usr/bin/mpiexec.viaduct" -n 2 "$work/a"
expect_status 0 "a program of the unpacked package"
expect_silence "a program of the unpacked package"

# The drop-in of docs/sockets.md names a file of the package.
preload=$(sed -n 's/^ *Environment=LD_PRELOAD=//p' "$VIADUCT_SOURCE/docs/sockets.md")
[ -n "$preload" ] && [ -e "$work/root$preload" ] || fail "docs/sockets.md names $preload, which no package has"

# The other packages: what they have is nowhere else, and with them the tree is whole.
if command -v gfortran >/dev/null; then # else the wrapper says that first
    expect 1 "" "~without Fortran" "$work/root/usr/bin/mpifort.viaduct" "$work/a.f90"
fi
for part in fortran mpich-abi openmpi-abi; do
    file=$(echo "$work"/one/viaduct-"$part"_*.deb)
    [ -e "$file" ] || { fail "there is no viaduct-$part"; continue; }
    [[ $(dpkg-deb -f "$file" Depends) =~ ^viaduct\ \(=\ $(field Version)\),\ libc6 ]] || fail "viaduct-$part: Depends"
    dpkg-deb -c "$file" | awk '$6 !~ /\/$/ { print $6 }' >"$work/of-part"
    grep -Fxf "$work/of-part" <(awk '{ print $6 }' "$work/list") && fail "viaduct-$part and viaduct have the same files"
    dpkg-deb -x "$file" "$work/root"
done
abi=$work/root/usr/lib/viaduct/lib/viaduct/abi
for library in libmpich.so.12 libmpi.so.12 libmpichfort.so.12 libmpi.so.40 libmpi_mpifh.so.40; do
    [ -e "$abi/$library" ] || fail "no package has $library"
done
if command -v gfortran >/dev/null; then # by the modules of the package: nothing else may be written
    printf 'use mpi_f08\ncall MPI_Init()\ncall MPI_Finalize()\nend\n' >"$work/a.f90"
    texts=$work/root/usr/lib/viaduct/lib/viaduct/fortran
    chmod -R a-w "$texts"
    modules=$(cd "$texts" && echo [0-9]*)
    export XDG_CACHE_HOME=/nonexistent
    expect 0 "" "" "$work/root/usr/bin/mpifort.viaduct" "$work/a.f90" -o "$work/f"
    expect 0 "" "" "$work/root/usr/bin/mpiexec.viaduct" -n 2 "$work/f"
    [ "$modules" = "$(cd "$texts" && echo [0-9]*)" ] || fail "modules were made again"
    chmod -R u+w "$texts"
fi
finish
