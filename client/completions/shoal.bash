# SPDX-License-Identifier: Apache-2.0
# bash completion for shoal. Commands and options are asked of the program itself, ids of the service.
_shoal() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(shoal --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vx shoal)" -- "$current")
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(shoal "$command" --help 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u)" -- "$current")
    elif [[ ${COMP_WORDS[COMP_CWORD-1]} == --output || ${COMP_WORDS[COMP_CWORD-1]} == --include ]]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
    else
        case $command in
        submit | validate | energy | bench)
            mapfile -t COMPREPLY < <(compgen -f -X '!*.y?(a)ml' -- "$current"; compgen -d -- "$current")
            ;;
        status | watch | results | cancel | pause | resume | retry)
            mapfile -t COMPREPLY < <(compgen -W "$(shoal list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$current")
            ;;
        esac
    fi
}
complete -o filenames -F _shoal shoal
