# The model of a fence is checked exhaustively, and each broken variant of it must be found out.
# timeout: 120 takes: 10
source "$VIADUCT_SOURCE/tests/lib/model"
model "$VIADUCT_SOURCE/tests/vi/fence.pml" "" FENCE_FIRST NO_DESTROY KEEP_LATE NO_COUNT NO_FENCE TOUCH_EARLY
finish
