/* Frames between launchers: taken out of the bytes that came, and sent. */
#include "run/frame.h"

const char *frame_next(const struct run_bytes *bytes, struct run_frame_header *header, bool *broken)
{
    if (bytes->length < sizeof *header)
        return NULL;
    memcpy(header, bytes->data, sizeof *header);
    *broken = header->kind < FRAME_JOB || header->kind > FRAME_LAST || header->length > FRAME_MOST;
    return *broken || bytes->length - sizeof *header < header->length ? NULL : bytes->data + sizeof *header;
}

void frame_send(struct run_job *job, struct run_sink *sink, enum run_frame kind, const void *body, size_t length)
{
    struct run_frame_header header = {kind, (uint32_t)length};
    sink_add(sink, &header, sizeof header);
    sink_push(job, sink, body, length);
}

void frame_send_number(struct run_job *job, struct run_sink *sink, enum run_frame kind, int number)
{
    int32_t body = number;
    frame_send(job, sink, kind, &body, sizeof body);
}

int frame_number(const struct run_frame_header *header, const char *body)
{
    int32_t number = 0;
    if (header->length >= sizeof number)
        memcpy(&number, body, sizeof number);
    return number;
}
