/* coll/hall: the ways of a group on one node. All members call them together; hall.c opens what they need. */
#pragma once

#include "coll/choose.h"
#include "coll/make.h"
#include "coll/meeting.h"

/* desk.c: where there is an annex. */
int vcoll_desk_run(const struct coll_call *call, struct meeting *meeting) MUST_CHECK;

/* direct.c: where the members can read each other's memory. */
#define DIRECT_PIECE (32u << 10) /* of an operand, while it is combined in the cache */
int vcoll_direct_run(const struct coll_call *call, struct meeting *meeting, struct msg_share *share) MUST_CHECK;
