/* What is wrong with what the other side sent: its greeting, and the frames behind it. Pure functions, which
 * tests/fuzz/verbs.c gives anything. */
#include "vi/verbs/wire.h"

#define NUMBERS 0xffffffu /* queue pairs and packets have 24 bits */

const char *verbs_meeting_fault(const struct verbs_meeting *meeting)
{
    if (meeting->magic != VERBS_MAGIC || meeting->number > NUMBERS || meeting->first > NUMBERS)
        return "no queue pair";
    return meeting->mtu < 1 || meeting->mtu > VERBS_MTU_MOST ? "an MTU that there is not" : NULL;
}

const char *verbs_frame_fault(const struct verbs_frame *frame, uint32_t length)
{
    if (length < sizeof(*frame))
        return "less than a frame";
    if (frame->kind == 0 || frame->kind >= VERBS_KINDS)
        return "a frame of no kind";
    if (frame->kind == VERBS_ARRIVED && (uint32_t)frame->word > VERBS_MAX_PUT)
        return "a put that is too long";
    uint32_t most = frame->kind == VERBS_SEND ? VERBS_MAX_SEND : 0;
    return length - sizeof(*frame) > most ? "a frame that is too long" : NULL;
}
