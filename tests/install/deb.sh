#!/usr/bin/env bash
# The Debian package: its fields, its files, its scripts; unpacked it is a tree that works; built twice it is the same.
# timeout: 120
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
other=$deb
make_deb "$work/one"
cmp -s "$deb" "$other" || fail "two packages of one build differ"

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
finish
