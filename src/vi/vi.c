/* The table of providers, and what they have in common: opening, and the answer of operations that some lack. */
#include "vi/vi.h"
#include "vi/shm/segment.h"
#include <dirent.h>
#include <sys/mman.h>

extern const struct vi_ops shm_ops, verbs_ops, tcp_ops; /* each in the nic.c of its room */
int verbs_settings_check(void);
void verbs_report(vi_line *line, void *context);

const struct vi_provider vi_providers[] = {
    {"shm", &shm_ops, .node = true},
    {"verbs", &verbs_ops, .cards = true, .devices = "/sys/class/infiniband", .check = verbs_settings_check,
     .report = verbs_report},
    {"tcp", &tcp_ops, .cards = true},
    {NULL, NULL},
};

static bool text_equals(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static const struct vi_provider *provider_find(const char *name, size_t length)
{
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        if (text_equals(provider->name, name, length))
            return provider;
    return NULL;
}

const struct vi_provider *vi_provider_find(const char *name) { return provider_find(name, strlen(name)); }

/* ---- VIADUCT_TRANSPORTS ------------------------------------------------------------------------------------------ */

struct entry { /* NAME or NAME:CARD; commas between them */
    const char *name, *card; /* card: NULL: none is named */
    size_t name_length, card_length;
};

/* That at *AT, which is moved behind it; false: there is none. */
static bool entry_next(const char **at, struct entry *out)
{
    if (!*at || !**at)
        return false;
    size_t length = strcspn(*at, ","), name = strcspn(*at, ",:");
    *out = (struct entry){.name = *at, .name_length = name};
    if (name < length) {
        out->card = *at + name + 1;
        out->card_length = length - name - 1;
    }
    *at += length;
    *at += **at == ',';
    return true;
}

static bool provider_is_named(const struct vi_provider *provider)
{
    struct entry entry;
    for (const char *at = vbase_settings.transports; entry_next(&at, &entry);)
        if (text_equals(provider->name, entry.name, entry.name_length))
            return true;
    return false;
}

static bool provider_names_card(const struct vi_provider *provider)
{
    struct entry entry;
    for (const char *at = vbase_settings.transports; entry_next(&at, &entry);)
        if (entry.card && text_equals(provider->name, entry.name, entry.name_length))
            return true;
    return false;
}

bool vi_card_allowed(const char *transport, const char *card)
{
    struct entry entry;
    for (const char *at = vbase_settings.transports; entry_next(&at, &entry);)
        if (text_equals(transport, entry.name, entry.name_length) &&
            (!entry.card || text_equals(card, entry.card, entry.card_length)))
            return true;
    return !vbase_settings.transports;
}

/* ---- which are used ---------------------------------------------------------------------------------------------- */

/* Beside "." and "..", and names that are hidden. */
static bool has_entry(const char *folder)
{
    DIR *there = opendir(folder);
    const struct dirent *entry = NULL;
    while (there && (entry = readdir(there)) && entry->d_name[0] == '.')
        ;
    if (there)
        closedir(there);
    return entry;
}

bool vi_provider_allowed(const struct vi_provider *provider)
{
    return vbase_settings.transports ? provider_is_named(provider) : !provider->devices || has_entry(provider->devices);
}

bool vi_listener_needed(uint32_t local, uint32_t ranks)
{
    const struct vi_provider *provider = vi_providers;
    while (provider->name && !(provider->node && vi_provider_allowed(provider)))
        provider++;
    if (local == ranks && provider->name)
        return false; /* nobody looks for devices either */
    for (provider = vi_providers; provider->name; provider++)
        if (provider->cards && vi_provider_allowed(provider))
            return true;
    return false;
}

bool vi_network_needed(uint32_t local, uint32_t ranks)
{
    bool named = false;
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        named |= provider->cards && (provider->devices ? provider_is_named(provider) : provider_names_card(provider));
    return named || local < ranks;
}

static struct {
    void *page;
    size_t size;
} shared;

void vi_counters_share(int fd, uint32_t local_index)
{
    off_t at, whole = sysconf(_SC_PAGESIZE);
    if (fd < 0 || shared.page || shm_segment_counters(fd, (int)local_index, &at) != OK)
        return;
    size_t before = (size_t)(at % whole), size = before + BASE_COUNTERS_SIZE;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at - (off_t)before);
    if (page == MAP_FAILED) /* nobody sees them then */
        return;
    shared.page = page;
    shared.size = size;
    vbase_counters_move((char *)page + before);
}

void vi_counters_keep(void)
{
    if (!shared.page)
        return;
    vbase_counters_move(NULL);
    munmap(shared.page, shared.size);
    shared.page = NULL;
}

int vi_settings_check(void)
{
    char known[64] = "";
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), " %s", provider->name);
    struct entry entry;
    for (const char *at = vbase_settings.transports; entry_next(&at, &entry);) {
        const struct vi_provider *provider = provider_find(entry.name, entry.name_length);
        if (!provider || (entry.card && entry.card_length == 0))
            return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for VIADUCT_TRANSPORTS: expected one or more of%s, "
                              "with commas", vbase_settings.transports, known);
        if (entry.card && !provider->cards)
            return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for VIADUCT_TRANSPORTS: %s has no cards",
                              vbase_settings.transports, provider->name);
    }
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++) {
        int error = provider->check ? provider->check() : OK;
        if (error)
            return error;
    }
    return OK;
}

int vi_no_get(struct vi *vi, const struct vi_transfer *transfer)
{
    (void)transfer;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot get", vi->nic->provider->name);
}

int vi_no_map(struct vi *vi, struct vi_key key, uint64_t offset, uint64_t length, void **pointer)
{
    (void)key, (void)offset, (void)length, (void)pointer;
    return vbase_fail(ERR_UNSUPPORTED, "%s cannot map memory of a peer", vi->nic->provider->name);
}

int vi_no_wake(struct vi *vi)
{
    return vbase_fail(ERR_UNSUPPORTED, "%s shares no memory", vi->nic->provider->name);
}

int vi_no_reach(struct vi_nic *nic, const struct vi_address *to, struct vi_reach *reach)
{
    (void)to, (void)reach;
    return vbase_fail(ERR_UNSUPPORTED, "%s has no cards", nic->provider->name);
}

static vi_opener *wrapper;

void vi_wrap(vi_opener *open) { wrapper = open; }

int vi_nic_open(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **nic)
{
    struct vi_nic *opened;
    int error = wrapper ? wrapper(provider, setup, &opened) : provider->ops->open(setup, &opened);
    if (error)
        return error;
    opened->provider = provider;
    *nic = opened;
    return OK;
}

int vi_node_create(int ranks, int *fd) { return shm_segment_create(ranks, fd); }
