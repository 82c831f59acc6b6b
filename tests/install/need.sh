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

# what hides all that only some tests want, and nothing else
run 60 bash "$VIADUCT_SOURCE/tests/lib/bare" bash -c 'command -v gdb strace python3 ip man zsh; echo; command -v sh sed mktemp'
expect_status 0 "tests/lib/bare"
[ "$(sed '/^$/,$d' "$work/out" | wc -l) $(sed '0,/^$/d' "$work/out" | wc -l)" = "0 3" ] || fail "tests/lib/bare leaves $(cat "$work/out")"
finish
