#!/usr/bin/env bash
# The model of a large message is checked exhaustively for each way, and each broken variant of it must be found out.
# timeout: 180 takes: 20
source "$VIADUCT_SOURCE/tests/lib/model"
transfer=$VIADUCT_SOURCE/tests/msg/transfer.pml
model "$transfer" -DPULL CANCEL_AT_ONCE NO_DRAIN NO_DONE EARLY_AGAIN
model "$transfer" -DSHARE CANCEL_AT_ONCE TWO_PUTS NO_DRAIN NO_STOP EARLY_SLOT EARLY_COUNT NO_ANSWER
model "$transfer" -DPUSHSLOT CANCEL_AT_ONCE SENT_EARLY NO_DONE NO_PARTIAL
model "$transfer" -DPUSH CANCEL_AT_ONCE NO_FENCE OPEN_FENCE SENT_EARLY
finish
