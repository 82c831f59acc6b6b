# Libraries of MPI that a program loads while it runs, as Python and plug-ins do: the loader keeps little thread-local memory for such
# libraries, and what others have taken of it is gone.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cat >"$work/loads.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int spoken, unloaded;
static void *speaks(void *text_of) /* it has a text, and ends when the library is gone */
{
    ((const char *(*)(int))text_of)(-1);
    for (spoken = 1; !unloaded;)
        usleep(1000);
    return NULL;
}
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    int (*init)(int *, char ***) = library ? (int (*)(int *, char ***))dlsym(library, "MPI_Init") : 0;
    int (*finalize)(void) = library ? (int (*)(void))dlsym(library, "MPI_Finalize") : 0;
    pthread_t thread;
    if (!init || !finalize || init(&argc, &argv) ||
        pthread_create(&thread, NULL, speaks, dlsym(library, "vd_error_text")))
        return printf("%s\n", library ? "MPI does not work" : dlerror()), 1;
    while (!spoken)
        usleep(1000);
    if (finalize() || dlclose(library))
        return puts("MPI does not end"), 1;
    unloaded = 1;
    pthread_join(thread, NULL);
    return puts("works"), 0;
}
END
cc -w "$work/loads.c" -o "$work/loads" || fail "no compiler"
for library in lib/libmpi_abi.so.1 lib/viaduct/abi/libmpich.so.12; do
    [ -f "$VIADUCT_BUILD/$library" ] || continue
    expect 0 $'works\nworks' "" $mpiexec -n 2 "$work/loads" "$VIADUCT_BUILD/$library"
    expect 0 "works" "" "$work/loads" "$VIADUCT_BUILD/$library"
done
for library in libmpi_abi.so.1 viaduct/abi/libmpich.so.12 libviaduct.so.0; do
    [ -f "$VIADUCT_BUILD/lib/$library" ] || continue
    bytes=$(readelf -lW "$VIADUCT_BUILD/lib/$library" | awk '$1 == "TLS" { print $6 }')
    [ $((bytes)) -le 64 ] || fail "$library needs $((bytes)) bytes of static thread-local memory"
done
finish
