# cache.sh - what the live tests get from package registries and keep outside the repository; for the other scripts here, by `.`.
#
#     $cache                                  the folder: $TRAINYARD_CACHE, by default trainyard in the user's cache folder
#     cache_open || exit $?                   it is there and can be written
#     cache_venv moto LOG "moto[server]==5.2.5" || exit $?    a virtual environment with packages of PyPI: sets venv
#
# Both say on stderr why not, and give 77. A virtual environment is made once, as a whole or not at all: one that was interrupted,
# is of other packages, or whose Python has gone is made anew. Nothing waits for a network longer than cache_patience seconds.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cache_patience=${TRAINYARD_PATIENCE:-400}
cache=${TRAINYARD_CACHE:-}
cache_base=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
[ -n "$cache" ] || cache=${cache_base:+$cache_base/trainyard}

# A HOME that is not there is not made (programs that are started, as go, would do so).
cache_there() { [ -n "$cache" ] && { [ -n "$TRAINYARD_CACHE$XDG_CACHE_HOME" ] || [ -d "$HOME" ]; }; }

cache_open() {
    local why="$cache cannot be written"
    cache_there || why="HOME is ${HOME:-not set}${HOME:+, which is not there}"
    cache_there && mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] && return
    echo "live: no folder to keep programs in: $why; TRAINYARD_CACHE names another" >&2
    return 77
}

# The line of a log that says what went wrong.
cache_blame() { grep -m1 -E '^ERROR|^error' "$1" || tail -n 1 "$1"; }

cache_venv() { # NAME LOG PACKAGES...
    local name=$1 log=$2 lock why
    shift 2
    cache_open && mkdir -p "$cache/venv" || return 77
    venv=$cache/venv/$name
    exec {lock}>"$venv.lock"
    flock "$lock"
    if [ "$(cat "$venv/made-of" 2>/dev/null)" != "$*" ] || ! "$venv/bin/python3" -V >/dev/null 2>&1; then
        rm -rf "$venv"
        { python3 -m venv "$venv" && timeout -k 5 "$cache_patience" "$venv/bin/pip" install -q --disable-pip-version-check "$@"; } >"$log" 2>&1 {lock}>&- &&
            echo "$*" >"$venv/made-of"
        case $? in
            0) ;;
            124 | 137) why="not within $cache_patience s" ;;
            *) why=$(cache_blame "$log") ;;
        esac
    fi
    exec {lock}>&-
    [ -e "$venv/made-of" ] && return
    rm -rf "$venv"
    echo "live: $* cannot be installed from PyPI: $why" >&2
    return 77
}
