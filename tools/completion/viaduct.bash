# Completion in bash for viaduct, mpiexec, mpirun and mprun. The words are asked of the program that is completed for, so
# they are those of its build; one that is no Viaduct (mpiexec of another library) knows none, and files are offered.

_viaduct_words() { # PROGRAM VERB
    case ${1##*/} in
    mpiexec* | mpirun* | mprun*) _viaduct_ask "${1%"${1##*/}"}viaduct" "$2" ;;
    *) _viaduct_ask "$1" "$2" ;;
    esac
}
_viaduct_ask() {
    command -v -- "$1" >/dev/null 2>&1 && "$1" words ${2:+"$2"} 2>/dev/null
}

_viaduct_offer() { # WORDS: those that begin as the word does that is being written
    COMPREPLY+=($(compgen -W "$1" -- "$current"))
}

_viaduct_pids() {
    _viaduct_offer "$("$program" jobs 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1 }')"
}

# The words behind `run`, from COMP_WORDS[$1] on: flags of a part with what follows them, its program, ":" and the next.
_viaduct_run() {
    local at=$1 flags follow=0 flag= in_program= word
    flags=$(_viaduct_words "$program" run)
    for (( ; at < COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if [ "$word" = : ]; then in_program= follow=0
        elif [ -n "$in_program" ]; then continue
        elif [ "$word" = = ]; then continue # bash makes three words of --flag=value
        elif [ "$follow" -gt 0 ]; then follow=$((follow - 1))
        elif [[ $word == -* ]]; then
            follow=$(awk -v word="$word" '$1 == word || $1 == "-" word { print $2; exit }' <<<"$flags") # one dash will do
            follow=${follow:-0} flag=$word
            [[ $word == --* || $word == -? ]] || flag=-$word
        else in_program=yes
        fi
    done
    [ "$current" != = ] || current=
    if [ -n "$in_program" ]; then COMPREPLY=($(compgen -f -- "$current"))
    elif [ "$follow" -gt 0 ]; then
        case $flag in
        --bind-to | --binding) _viaduct_offer "none hwthread core l2 l3 numa socket" ;;
        --map-by) _viaduct_offer "core l2 l3 numa socket node slot ppr:" ;;
        --rank-by) _viaduct_offer "slot core numa socket node" ;;
        -x | --env | --genv) _viaduct_offer "$(_viaduct_words "$program" settings)" ;;
        --stdin) _viaduct_offer "0 none" ;;
        *) COMPREPLY=($(compgen -f -- "$current")) ;;
        esac
    elif [[ $current == --* ]]; then _viaduct_offer "$(awk '{ print $1 }' <<<"$flags")"
    elif [[ $current == -* ]]; then _viaduct_offer "$(awk '{ print $1; sub(/^--/, "-"); print $1 }' <<<"$flags")"
    else COMPREPLY=($(compgen -c -- "$current") $(compgen -f -- "$current"))
    fi
}

_viaduct() {
    local program=$1 current=${COMP_WORDS[COMP_CWORD]} verb=
    COMPREPLY=()
    case ${program##*/} in
    mpiexec* | mpirun* | mprun*) _viaduct_run 1 && return ;;
    esac
    [ "$COMP_CWORD" -gt 1 ] || { _viaduct_offer "$(_viaduct_words "$program")" && return; }
    verb=${COMP_WORDS[1]}
    case $verb in
    run) _viaduct_run 2 ;;
    info | sock) _viaduct_offer "$(_viaduct_words "$program" "$verb")" ;;
    jobs | stuck | top)
        if [[ $current == -* ]]; then _viaduct_offer "$(_viaduct_words "$program" "$verb")"; else _viaduct_pids; fi ;;
    doctor) COMPREPLY=($(compgen -A hostname -- "$current")) ;;
    esac
    [ -n "${COMPREPLY[*]:-}" ] || [ "$verb" != sock ] || COMPREPLY=($(compgen -c -f -- "$current"))
}

complete -o filenames -F _viaduct viaduct mpiexec mpirun mprun mpiexec.viaduct mpirun.viaduct
