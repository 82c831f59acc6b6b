/* Memory of ours that the other side may reach, and its keys.
 *
 * A buffer in one piece is registered on every adapter by which the peer is reached. In shared memory that is one key,
 * in the head of a frame. To a remote peer the frame lists a key for each adapter, with the rails that it is good for:
 * all of a nic that has one adapter for all its vis, else those that are up (vi_caps.adapter). A rail that no key is
 * good for carries DATA only. */
#include "msg/transfer.h"

#define EVERY_RAIL UINT64_MAX

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

static uint64_t rails_of(const struct msg_peer *peer, const struct vi_nic *nic)
{
    uint64_t rails = nic->caps.adapter ? 0 : nic->rails;
    for (int i = 0; i < MSG_REPLAY_RAILS; i++)
        if (peer->far->vi[i] && peer->far->vi[i]->nic == nic && peer->far->vi[i]->name)
            rails |= 1ull << (peer->far->vi[i]->name >> 32 & 63);
    return rails;
}

/* Returns MSG_FLAG_KEY if there is one in the head; LISTED others. */
unsigned vmsg_keys_write(const struct msg_transfer *transfer, struct vi_key *head, struct msg_frame_key *list,
                         int *listed)
{
    const struct msg_peer *peer = transfer->peer;
    bool here = !peer->remote && transfer->regions;
    *head = here ? transfer->region[0].key : (struct vi_key){{0}};
    *listed = 0;
    for (int i = 0; peer->remote && i < transfer->regions; i++)
        list[(*listed)++] =
            (struct msg_frame_key){rails_of(peer, transfer->region[i].nic), transfer->region[i].key};
    return here ? MSG_FLAG_KEY : 0;
}

/* HEAD NULL: it has none. False: nobody sends that. */
bool vmsg_keys_read(struct msg_keys *keys, const struct vi_key *head, const void *list, size_t length)
{
    size_t listed = length / sizeof *keys->at;
    keys->count = 0;
    if (length % sizeof *keys->at || listed + (head != NULL) > MSG_KEYS)
        return false;
    if (length)
        memcpy(keys->at, list, length);
    keys->count = (uint8_t)listed;
    if (head)
        keys->at[keys->count++] = (struct msg_frame_key){EVERY_RAIL, *head};
    return true;
}

const struct vi_key *vmsg_key_for(const struct msg_transfer *transfer, const struct vi *vi)
{
    for (int i = 0; i < transfer->keys.count; i++) {
        const struct msg_frame_key *key = &transfer->keys.at[i];
        if (key->rails == EVERY_RAIL || (vi->name && key->rails >> (vi->name >> 32 & 63) & 1))
            return &key->key;
    }
    return NULL;
}
