# The table of tunables with other values, for a build of the tests: whatever a program reads from a row must bear it.
# Rows change by turns: twice the value, half the value.
/^TUNABLE/ {
    split($0, part, "\"")
    head = part[1]
    up = ++row % 2 || /TCP_STAGE/ # holds the longest frame
    out = ""
    while (match(head, /, *[0-9]+/)) {
        number = substr(head, RSTART, RLENGTH)
        gsub(/[, ]/, "", number)
        out = out substr(head, 1, RSTART - 1) ", " sprintf("%.0f", up ? number * 2 : int((number + 1) / 2))
        head = substr(head, RSTART + RLENGTH)
    }
    sub(/^[^"]*/, "")
    $0 = out head $0
}
{ print }
