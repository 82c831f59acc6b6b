# The table of tunables with other values, for a build of the tests: whatever a program reads from a row must bear it.
# Each row has twice its value or half of it. N, 1 to 14, chooses: 1 doubles every other row, 2 the others; 3 and 4 two
# rows in four, and so on to 13 and 14. So any two rows are doubled and halved together and apart.
BEGIN { together = 2 ^ int((n - 1) / 2) }
/^TUNABLE/ {
    split($0, part, "\"")
    head = part[1]
    if (!/LINE_SLOW/) # above LINE_NEAR, the row before it
        up = int(row / together) % 2 == (n - 1) % 2 || /TCP_STAGE/ # holds the longest frame
    if (/, percent,/) # of a whole: no more than that
        up = 0
    row++
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
