# shellcheck shell=bash
# To be sourced.

# Runs a command, and keeps what it prints. In the caller's shell, so that a signal stops it at once.
keeping() { # FILE COMMAND…
    local file=$1 status=0 copy copier
    shift
    exec {copy}> >(exec tee "$file")
    copier=$!
    "$@" >&"$copy" 2>&1 {copy}>&- || status=$?
    exec {copy}>&-
    # Not for ever: what the command has left running may still hold the other end.
    timeout 10 tail --pid="$copier" -f /dev/null
    return $status
}
