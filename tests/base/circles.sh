# Files of a room that need each other round in a circle can only be understood together: six of them at most. Which file
# needs which is read from the symbols of the objects that were built.
# presets: release
source "$VIADUCT_SOURCE/tests/lib/shell"

cat >"$work/circles.awk" <<'AWK'
# nm -A: a line is "FILE:ADDRESS KIND SYMBOL", without the address for a symbol that the file needs
{
    file = $1
    sub(/:[^:]*$/, "", file)
    if (!match(file, /\/(src|tools)\/.*\.c\.o$/))
        next
    path = file
    file = substr(file, RSTART + 1, RLENGTH - 5)
    if ((file in first ? first[file] : first[file] = path) != path)
        next # the same source was built more than once
    count = split(file, part, "/")
    room[file] = part[1] == "tools" ? "tools" : part[2] == "vi" && count > 3 ? "vi/" part[3] : part[2]
    if ($(NF - 1) == "U")
        needs[file, $NF]
    else if ($(NF - 1) ~ /^[TDBRVWC]$/)
        home[$NF] = file
}
END {
    for (pair in needs) {
        split(pair, of, SUBSEP)
        to = of[2] in home ? home[of[2]] : ""
        if (to != "" && to != of[1] && room[to] == room[of[1]])
            reach[of[1], to]
    }
    for (through in room)
        for (from in room)
            if ((from, through) in reach)
                for (to in room)
                    if (room[to] == room[through] && (through, to) in reach)
                        reach[from, to]
    for (from in room) {
        size = 0
        list = ""
        for (to in room)
            if (((from, to) in reach) && ((to, from) in reach)) {
                size++
                list = list " " to
            }
        if (size > most && !(from in told)) {
            print "a circle of " size " files:" list
            bad = 1
            split(list, all, " ")
            for (i in all)
                told[all[i]]
        }
    }
    exit bad
}
AWK
check() { awk -v most="$1" -f "$work/circles.awk" "$work/symbols"; }

# The check can fail: three files round, which share their room with one that only needs them.
{
    for pair in a:b b:c c:a d:a; do
        printf 'x/src/msg/%s.c.o:00 T f_%s\nx/src/msg/%s.c.o:   U f_%s\n' "${pair%:*}" "${pair%:*}" "${pair%:*}" "${pair#*:}"
    done
    printf 'x/src/coll/e.c.o:00 T f_e\nx/src/coll/e.c.o:   U f_a\nx/src/msg/a.c.o:   U f_e\n'
} >"$work/symbols"
check 3 >"$work/said" || fail "three files are a circle of three: $(cat "$work/said")"
check 2 >"$work/said" && fail "a circle of three was not found"
grep -q '^a circle of 3 files:' "$work/said" || fail "it was told as: $(cat "$work/said")"

find "$VIADUCT_BUILD" -name '*.c.o' -path '*/src/*' -o -name '*.c.o' -path '*/tools/*' >"$work/objects"
xargs nm -A <"$work/objects" >"$work/symbols" 2>/dev/null
[ "$(wc -l <"$work/symbols")" -gt 1000 ] || fail "no objects of src below $VIADUCT_BUILD"
check 6 || fail "more than six files need each other"
finish
