#!/usr/bin/env bash
# The manual: every page renders without a warning, at any width; the settings of the table are all in it.
#
set -u
source "$VIADUCT_SOURCE/tests/lib/shell"
command -v man >/dev/null || skip "man is not installed (apt install man-db)"
export LC_ALL=C.UTF-8
pages=$(ls "$VIADUCT_SOURCE"/docs/man/*.[1-9] "$VIADUCT_BUILD"/installed/made/*.[1-9])
[ "$(echo "$pages" | wc -l)" -ge 4 ] || fail "only these pages: $pages"
for page in $pages; do
    case $page in */docs/man/viaduct.7) continue ;; esac # its settings are put in when it is made
    for width in 60 80 120; do
        run 20 env MANWIDTH=$width man --warnings -E UTF-8 -l -Tutf8 "$page"
        expect_status 0 "$page"
        expect_silence "${page##*/} at $width columns"
    done
done
man -E UTF-8 -l -Tutf8 "$VIADUCT_BUILD/installed/made/viaduct.7" 2>/dev/null | sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' >"$work/page"
for name in $("$VIADUCT_BIN/viaduct" info --settings | sed -n 's/^\(VIADUCT_[A-Z_]*\)=.*/\1/p'); do
    grep -q "$name" "$work/page" || fail "$name is not in viaduct(7)"
done
finish
