# The Python wheel: two of one build are the same; installed by pip into an environment it is a tree that works, where
# Python finds the library as mpi4py looks for it; uninstalled it is gone.
# timeout: 120 takes: 15
source "$VIADUCT_SOURCE/tests/lib/shell"
[ -f "$VIADUCT_BUILD/lib/libmpi_abi.so.1" ] || skip "libmpi_abi is not built"
python3 -c 'import venv, ensurepip' 2>/dev/null || skip "python3-venv is not installed"
unset LD_LIBRARY_PATH PIP_TARGET PYTHONPATH
export HOME=$work/home BUILD=$VIADUCT_BUILD SOURCE_DATE_EPOCH=1700000000
mkdir "$HOME"
expect 0 "~^$work/one/viaduct-[0-9.]+-py3-none-manylinux_2_[0-9]+_[a-z0-9_]+\.whl$" "" "$VIADUCT_SOURCE/scripts/wheel" "$work/one"
expect 0 "~^$work/two/viaduct-.*" "" "$VIADUCT_SOURCE/scripts/wheel" "$work/two"
cmp "$work"/one/*.whl "$work"/two/*.whl || fail "two wheels of one build differ"

python3 -m venv "$work/env" || fail "no environment"
env=$work/env
expect 0 "" "~" "$env/bin/pip" install -q --no-index --disable-pip-version-check "$work"/one/*.whl
printf '#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n' >"$work/a.c"
expect 0 "" "" "$env/bin/mpicc" -o "$work/a" "$work/a.c"
for launcher in mpiexec mpirun mprun; do expect 0 "" "" timeout 30 "$env/bin/$launcher" -n 2 "$work/a"; done
if [ -e "$env/lib/libviaduct_mpifort.so" ] && command -v gfortran >/dev/null; then
    printf 'use mpi_f08\ncall MPI_Init()\ncall MPI_Finalize()\nend\n' >"$work/f.f90"
    expect 0 "" "" "$env/bin/mpifort" -o "$work/f" "$work/f.f90"
    expect 0 "" "" timeout 30 "$env/bin/mpiexec" -n 2 "$work/f"
fi
cat >"$work/find.py" <<'PY'
import ctypes, os, sys
library = ctypes.CDLL(os.path.join(sys.exec_prefix, "lib", "libmpi.so"), os.RTLD_LAZY | os.RTLD_LOCAL)
major, minor, rank = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(-1)
library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor))
library.MPI_Init(None, None)
library.MPI_Comm_size(ctypes.c_void_p(0x101), ctypes.byref(rank)) # MPI_COMM_WORLD
library.MPI_Finalize()
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libmpi_abi" in line}
print(major.value, minor.value, rank.value, len(loaded))
PY
expect 0 "1 0 2 1
1 0 2 1" "" timeout 30 "$env/bin/mpiexec" -n 2 "$env/bin/python" "$work/find.py"
expect 0 "~" "~" "$env/bin/pip" uninstall -q -y viaduct
[ ! -e "$env/bin/mpiexec" ] && [ ! -e "$env/lib/libmpi_abi.so.1" ] || fail "uninstalled, and still there"
finish
