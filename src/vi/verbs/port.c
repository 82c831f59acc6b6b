/* Ports of RDMA devices: which belongs to a network card, which may be used, and its partition key. Called when a nic
 * is opened, and by what tells of them (report.c). */
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>

/* The GID of a port that belongs to CARD. RoCE v2: the card's address. InfiniBand: it stands in the hardware address of
 * the card (IPoIB); all zero: it is no such card. */
static void gid_of(const struct call_card *card, bool ethernet, uint8_t gid[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool four = card->address.family == AF_INET;
    if (!ethernet) {
        memcpy(gid, card->gid, sizeof(card->gid));
        return;
    }
    memcpy(gid, mapped, sizeof(mapped));
    memcpy(gid + (four ? 12 : 0), card->address.bytes, four ? 4 : 16);
}

bool verbs_port_has(const struct ibverbs_library *library, struct verbs_port *port, const struct call_card *card,
                    const struct verbs_settings *settings)
{
    static const uint8_t none[16];
    struct ibverbs_gid_entry entry;
    uint8_t gid[16];
    if (library->ibv_query_port(port->context, port->number, &port->attr) || port->attr.state != IBVERBS_PORT_ACTIVE)
        return false;
    bool ethernet = port->attr.link_layer == IBVERBS_LINK_ETHERNET;
    uint32_t type = ethernet ? IBVERBS_GID_ROCE_V2 : IBVERBS_GID_INFINIBAND;
    gid_of(card, ethernet, gid);
    for (uint32_t i = 0; i < VERBS_GIDS && (int)i < port->attr.gid_tbl_len; i++)
        if ((settings->gid == VERBS_GIDS || settings->gid == i) &&
            library->_ibv_query_gid_ex(port->context, port->number, i, &entry, 0, sizeof(entry)) == 0 &&
            entry.gid_type == type && memcmp(entry.gid, gid, sizeof(gid)) == 0 && memcmp(gid, none, sizeof(gid)) != 0) {
            memcpy(port->gid, gid, sizeof(gid));
            port->gid_index = i;
            return true;
        }
    port->managed = verbs_iwarp_has(library, port, &card->address);
    return port->managed;
}

uint32_t verbs_receives_of(const struct ibverbs_device_attr *device)
{
    return device->max_srq > 0 && device->max_srq_wr > 0 ? (uint32_t)device->max_srq_wr : 0;
}

int verbs_key_find(const struct ibverbs_library *library, const struct verbs_port *port,
                   const struct verbs_settings *settings)
{
    uint16_t key;
    for (int i = 0; settings->key && i < port->attr.pkey_tbl_len; i++)
        if (library->ibv_query_pkey(port->context, port->number, i, &key) == 0 &&
            (ntohs(key) & 0x7fff) == settings->key)
            return i;
    return settings->key ? -1 : 0;
}

bool verbs_card_allowed(const char *device, const struct call_card *card)
{
    return vi_card_allowed(VERBS_NAME, device) || vi_card_allowed(VERBS_NAME, card->name);
}
