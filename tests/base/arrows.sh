# Arrows only point down. Over every #include "..." of src and tools:
#   a room includes lower floors only, and of another room only its face (the launcher also what it hands over)
#   a provider of vi includes no other provider, but may include vi/call, which includes none
#   a personality includes neither a provider nor another personality (rpc, which stands on pack, that one)
#   sock, which is preloaded into programs of others, includes base alone; profile, too, and the table of calls
#   no room between vi and the tools says the name of a provider: its capabilities tell
#   nobody climbs with "../"; getenv is called in base alone
source "$VIADUCT_SOURCE/tests/lib/shell"

cat >"$work/arrows.awk" <<'AWK'
BEGIN {
    split("base:0 boot:1 type:1 vi:1 msg:2 coll:3 mpi:4 fortran:5 pack:4 rpc:5 mplite:4 profile:5 sock:1 tools:6", rooms, " ")
    for (i in rooms) {
        split(rooms[i], pair, ":")
        floor[pair[1]] = pair[2]
    }
    split("boot/boot.h type/layout.h type/reduce.h vi/vi.h msg/msg.h coll/coll.h pack/pack.h mpi/calls.h mpi/calls.def", faces, " ")
    for (i in faces)
        face[faces[i]] = 1
    split("boot/handover.h boot/kvs.h boot/line.h vi/shm/segment.h vi/call/listener.h vi/call/report.h mpi/not_yet.def sock/link.h sock/reason.def profile/page.h", faces_for_tools, " ")
    for (i in faces_for_tools)
        tool_face[faces_for_tools[i]] = 1
}
function say(what) { print FILENAME ":" FNR ": " what; bad = 1 }
FNR == 1 {
    part = split(FILENAME, path, "/")
    room = path[1] == "tools" ? "tools" : path[2]
    provider = room == "vi" && part > 3 ? path[3] : ""
}
/(^|[^_a-z])(secure_)?getenv *\(/ && room != "base" { say("getenv outside base: use vbase_environment") }
floor[room] >= 2 && room != "tools" {
    code = $0
    sub(/\/\*.*/, "", code)
    if (code ~ /"(shm|verbs|tcp)"/)
        say("a provider is known above vi by what it can, not by its name")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    target = quoted[2]
    if (target ~ /\.\.\//)
        say("\"" target "\" climbs")
    steps = split(target, to, "/")
    if (steps < 2 || !(to[1] in floor))
        next # a neighbour in the same folder, or a public header
    if (to[1] != room && floor[to[1]] >= floor[room])
        say(room " must not include " target ": it lies " (floor[to[1]] > floor[room] ? "above" : "beside"))
    else if (to[1] != room && to[1] != "base" && !(target in face) && !(room == "tools" && target in tool_face))
        say(room " may include the face of " to[1] " only, not " target)
    if (to[1] == "vi" && steps > 2 && provider != "" && to[2] != provider && to[2] != "call")
        say("provider " provider " must not include " target)
}
END { exit bad }
AWK

# check DIRECTORY: prints what points up there
check() {
    (cd "$1" && find src tools \( -name '*.c' -o -name '*.h' \) -print 2>/dev/null | sort | xargs awk -f "$work/arrows.awk")
}

# The check can fail: each of these lines alone must be found, and none of those after them.
try() { # try found|fine FILE LINE
    rm -rf "$work/tree"
    mkdir -p "$work/tree/$(dirname "$2")"
    printf '%s\n' "$3" >"$work/tree/$2"
    if check "$work/tree" >/dev/null; then verdict=fine; else verdict=found; fi
    [ $verdict = "$1" ] || fail "\"$3\" in $2 should be $1, is $verdict"
}
try found src/base/a.c '#include "boot/boot.h"'
try found src/msg/a.c '#include "coll/coll.h"'
try found src/type/a.c '#include "vi/vi.h"'
try found src/mpi/a.c '#include "vi/shm/lane.h"'
try found src/mpi/a.c '#include "pack/channel.h"'
try found src/coll/a.c '#  include "msg/peer.h"'
try found src/vi/shm/a.c '#include "vi/tcp/link.h"'
try found src/vi/shm/a.c '#include "../tcp/link.h"'
try found src/vi/call/a.c '#include "vi/tcp/tcp.h"'
try found src/msg/a.c '#include "vi/call/cards.h"'
try found src/coll/a.c 'x = getenv("A");'
try found tools/a.c 'x = secure_getenv ("A");'
try found src/sock/a.c '#include "msg/msg.h"'
try found src/sock/a.c '#include "vi/vi.h"'
try found src/pack/a.c 'if (strcmp(name, "tcp") == 0)'
try fine src/msg/a.c 'const char *name; /* "shm" */'
try fine src/vi/a.c '{"shm", &shm_ops},'
try fine src/sock/a.c '#include "base/atomic.h"'
try fine src/vi/shm/a.c '#include "vi/shm/lane.h"'
try fine src/vi/tcp/a.c '#include "vi/call/hello.h"'
try fine src/vi/shm/a.c '#include "vi/vi.h"'
try fine src/msg/a.c '#include "msg/peer.h"'
try fine src/mpi/a.c '#include "coll/coll.h"'
try fine src/base/a.c 'x = secure_getenv("A");'
try fine src/mpi/a.c '#include "mpi.h"'
try fine tools/a.c '#include "base/hash.h"'
try fine src/rpc/a.c '#include "pack/pack.h"'
try found src/rpc/a.c '#include "pack/check.h"'
[ -d "$VIADUCT_SOURCE/src/base" ] || fail "no tree at $VIADUCT_SOURCE"
check "$VIADUCT_SOURCE" || fail "arrows point up"
finish
