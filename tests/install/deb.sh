#!/usr/bin/env bash
# The Debian package: its fields, its files, its scripts; unpacked it is a tree that works; built twice it is the same.
# timeout: 120
set -u
. "$VIADUCT_SOURCE/tests/lib/shell"
command -v dpkg-deb >/dev/null || skip "dpkg-deb is not there: this is no Debian"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"
unset LD_LIBRARY_PATH

make_deb() { # FOLDER: the name of the package is in $deb
    mkdir -p "$1"
    SOURCE_DATE_EPOCH=1700000000 BUILD=$VIADUCT_BUILD bash "$VIADUCT_SOURCE/scripts/deb" "$1" >"$scratch/out" 2>"$scratch/err" ||
        { wrong "scripts/deb fails:"; cat "$scratch/err"; finish; }
    deb=$(tail -1 "$scratch/out")
}
make_deb "$scratch/two"
other=$deb
make_deb "$scratch/one"
cmp -s "$deb" "$other" || wrong "two packages of one build differ"

field() { dpkg-deb -f "$deb" "$1"; }
[ "$(field Package)" = viaduct ] || wrong "Package: $(field Package)"
[ "$(field Architecture)" = "$(dpkg --print-architecture)" ] || wrong "Architecture: $(field Architecture)"
[[ $(field Version) =~ ^[0-9]+\.[0-9]+\.[0-9]+-1$ ]] || wrong "Version: $(field Version)"
[[ $(field Depends) =~ ^libc6\ \(\>=\ 2\.[0-9]+\)$ ]] || wrong "Depends: $(field Depends)"

dpkg-deb -x "$deb" "$scratch/root"
dpkg-deb -e "$deb" "$scratch/control"
machine=$(gcc -dumpmachine)
for file in usr/bin/viaduct usr/bin/mpiexec.viaduct usr/bin/mpicc.viaduct usr/bin/mpicxx.viaduct \
    usr/lib/viaduct/lib/libmpi_abi.so.1 usr/lib/viaduct/lib/libviaduct.so.0 usr/lib/viaduct/include/mpi.h \
    "usr/lib/$machine/libviaduct.so.0" "usr/lib/$machine/pkgconfig/viaduct.pc" usr/share/doc/viaduct/copyright \
    usr/share/doc/viaduct/changelog.Debian.gz usr/share/man/man1/mpiexec.viaduct.1.gz usr/share/man/man7/viaduct.7.gz; do
    [ -e "$scratch/root/$file" ] || wrong "the package has no $file"
done
for name in mpicc mpicxx mpiexec mpirun; do # these belong to the alternatives
    [ ! -e "$scratch/root/usr/bin/$name" ] || wrong "the package owns /usr/bin/$name"
    grep -q "/usr/bin/$name " "$scratch/control/postinst" || wrong "postinst offers no $name"
done
(cd "$scratch/root" && md5sum --quiet -c "$scratch/control/md5sums") || wrong "md5sums are wrong"
dpkg-deb -c "$deb" >"$scratch/list"
grep -vqE '^[-dl]r.[x-]r-[x-]r-[x-] root/root|^l' "$scratch/list" && { wrong "odd permissions or owners:"; grep -vE '^[-dl]r.[x-]r-[x-]r-[x-] root/root|^l' "$scratch/list" | head -3; }
grep -E '\.(c|sh|log|o|a)$' "$scratch/list" | grep -v examples/ && wrong "the package has files that do not belong"
for script in postinst prerm; do sh -n "$scratch/control/$script" || wrong "$script is no shell script"; done

# What postinst asks of update-alternatives and what prerm takes back are the same names.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$scratch/asked" >"$scratch/bin/update-alternatives"
chmod +x "$scratch/bin/update-alternatives"
PATH=$scratch/bin:$PATH sh "$scratch/control/postinst" configure && PATH=$scratch/bin:$PATH sh "$scratch/control/prerm" remove
awk '$1 == "--install" { n[$3 " " $4]++ } $1 == "--remove" { n[$2 " " $3]-- }
     END { for (a in n) if (n[a] != 0) { print a; bad = 1 } exit bad || NR != 6 }' "$scratch/asked" ||
    { wrong "alternatives that come do not go:"; cat "$scratch/asked"; }
awk '$1 == "--install" { print $4 }' "$scratch/asked" | while read -r path; do
    [ -e "$scratch/root$path" ] || echo "$path"
done >"$scratch/out"
[ ! -s "$scratch/out" ] || { wrong "alternatives point at nothing:"; cat "$scratch/out"; }

printf '#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n' >"$scratch/a.c"
"$scratch/root/usr/bin/mpicc.viaduct" "$scratch/a.c" -o "$scratch/a" || wrong "mpicc.viaduct of the unpacked package"
run 30 "$scratch/root/usr/bin/mpiexec.viaduct" -n 2 "$scratch/a"
expect_status 0 "a program of the unpacked package"
expect_silence "a program of the unpacked package"
finish
