# Libraries of MPI that a program loads while it runs, as Python and plug-ins do: the loader keeps little thread-local memory for such
# libraries, and what others have taken of it is gone.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cat >"$work/loads.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*init)(int *, char ***) = library ? (int (*)(int *, char ***))dlsym(library, "MPI_Init") : 0;
    int (*finalize)(void) = library ? (int (*)(void))dlsym(library, "MPI_Finalize") : 0;
    if (!init || !finalize || init(&argc, &argv) || finalize())
        return printf("%s\n", library ? "MPI does not work" : dlerror()), 1;
    return puts("works"), 0;
}
END
cc -w "$work/loads.c" -o "$work/loads" || fail "no compiler"
for library in lib/libmpi_abi.so.1 lib/viaduct/mpich/libmpich.so.12; do
    [ -f "$VIADUCT_BUILD/$library" ] || continue
    expect 0 $'works\nworks' "" $mpiexec -n 2 "$work/loads" "$VIADUCT_BUILD/$library"
    expect 0 "works" "" "$work/loads" "$VIADUCT_BUILD/$library"
done
for library in libmpi_abi.so.1 viaduct/mpich/libmpich.so.12 libviaduct.so.0; do
    [ -f "$VIADUCT_BUILD/lib/$library" ] || continue
    bytes=$(readelf -lW "$VIADUCT_BUILD/lib/$library" | awk '$1 == "TLS" { print $6 }')
    [ $((bytes)) -le 64 ] || fail "$library needs $((bytes)) bytes of static thread-local memory"
done
finish
