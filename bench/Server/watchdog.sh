#!/bin/sh
# Keeps one server alive exactly as long as the process that holds the other end of our standard input.
#
#   watchdog.sh DIRECTORY COMMAND [ARGUMENT...]
#
# The server runs in DIRECTORY, an absolute path, so that all that it writes unasked goes with it (a replica of Redis
# writes what it was sent to dump.rdb, and every other one that starts there loads it). Its output goes to log. Our first line of output is the server's process id. When standard input
# ends, whichever way our starter died (kill -9 included), the server is stopped and the directory is removed.
# Started through setsid, so that a Ctrl-C at the terminal reaches our starter and not the server.
directory=$1
shift
cd -- "$directory" || exit 1

stop() {
    trap '' EXIT HUP INT TERM
    kill -TERM "$server" 2>/dev/null
    tries=0
    while kill -0 "$server" 2>/dev/null && [ "$tries" -lt 30 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    rm -rf -- "$directory"
    # All that is left of this session (a server that ignored TERM, workers without their master), ourselves included.
    kill -KILL 0
}

"$@" >>"$directory/log" 2>&1 </dev/null &
server=$!
trap stop EXIT
trap exit HUP INT TERM
echo "$server"
exec >/dev/null
read -r _
