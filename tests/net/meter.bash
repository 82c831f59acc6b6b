# Sourced by who runs tests/programs/meter in the laboratory: $ticks is the file with its output.
total() { awk '$1 == "total" { print $2 }' "$ticks"; }
longest() { awk '$1 == "total" { print $5 }' "$ticks"; } # seconds without a message
plus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a + b }'; }
times() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a * b }'; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; } # VALUE BAR

between() { # FROM TO, times of day: MB/s
    awk -v from="$1" -v to="$2" '$1 == "tick" {
        if (last && $2 > from && last < to) {
            d = ($2 < to ? $2 : to) - (last > from ? last : from)
            bytes += $3 * d
            time += d
        }
        last = $2
    }
    END { printf "%.2f\n", time ? bytes / time : 0 }' "$ticks"
}

reached() { # AFTER MB/S: seconds from there to the start of the first half a second that is as fast; 999: never
    awk -v after="$1" -v least="$2" '$1 == "tick" {
        n++
        at[n] = $2
        v[n] = $3
        bytes = time = 0
        for (i = n; i > 1 && at[i] > after && time < 0.45; i--) {
            bytes += v[i] * (at[i] - at[i - 1])
            time += at[i] - at[i - 1]
        }
        if (time >= 0.45 && bytes / time >= least) {
            found = at[n] - time - after
            printf "%.1f\n", (found > 0 ? found : 0)
            found = 1
            exit
        }
    }
    END { if (!found) print 999 }' "$ticks"
}
