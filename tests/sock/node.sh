# node: an echo and a web server, and their clients, in one program each.
# presets: programs
# timeout: 240 takes: 60
source "$VIADUCT_SOURCE/tests/lib/combinations"
need node
moves="0 8"
program=$VIADUCT_SOURCE/tests/sock/programs/echo.js
serve() { background $server node "$program" serve $port; }
talk() { check all $client node "$program" ask $port; }
combinations
