# The models of sockets over shared memory are checked exhaustively, and each broken variant of them must be found out.
# timeout: 300 takes: 90 presets: programs
source "$VIADUCT_SOURCE/tests/lib/model"
model "$VIADUCT_SOURCE/tests/sock/mark.pml" "" NO_RECHECK NO_SWEEP PLAIN_HEAD MARK_FIRST NO_MOVE_CHECK
model "$VIADUCT_SOURCE/tests/sock/room.pml" "" CLEAR_FIRST NO_LOOK BELL_FOR_ROOM TRUST_PLACE TAKE_FIRST NO_RECHECK QUIET UNTOUCHED
model "$VIADUCT_SOURCE/tests/sock/room.pml" "-DMORE" CLEAR_LAST TAKE_OVER CLEAR_ALWAYS
model "$VIADUCT_SOURCE/tests/sock/switch.pml" "" LATE_COUNT LATE_SWITCH NO_RELOAD EAT_ALL NO_END
finish
