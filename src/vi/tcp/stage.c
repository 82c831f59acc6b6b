/* Stages: the buffers that sockets are read into. A link has one while something lies in it; the nic keeps a few at
 * hand. By the poll. */
#include "vi/tcp/tcp.h"

bool tcp_stage_use(struct tcp_nic *nic, struct tcp_link *link)
{
    if (!link->stage)
        link->stage = nic->spares > 0 ? nic->spare[--nic->spares] : malloc(TUNED(TCP_STAGE));
    return link->stage != NULL;
}

void tcp_stage_drop(struct tcp_nic *nic, struct tcp_link *link)
{
    if (link->stage && nic->spares < (int)TUNED(TCP_SPARES))
        nic->spare[nic->spares++] = link->stage;
    else
        free(link->stage);
    link->stage = NULL;
    link->start = link->end = 0;
}
