/* Frames between launchers of several hosts: their heads, and the one that carries a job to a helper. */
#include "fuzz.h"
#include "check.h"
#include "run/job.h"

int FUZZ(const uint8_t *data, size_t size)
{
    struct run_bytes bytes = {0};
    struct run_frame_header header;
    bool broken = false;
    bytes_add(&bytes, data, size);
    for (const char *body; (body = frame_next(&bytes, &header, &broken));) {
        (void)frame_number(&header, body);
        bytes_drop(&bytes, sizeof header + header.length);
    }
    free(bytes.data);
    if (size < sizeof(struct run_order))
        return 0;
    struct run_order *order = malloc(size); /* aligned, as hear_job has it */
    if (!order)
        return 0;
    memcpy(order, data, size);
    char **text = order_texts(order, size);
    for (int i = 0; text && i < 3 + order->variables + order->words + order->hosts; i++)
        if (strlen(text[i]) > size)
            abort();
    free(text);
    free(order);
    return 0;
}
