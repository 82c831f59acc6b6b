#!/usr/bin/env bash
# scripts/need: content when all is there; else root gets the packages installed and others get the one line to type.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
unset CI
need=$VIADUCT_SOURCE/scripts/need
mkdir "$work/bin"
for tool in bash env grep tr; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
pretend() { printf '#!/usr/bin/env bash\n%s\n' "$2" >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
ask() { run 20 env -i "PATH=$work/bin" "CI=${2:-}" bash "$need" "$1"; }

pretend id 'echo 1000'
pretend apt-get 'exit 1'
ask build
expect_status 1 "cmake is missing, not root"
expect_err '^  sudo apt-get install -y --no-install-recommends cmake$' "cmake is missing, not root"
[ "$(wc -l <"$work/err")" -eq 2 ] || fail "not two lines"

pretend id 'echo 0'
pretend apt-get "echo \"\$@\" >>'$work/asked'"
ask build
expect_status 0 "cmake is missing, root"
grep -q 'install.* cmake$' "$work/asked" || fail "root: apt-get was not asked for cmake"

for tool in cmake g++ clang pkg-config; do pretend $tool ''; done
pretend id 'echo 1000'
ask build
expect_status 0 "nothing is missing"
expect_silence "nothing is missing"
ask check
expect_status 0 "only what some tests want is missing"
expect_err 'apt-get install .*mpich' "only what some tests want is missing"
ask check true
expect_status 1 "the same in CI"
finish
