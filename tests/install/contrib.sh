# The files of contrib for other packagers, which cannot be run here: the options that they give to CMake are options of
# this tree, the files that they name are in an installed tree, for Spack before and from 1.0 on.
# timeout: 60 takes: 3
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v python3 >/dev/null || skip "python3 is not installed"
[ -d "$VIADUCT_BUILD/lib/viaduct/fortran" ] || skip "this build is without Fortran"
contrib=$VIADUCT_SOURCE/contrib tree=$work/tree
unset DESTDIR PREFIX
cmake --install "$VIADUCT_BUILD" --prefix "$tree" >"$work/log" || fail "no tree: $(tail -1 "$work/log")"
options() { # FILE WHAT: each word of it that is -DNAME=... is known to CMake or to this tree
    local name
    for name in $(grep -oE -- '-D[A-Z_]+' "$1"); do
        case ${name#-D} in
        CMAKE_BUILD_TYPE | CMAKE_INSTALL_PREFIX | CMAKE_INSTALL_LIBDIR) ;;
        *) grep -qE "^option\(${name#-D} " "$VIADUCT_SOURCE/CMakeLists.txt" || fail "$2 gives CMake $name, which is no option" ;;
        esac
    done
    grep -q -- -DVIADUCT_TESTS= "$1" || fail "$2 builds the tests: $(cat "$1")"
}

# Spack, of which there is what the recipe uses
mkdir -p "$work"/{old,new}/spack "$work/new/spack_repo/builtin/build_systems"
cat >"$work/package" <<'END'
class CMakePackage:
    def define(self, name, value):
        return f"-D{name}={value}"
    def define_from_variant(self, name, variant):
        return f"-D{name}={variants[variant]}"
END
cat >"$work/directives" <<'END'
import os
variants = {}
join_path = os.path.join
def variant(name, default, description):
    variants[name] = default
def license(name):
    print("license", name)
def depends_on(what, type):
    print("needs", what)
def version(name): pass
def provides(what): pass
END
touch "$work"/{old,new}/spack/__init__.py "$work"/new/spack_repo/{,builtin/{,build_systems/}}__init__.py
cat "$work/directives" "$work/package" >"$work/old/spack/package.py"
cp "$work/directives" "$work/new/spack/package.py"
{ echo 'from spack.package import variants' && cat "$work/package"; } >"$work/new/spack_repo/builtin/build_systems/cmake.py"
cat >"$work/recipe.py" <<'END'
import os, runpy, sys
from types import SimpleNamespace as Of
viaduct = runpy.run_path(sys.argv[1])["Viaduct"]()
viaduct.prefix, viaduct.spec = Of(bin=sys.argv[2] + "/bin"), Of()
print("options", *viaduct.cmake_args())
set_to = {}
viaduct.setup_dependent_build_environment(Of(set=set_to.__setitem__), Of(package=Of(module=Of(spack_cc="/wrapped/cc"))))
viaduct.setup_dependent_package(None, None)
print(set_to.pop("MPI_CC"))
for name, path in [*set_to.items(), *vars(viaduct.spec).items()]:
    if not os.access(path, os.X_OK):
        print(name, "is", path, "which is not there")
END
for spack in old new; do
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$work/$spack run 20 python3 "$work/recipe.py" "$contrib/spack/package.py" "$tree"
    expect_status 0 "the recipe for Spack"
    expect_out '^/wrapped/cc$' "the compiler of Spack"
    ! grep 'not there' "$work/out" || fail "the recipe for Spack names what is not installed"
    options "$work/out" "the recipe for Spack"
done
least=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\).*/\1/p' "$VIADUCT_SOURCE/CMakeLists.txt")
expect_out "^needs cmake@$least:\$" "the recipe for Spack"

# conda: the script with a cmake that only shows its arguments, and the fields of meta.yaml
mkdir "$work/bin"
printf '#!/bin/sh\necho "$@"\n' >"$work/bin/cmake" && chmod +x "$work/bin/cmake"
PREFIX=$tree CPU_COUNT=3 PATH=$work/bin:$PATH run 20 sh "$contrib/conda/build.sh"
expect_status 0 "conda's build.sh"
expect_out '^--build build-conda -j3$' "conda's build.sh"
expect_out '^--install build-conda$' "conda's build.sh"
options "$work/out" "conda's build.sh"
cat >"$work/meta.py" <<'END'
import os, re, sys
text = open(sys.argv[1]).read()
file, pattern = re.search(r'load_file="(.*?)", regex_pattern="(.*?)"', text).groups()
print(re.search(pattern.replace("\\\\", "\\"), open(os.path.join(os.path.dirname(sys.argv[1]), file)).read()).group(1), flush=True)
source = os.path.join(os.path.dirname(sys.argv[1]), re.search(r"^  path: (.*)", text, re.M).group(1))
for name in re.search(r"license_file: (.*)", text).groups():
    if not os.path.exists(os.path.join(source, name)):
        print("no", name)
for command in re.search(r"commands:\n((?:    - .*\n)*)", text).group(1).replace("    - ", "").split("\n")[:-1]:
    if os.system(sys.argv[2] + "/bin/" + command) != 0:
        print("fails:", command)
END
version=$(sed -nE 's/^project[(]viaduct VERSION ([0-9.]+).*/\1/p' "$VIADUCT_SOURCE/CMakeLists.txt")
expect 0 "$version"$'\n'"viaduct $version" "" python3 "$work/meta.py" "$contrib/conda/meta.yaml" "$tree"

# the module file: the folders that it names are there
if command -v tclsh >/dev/null; then
    { echo 'foreach name {module-whatis conflict prepend-path setenv} { proc $name args { puts $args } }'
    sed "s,^set home .*,set home $tree," "$contrib/modulefiles/viaduct"; } >"$work/module.tcl"
    run 20 tclsh "$work/module.tcl"
    for variable in PATH MANPATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH MPI_HOME; do
        folder=$(sed -n "s/^$variable //p" "$work/out")
        [ -d "$folder" ] || fail "the module file gives $variable $folder, which is not there"
    done
fi
finish
