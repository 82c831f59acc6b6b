/* The listener of a node: one port for all its ranks on every chosen card, where other nodes call. It hands
 * authenticated connections to the ranks by their seats (vi_setup.seat_fd). Opened by the launcher, else by one rank of
 * the node. */
#pragma once

#include "vi/vi.h"

/* Opened by one rank of a node where the launcher has none; watched by a thread until it is closed. SEAT: one for each
 * local rank, for its vi_setup.seat_fd; close-on-exec, the caller's. */
struct vi_listener;
VEXPORT int vi_listener_open(const struct vi_setup *setup, int *seat, struct vi_listener **listener) MUST_CHECK;
VEXPORT void vi_listener_close(struct vi_listener *listener);
