# Words of the list "Not this word" in docs/glossary.md do not stand in the rooms below, outside of string literals; pronouns of
# persons not even there. No line of C is wider than 120 columns. A function of vi and msg has a noun and a verb in its name: never a
# bare word, which says not whose it is and which grep does not find.
# timeout: 60 takes: 2
source "$VIADUCT_SOURCE/tests/lib/shell"
cd "$VIADUCT_SOURCE" || exit 1
rooms="tools src include examples" # those that are clean so far

# rows FILE: the words of the list, one a line
rows() { sed -n '/^## Not this word/,$p' "$1" | sed -n 's/^| \([a-z][a-z, ]*[a-z]\) |.*/\1/p' | grep -vx word | sed 's/, /\n/g'; }
pronouns=$(rows docs/glossary.md | grep -xE 'he|his|him|whoever' | paste -sd '|')
words=$(rows docs/glossary.md | grep -vxE 'he|his|him|whoever' | paste -sd '|')
[ "$pronouns" = "he|his|him|whoever" ] && [ -n "$words" ] || fail "docs/glossary.md has no list of words: $pronouns, $words"

# bad FILE...: lines with such a word, or too wide
bad() {
    grep -HniwE "$pronouns" "$@"
    sed 's/"\([^"\\]\|\\.\)*"/""/g' "$@" | grep -iwE "$words"
    awk 'length > 120 && FILENAME ~ /[.][ch]$/ { print FILENAME ":" FNR ": wider than 120 columns" }' "$@"
}

# The check can fail.
for line in 'int a; /* as he says */' 'puts("his");' '/* a Stranger */' "$(printf 'int %0120d;' 1)"; do
    printf '%s\n' "$line" >"$work/line.c"
    [ -n "$(bad "$work/line.c")" ] || fail "not noticed: $line"
done
for line in 'puts("a stranger knocks");' 'int the, hero, indoors;'; do
    printf '%s\n' "$line" >"$work/line.c"
    [ -z "$(bad "$work/line.c")" ] || fail "noticed: $line"
done

for room in $rooms; do
    files=$(find "$room" -name '*.[ch]' -o -name '*.def')
    [ -n "$files" ] || fail "$room is empty"
    found=$(bad $files)
    [ -z "$found" ] || fail "$room: $found"
done

# bare FILE...: functions whose names are one word
bare() { grep -HnE '^[a-z][a-z_0-9 ]* \**[a-z0-9]+\([^;]*$|^[a-z][a-z_0-9 ]* \**[a-z0-9]+\(.*\) *\{' "$@"; }
for line in 'static bool idle(struct waiting *waiting, bool (*ready)(void *),' 'static int settle(void)' 'int *find(int a) { return a; }'; do
    printf '%s\n' "$line" >"$work/line.c"
    [ -n "$(bare "$work/line.c")" ] || fail "not noticed: $line"
done
for line in 'static bool round_pause(int a)' '    return find(a);' 'int a = f(3);'; do
    printf '%s\n' "$line" >"$work/line.c"
    [ -z "$(bare "$work/line.c")" ] || fail "noticed: $line"
done
found=$(bare $(find src/vi src/msg -name '*.[ch]'))
[ -z "$found" ] || fail "a function with a bare name: $found"
finish
