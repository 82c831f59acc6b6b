/* The addresses of a rank in the launcher's key-value space: NAME:CARD| of each nic that has one, in one text. */
#include "msg/nics.h"

static const char *cards_key(int tried, int world, char key[64])
{
    snprintf(key, 64, "viaduct-cards%d-%d", tried, world);
    return key;
}

int vmsg_cards_put(struct vi_nic *const *nic, uint32_t count, int tried)
{
    char text[MSG_CARDS_TEXT] = "", key[64];
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        if (nic[i]->card && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s:%s|", nic[i]->provider->name, nic[i]->card);
    if (used >= sizeof text)
        return vbase_fail(ERR_LIMIT, "the addresses of this rank do not fit into %zu bytes", sizeof text);
    return vboot_put_text(vmsg_engine.job, cards_key(tried, vmsg_engine.rank, key), text);
}

/* The launcher is asked under a lock: one thread at a time. */
int vmsg_cards_get(int world, int tried, char text[MSG_CARDS_TEXT])
{
    char key[64];
    msg_lock(&vmsg_engine.boot_lock);
    int error = vboot_get_text(vmsg_engine.job, world, cards_key(tried, world, key), text, MSG_CARDS_TEXT);
    msg_unlock(&vmsg_engine.boot_lock);
    return error;
}

bool vmsg_card_find(const char *text, const struct vi_nic *nic, char card[MSG_CARD_TEXT])
{
    size_t name = strlen(nic->provider->name);
    for (const char *at = text, *end; (end = strchr(at, '|')); at = end + 1)
        if (strncmp(at, nic->provider->name, name) == 0 && at[name] == ':' && (size_t)(end - at) < MSG_CARD_TEXT) {
            snprintf(card, MSG_CARD_TEXT, "%.*s", (int)(end - at - (ptrdiff_t)name - 1), at + name + 1);
            return true;
        }
    return false;
}
