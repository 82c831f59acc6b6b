# Completion in bash and in zsh offers the verbs, pages and flags of this build, and values where a flag wants one.
# timeout: 60 takes: 3
source "$VIADUCT_SOURCE/tests/lib/shell"
ln -s "$VIADUCT_BIN"/{viaduct,mpiexec} $work # so that both names are commands
export PATH=$work:$PATH
touch $work/hosts.txt
cd $work

# bash: complete WORD...: what is offered for the last word, a line each
cat >complete.bash <<'BASH'
source "$VIADUCT_SOURCE/tools/completion/viaduct.bash"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_viaduct "$1"
printf '%s\n' "${COMPREPLY[@]}"
BASH
# zsh: the same; what completes files and commands is not under test
cat >complete.zsh <<'ZSH'
compadd() { print -rl -- ${(M)@:#$words[CURRENT]*}; }
_files() { print -rl -- ${words[CURRENT]}*(N); }
_command_names() { [[ sh == $words[CURRENT]* ]] && print sh; }
_hosts() { print localhost; }
words=("$@") CURRENT=$#
source $VIADUCT_SOURCE/tools/completion/_viaduct
ZSH

offers() { # EXPECTED WORD...: among what is offered
    complete "${@:2}" >offered 2>said
    grep -qxF -- "$1" offered || fail "$shell: '${*:2}' offers no $1: $(head -c 300 offered)"
    [ ! -s said ] || fail "$shell: '${*:2}' says $(head -c 300 said)"
}
offers_not() {
    complete "${@:2}" >offered 2>/dev/null
    ! grep -qxF -- "$1" offered || fail "$shell: '${*:2}' offers $1"
}
try() { # SHELL
    shell=$1
    eval "complete() { $shell complete.$shell \"\$@\"; }"
    offers stuck viaduct st
    offers run viaduct ""
    offers_not helper viaduct ""
    offers --tunables viaduct info --t
    offers --all viaduct info ""
    offers --json viaduct top -
    offers --only viaduct sock --
    offers --report mpiexec --rep
    offers -np mpiexec -n 4 sh : -np
    offers --hostfile viaduct run --host
    offers hosts.txt mpiexec --hostfile ho
    offers numa mpiexec --bind-to n
    offers numa mpiexec -n 4 -bind-to n
    offers VIADUCT_LOG mpiexec -x VIADUCT_L
    offers_not --report mpiexec -n 4 sh --rep
    offers hosts.txt mpiexec -n 4 sh ho
    offers sh mpiexec -n 4 s
    offers_not --xterm mpiexec --xt # what is refused is not offered
}
try bash
offers hosts.txt mpiexec --hostfile = ho # as bash parts the words
command -v zsh >/dev/null || { [ $failed -eq 0 ] && skip "zsh is not installed"; finish; }
try zsh

# another library's mpiexec: no flags, and nothing is said
printf '#!/bin/sh\nexit 1\n' >other
chmod +x other && rm mpiexec viaduct && ln -s other mpiexec && ln -s other viaduct
for shell in bash zsh; do
    eval "complete() { $shell complete.$shell \"\$@\"; }"
    offers hosts.txt mpiexec -n 4 ./a.out ho
    offers_not --report mpiexec --rep
done
finish
