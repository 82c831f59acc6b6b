/* Memory of ours that the other side may reach, and its keys.
 *
 * A buffer in one piece is registered on every adapter by which the peer is reached. Most nics have one adapter for all
 * their vis: one key, in the head of a frame. Where each of several adapters behind a nic registers for itself
 * (vi_caps.adapter) the frame lists a key for each pair of cards, and a rail of a pair that is not listed carries DATA
 * only. */
#include "msg/transfer.h"

#define EVERY_PAIR UINT64_MAX

static void region_make(struct msg_transfer *transfer, struct vi_nic *nic, uint64_t bytes)
{
    for (int i = 0; i < transfer->regions; i++)
        if (transfer->region[i].nic == nic)
            return;
    if (transfer->regions < MSG_KEYS &&
        vi_reg(nic, transfer->buffer.base, bytes, &transfer->region[transfer->regions]) == OK)
        transfer->regions++;
}

/* TO_BE_READ: only where the other side can get. True: somewhere it is registered. */
bool vmsg_keys_register(struct msg_transfer *transfer, uint64_t bytes, bool to_be_read)
{
    const struct msg_peer *peer = transfer->peer;
    if (transfer->regions || !type_buffer_contiguous(&transfer->buffer))
        return transfer->regions;
    for (int i = 0; i < (peer->remote ? MSG_REPLAY_RAILS : 1); i++) {
        const struct vi *vi = peer->remote ? peer->far->vi[i] : peer->vi;
        if (vi && (vi_caps(vi)->get || !to_be_read))
            region_make(transfer, vi->nic, bytes);
    }
    return transfer->regions;
}

void vmsg_keys_drop(struct msg_transfer *transfer)
{
    while (transfer->regions)
        vi_dereg(&transfer->region[--transfer->regions]);
}

const struct vi_region *vmsg_region_for(const struct msg_transfer *transfer, const struct vi *vi)
{
    for (int i = 0; i < transfer->regions; i++)
        if (transfer->region[i].nic == vi->nic)
            return &transfer->region[i];
    return NULL;
}

/* ---- on the wire ------------------------------------------------------------------------------------------------- */

/* Returns MSG_FLAG_KEY if there is one for all rails, which goes into the head; LISTED others. */
unsigned vmsg_keys_write(const struct msg_transfer *transfer, struct vi_key *head, struct msg_frame_key *list,
                         int *listed)
{
    const struct msg_peer *peer = transfer->peer;
    unsigned flags = 0;
    *head = (struct vi_key){{0}};
    *listed = 0;
    for (int i = 0; i < transfer->regions; i++)
        if (!transfer->region[i].nic->caps.adapter) {
            *head = transfer->region[i].key;
            flags = MSG_FLAG_KEY;
        }
    for (int i = 0; peer->remote && i < MSG_REPLAY_RAILS && *listed < MSG_KEYS - 1; i++) {
        const struct vi *vi = peer->far->vi[i];
        const struct vi_region *region = vi && vi->name && vi_caps(vi)->adapter ? vmsg_region_for(transfer, vi) : NULL;
        if (region)
            list[(*listed)++] = (struct msg_frame_key){vi->name >> 32, region->key};
    }
    return flags;
}

/* HEAD NULL: it has none. False: nobody sends that. */
bool vmsg_keys_read(struct msg_keys *keys, const struct vi_key *head, const void *list, size_t length)
{
    size_t listed = length / sizeof *keys->at;
    keys->count = 0;
    if (length % sizeof *keys->at || listed > MSG_KEYS - 1)
        return false;
    if (length)
        memcpy(keys->at, list, length);
    keys->count = (uint8_t)listed;
    if (head)
        keys->at[keys->count++] = (struct msg_frame_key){EVERY_PAIR, *head};
    return true;
}

const struct vi_key *vmsg_key_for(const struct msg_transfer *transfer, const struct vi *vi)
{
    for (int i = 0; i < transfer->keys.count; i++) {
        const struct msg_frame_key *key = &transfer->keys.at[i];
        if (key->pair == EVERY_PAIR || (vi->name && key->pair == vi->name >> 32))
            return &key->key;
    }
    return NULL;
}
