# Judges what bench/compare measured: for each class of the line the medians of all figures, their ratios to the better
# peer, and the bars of that class; then the floor of the machine in the same rounds.
#
#   awk -v mpis=NAMES -v table=ROWS -v share=SHARE -f judge.awk FILE
#
# FILE has a value a line: round mpi figure size value unit class. ROWS are those of bench/compare. With a SHARE all
# rows together are judged: how many of the points that have a peer are not slower than the better one.

function median(list, n,   i, j, t, v) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j-1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j-1]; v[j-1] = t }
    return v[int((n + 1) / 2)] + 0
}

# What FIGURE is to OTHER, both of MPI: the median of their ratios, each of two values of one round.
function beside(class, mpi, figure, other,   r, a, b, list) {
    for (r = 0; r <= last; r++) {
        a = value[class, mpi, figure, r]; b = value[class, mpi, other, r]
        if (a && b) list = list " " a / b
    }
    return list == "" ? 0 : median(list)
}

function bar_of(bars, class,   b, n) {
    n = split(bars, b, " ")
    return n == 1 ? b[1] : b[class == "near" ? 1 : class == "slow" ? 2 : 3]
}

function reaches(ratio, better, bar) { return better == "less" ? ratio <= bar + 0 : ratio >= bar + 0 }

function verdict(ratio, better, bar) {
    if (bar == "" || bar == "-") return ""
    return sprintf("%s %4.2fx  %s", better == "less" ? "<" : ">", bar, reaches(ratio, better, bar) ? "met" : "MISSED")
}

function better_peer(class, better,   i, m, best) {
    for (i = 1; i <= names; i++) {
        m = mid[name[i]]
        if (name[i] !~ /^(viaduct|before|raw)$/ && m && (!best || (better == "less" ? m < best : m > best))) best = m
    }
    return best
}

function print_row(class, figure, better, bar, own, raw_bar,   i, key, best, ratio, any) {
    for (i = 1; i <= names; i++) any = any || (class, name[i], figure) in all
    if (!any) return
    printf "%-26s", figure
    for (i = 1; i <= names; i++) {
        key = class SUBSEP name[i] SUBSEP figure
        mid[name[i]] = key in all ? median(all[key]) : 0
        if (mid[name[i]]) printf "%12.3f", mid[name[i]]; else printf "%12s", "-"
    }
    printf "  %-5s", unit[figure]
    best = better_peer(class, better)
    ratio = own ? beside(class, "viaduct", figure, own) : best && mid["viaduct"] ? mid["viaduct"] / best : 0
    if (ratio) printf " %8.2fx  %-15s", ratio, verdict(ratio, better, bar)
    else printf " %8s   %-15s", "-", ""
    if (share && ratio) {
        points++
        if (reaches(ratio, better, 1)) reached++; else printf " slower"
    }
    if (mid["before"] && mid["viaduct"]) printf " %7.2fx of before", mid["viaduct"] / mid["before"]
    if (mid["raw"] && mid["viaduct"]) {
        ratio = mid["viaduct"] / mid["raw"]
        printf " %7.2fx of raw  %s", ratio, verdict(ratio, better, raw_bar)
    }
    printf "\n"
}

function print_class(class,   i, r, rows, row, f, key, columns) {
    columns = (class == "remote") ? "over a network" : "the line is " class
    print columns ": judged by the bars of " class
    printf "%-26s", "figure"
    for (i = 1; i <= names; i++) printf "%12s", name[i]
    printf "  %-5s %9s %8s\n", "", "to better", "bar"
    points = 0; reached = 0
    rows = split(table, row, "\n")
    for (r = 1; r <= rows; r++) {
        split("", f)
        if (split(row[r], f, "|") < 5) continue
        for (i = 1; i <= 7; i++) gsub(/^ +| +$/, "", f[i])
        print_row(class, f[1], f[4], bar_of(f[5], class), f[6], f[7])
    }
    if (share && points)
        printf "not slower than the better peer: %d of %d points, %.0f %%  > %.0f %%  %s\n", reached, points,
               100 * reached / points, 100 * share, (reached >= share * points) ? "met" : "MISSED"
    if (floors) print "the floor of this machine in the same rounds: median, least, most"
    for (i = 1; i <= floors; i++) {
        key = class SUBSEP "floor" SUBSEP floor[i]
        if (key in all)
            printf "  %-26s %10.3f %10.3f %10.3f %s\n", floor[i], median(all[key]), least[key], most[key],
                   unit[floor[i]]
    }
}

{
    figure = $3 " " $4
    key = $7 SUBSEP $2 SUBSEP figure
    if (!(key in all)) { least[key] = $5; most[key] = $5 }
    if ($2 == "floor" && !(figure in unit)) floor[++floors] = figure
    if ($2 != "floor") seen[$7] = 1
    all[key] = all[key] " " $5
    value[$7, $2, figure, $1] = $5
    unit[figure] = $6
    if ($5 + 0 < least[key] + 0) least[key] = $5
    if ($5 + 0 > most[key] + 0) most[key] = $5
    if ($1 + 0 > last) last = $1 + 0
}

END {
    names = split(mpis, name, " ")
    classes = split("near slow far remote", class, " ")
    for (c = 1; c <= classes; c++) if (class[c] in seen) print_class(class[c])
}
