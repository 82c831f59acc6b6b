# The model of the sleep protocol is checked exhaustively, and each broken variant of it must be found out.
# timeout: 120 takes: 8
source "$VIADUCT_SOURCE/tests/lib/model"
for way in BELL EAR; do # the futex; a socket, for a rank that sleeps on other descriptors, too
    model "$VIADUCT_SOURCE/tests/vi/sleep.pml" -D$way NO_SETTLE NO_FENCE NO_SWEEP OLD_BELL
done
finish
