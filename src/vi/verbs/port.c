/* Ports of RDMA devices: which has the address of a network card, which may be used, and its partition key. Called when
 * a nic is opened, and by what tells of them (report.c). */
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>

/* The GID of an address of IPv4 or IPv6. */
static void gid_of(const struct call_address *address, uint8_t gid[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    bool four = address->family == AF_INET;
    memcpy(gid, mapped, sizeof(mapped));
    memcpy(gid + (four ? 12 : 0), address->bytes, four ? 4 : 16);
}

bool verbs_port_has(const struct ibverbs_library *library, struct verbs_port *port, const struct call_card *card,
                    const struct verbs_settings *settings)
{
    struct ibverbs_gid_entry entry;
    uint8_t gid[16];
    gid_of(&card->address, gid);
    if (library->ibv_query_port(port->context, port->number, &port->attr) || port->attr.state != IBVERBS_PORT_ACTIVE)
        return false;
    for (uint32_t i = 0; i < VERBS_GIDS && (int)i < port->attr.gid_tbl_len; i++)
        if ((settings->gid == VERBS_GIDS || settings->gid == i) &&
            library->_ibv_query_gid_ex(port->context, port->number, i, &entry, 0, sizeof(entry)) == 0 &&
            entry.gid_type == IBVERBS_GID_ROCE_V2 && memcmp(entry.gid, gid, sizeof(gid)) == 0) {
            memcpy(port->gid, gid, sizeof(gid));
            port->gid_index = i;
            return true;
        }
    return false;
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
