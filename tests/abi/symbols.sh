#!/usr/bin/env bash
# What the libraries export: libmpi_abi nothing but names of the standard, each with its profiling twin and both the same
# function; libviaduct nothing but its own; and no library calls an MPI_ or PMPI_ name, which a profiler would see.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
mpi=$VIADUCT_BUILD/lib/libmpi_abi.so.1 engine=$VIADUCT_BUILD/lib/libviaduct.so.0
[ -f "$mpi" ] || skip "libmpi_abi is not built"

exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort; }
imported() { nm -D --undefined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | sort; }

"$VIADUCT_SOURCE/tests/abi/names" | sort >"$work/table"
exported "$mpi" | grep '^MPI_' >"$work/names"
exported "$mpi" | grep '^PMPI_' | sed 's/^P//' >"$work/twins"
for name in $(exported "$mpi" | grep -vE '^P?MPI_'); do fail "libmpi_abi exports $name"; done
for name in $(comm -23 "$work/names" "$work/table"); do fail "$name is no function of the standard ABI"; done
for name in $(comm -13 "$work/names" "$work/table"); do fail "$name is not there"; done
for name in $(comm -23 "$work/names" "$work/twins"); do fail "$name has no PMPI_ name"; done
for name in $(comm -13 "$work/names" "$work/twins"); do fail "P$name has no MPI_ name"; done

# The MPI_ name is weak, so that a profiler's strong one wins, and lies where its twin lies.
nm -D --defined-only "$mpi" | awk '
    { name = $3; sub(/@.*/, "", name) }
    name ~ /^MPI_/ { address[name] = $1; if ($2 != "W") print name " is not weak" }
    name ~ /^PMPI_/ { twin[substr(name, 2)] = $1 }
    END { for (n in twin) if (n in address && address[n] != twin[n]) print n " is not the function its PMPI_ name is" }
' >"$work/weak"
while read -r line; do fail "$line"; done <"$work/weak"

for name in $(exported "$engine" | grep -vE '^(vd|MP|vbase|vboot|vtype|vi|vmsg|vcoll)_|^VIADUCT_'); do
    fail "libviaduct exports $name"
done
for library in "$mpi" "$engine"; do
    for name in $(imported "$library" | grep -E '^P?MPI_'); do fail "$(basename "$library") calls $name"; done
done
[ -s "$work/names" ] || fail "libmpi_abi exports no function at all"
readelf -d "$mpi" | grep -q 'SONAME.*\[libmpi_abi.so.1\]' || fail "the soname is not libmpi_abi.so.1"
readelf -V "$mpi" | grep -q 'Version definition section' && fail "symbols of the standard carry a version"

# How far the standard is covered, as the library's own section tells and `viaduct info --mpi` must.
section=$(readelf -SW "$mpi" | sed -n 's/^ *\[ *\([0-9]*\)\] not_yet .*/\1/p')
readelf --dyn-syms -W "$mpi" | awk -v at="${section:-none}" '$7 == at && $8 ~ /^MPI_/ { print $8 }' | sort >"$work/later"
"$VIADUCT_BIN/viaduct" info --mpi | sed -n '/^Not yet/,$p' | grep -oE 'MPI_[A-Za-z]\w+' | grep -v ERR_ |
    sort >"$work/told"
cmp -s "$work/later" "$work/told" || fail "viaduct info --mpi does not tell what is not implemented yet"
echo "$(wc -l <"$work/names") functions, $(wc -l <"$work/later") of them not implemented yet"
finish
