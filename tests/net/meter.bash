# Sourced by what runs tests/programs/meter in the laboratory: $ticks is the file with its output.
start() { # ARGUMENTS OF THE METER; end, or SIGUSR1, ends it
    : >$ticks
    HYDRA_LAUNCHER_EXEC=lab-rsh VIADUCT_LOG=info $mpiexec -host h0,h1 "$programs/meter" "$@" >$ticks 2>$work/log & job=$!
    eventually 20 grep -q tick $ticks || fail "not started: $(cat $work/log)"
}
end() { # WHAT
    kill -USR1 $job
    wait $job || fail "$1: the job ended badly: $(tail -n 3 $work/log)"
    grep -q total $ticks || fail "$1: the receiver has not got everything"
}
heard() { grep -c tick $ticks; }
more_than() { (($(heard) > $1)); }
goes_on() { eventually 15 more_than $(($(heard) + 3)) || fail "$1: nothing comes any more: $(tail -n 3 $work/log)"; } # WHAT

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
