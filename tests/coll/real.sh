# Collectives among the ranks of real jobs of several sizes, more ranks than processors too, several threads too.
# timeout: 300 takes: 16 beside: 1
set -eu
launcher="$VIADUCT_BIN/viaduct"
if [ ! -x "$launcher" ]; then
    echo "skipped: there is no launcher at $launcher"
    exit 77
fi
for ranks in 2 3 5 8 17; do
    "$launcher" run -n $ranks "$VIADUCT_BUILD/tests/test-coll-ranks" || { echo "failed with $ranks ranks"; exit 1; }
done
for ranks in 2 4; do
    "$launcher" run -n $ranks "$VIADUCT_BUILD/tests/test-coll-threads" || { echo "threads failed with $ranks ranks"; exit 1; }
done
