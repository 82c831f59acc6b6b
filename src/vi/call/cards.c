/* Choosing, telling and matching cards: see cards.h. No state, no memory, no kernel. The text comes from another
 * process by way of the launcher and is checked letter by letter. */
#include "vi/call/cards.h"
#include <arpa/inet.h>
#include <inttypes.h>

static size_t address_size(const struct call_address *address) { return address->family == AF_INET ? 4 : 16; }

bool call_address_equal(const struct call_address *a, const struct call_address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, address_size(a)) == 0;
}

static uint32_t address_hash(const struct call_address *address)
{
    return (uint32_t)vbase_hash_bytes(address->bytes, address_size(address)) & 0xffffff;
}

/* 169.254/16, fe80::/10, 127/8, ::1, multicast, mapped and unspecified: nothing that names a host to another one. */
bool call_address_special(const struct call_address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zero[16];
    const uint8_t *b = address->bytes;
    if (address->family == AF_INET)
        return b[0] == 0 || b[0] == 127 || b[0] >= 224 || (b[0] == 169 && b[1] == 254);
    return (b[0] == 0xfe && (b[1] & 0xc0) == 0x80) || b[0] == 0xff || memcmp(b, mapped, 12) == 0 ||
           memcmp(b, zero, 15) == 0;
}

socklen_t call_address_place(const struct call_address *address, uint16_t port, union call_place *out)
{
    bool four = address->family == AF_INET;
    *out = (union call_place){.any.sa_family = address->family};
    out->in.sin_port = htons(port); /* at the same place in both */
    memcpy(four ? (void *)&out->in.sin_addr : &out->in6.sin6_addr, address->bytes, address_size(address));
    return four ? sizeof(out->in) : sizeof(out->in6);
}

struct call_address call_place_address(const union call_place *place)
{
    struct call_address address = {.family = (uint8_t)place->any.sa_family};
    bool four = address.family == AF_INET;
    memcpy(address.bytes, four ? (const void *)&place->in.sin_addr : &place->in6.sin6_addr, address_size(&address));
    return address;
}

struct call_text call_address_text(const struct call_address *address)
{
    struct call_text out = {"?"};
    (void)!inet_ntop(address->family, address->bytes, out.text, sizeof(out.text));
    return out;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

const char *call_interface_fault(const struct call_interface *interface)
{
    if (!interface->up)
        return "it is down";
    if (!interface->running)
        return "it has no carrier";
    if (interface->slave_of[0] != '\0' && strcmp(interface->slave_of, "vrf") != 0)
        return "it belongs to a bridge or bond, which stands for it";
    return NULL;
}

const char *call_interface_kind(const struct call_interface *interface)
{
    return interface->loopback ? "loopback" : interface->kind[0] ? interface->kind : "hardware";
}

static char kind_of(const struct call_interface *interface)
{
    static const char *const hard[] = {"", "bond", "team", "bridge", "vlan", "macvlan", "ipvlan", "vrf", "ipoib"};
    if (interface->loopback)
        return CALL_KIND_LOOPBACK;
    if (strcmp(interface->kind, "veth") == 0)
        return CALL_KIND_VETH;
    for (size_t i = 0; i < ARRAY_LENGTH(hard); i++)
        if (strcmp(interface->kind, hard[i]) == 0)
            return CALL_KIND_HARD;
    return CALL_KIND_TUNNEL;
}

/* Ascending: the better one. */
static int kind_rank(char kind)
{
    static const char kinds[] = {CALL_KIND_LOOPBACK, CALL_KIND_HARD, CALL_KIND_VETH, CALL_KIND_TUNNEL, '\0'};
    return (int)(strchr(kinds, kind == CALL_KIND_IWARP ? CALL_KIND_HARD : kind) - kinds);
}

static uint32_t speed_rank(uint32_t speed) { return speed ? speed : TUNED(CARD_SPEED_UNKNOWN); }

/* The first address of FAMILY that can be offered, -1: none. Of the loopback interface only its standard address. */
static int address_for(const struct call_interfaces *from, const struct call_interface *interface, int family)
{
    for (int i = 0; i < from->addresses; i++) {
        const struct call_address *address = &from->address[i].address;
        if (from->address[i].index != interface->index || address->family != family || from->address[i].unsettled)
            continue;
        if (interface->loopback ? family == AF_INET && address->bytes[0] == 127 : !call_address_special(address))
            return i;
    }
    return -1;
}

/* Of interfaces, or of pairs of cards, that are put in order. */
struct candidate {
    uint64_t order; /* ascending: better; of pairs the same on both sides */
    uint8_t mine, theirs;
    bool taken;
};

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

static uint64_t order_of_interface(const struct call_interface *interface)
{
    uint64_t kind = (uint64_t)kind_rank(kind_of(interface)), slow = UINT32_MAX - speed_rank(interface->speed);
    return kind << 62 | slow << 30 | ((uint32_t)interface->index & 0x3fffffff);
}

static void add_card(struct call_cards *cards, const struct call_interfaces *from,
                     const struct call_interface *interface, int at, int ordinal)
{
    struct call_card *card = &cards->card[cards->count++];
    *card = (struct call_card){.address = from->address[at].address, .prefix = from->address[at].prefix,
                               .ordinal = (uint8_t)ordinal, .kind = kind_of(interface), .speed = interface->speed};
    snprintf(card->name, sizeof(card->name), "%s", interface->name);
    memcpy(card->gid, interface->gid, sizeof(card->gid));
}

const struct call_card *call_card_of(const struct call_cards *cards, const struct call_address *address)
{
    for (int i = 0; i < cards->count; i++)
        if (call_address_equal(&cards->card[i].address, address))
            return &cards->card[i];
    return NULL;
}

void call_cards_choose(const struct call_interfaces *from, struct call_cards *cards)
{
    static const int family[] = {AF_INET, AF_INET6};
    struct candidate order[CALL_INTERFACES];
    int count = 0, ordinal = 0;
    cards->count = cards->helds = 0;
    for (int i = 0; i < from->count; i++)
        if (!call_interface_fault(&from->interface[i]))
            order[count++] = (struct candidate){.order = order_of_interface(&from->interface[i]), .mine = (uint8_t)i};
    qsort(order, (size_t)count, sizeof(order[0]), compare_candidates);
    for (int i = 0; i < count; i++) {
        const struct call_interface *interface = &from->interface[order[i].mine];
        int before = cards->count;
        for (size_t f = 0; f < ARRAY_LENGTH(family) && cards->count < CALL_CARDS; f++) {
            int at = address_for(from, interface, family[f]);
            if (at >= 0 && !call_card_of(cards, &from->address[at].address))
                add_card(cards, from, interface, at, ordinal);
        }
        ordinal += cards->count > before;
    }
    for (int i = 0; i < from->addresses && cards->helds < CALL_HELD; i++)
        if (!call_address_special(&from->address[i].address) && !call_card_of(cards, &from->address[i].address))
            cards->held[cards->helds++] = address_hash(&from->address[i].address);
}

int call_cards_only(struct call_cards *cards, const char *name)
{
    char known[CALL_CARDS * 18] = "";
    int kept = 0;
    for (int i = 0; i < cards->count; i++) {
        if (i == 0 || strcmp(cards->card[i].name, cards->card[i - 1].name) != 0)
            snprintf(known + strlen(known), sizeof(known) - strlen(known), " %s", cards->card[i].name);
        if (strcmp(cards->card[i].name, name) == 0)
            cards->card[kept++] = cards->card[i];
    }
    if (kept == 0)
        return vbase_fail(ERR_UNREACHABLE, "%s is no network card of host %s, whose cards are%s", name, cards->name,
                          known);
    cards->count = kept;
    return OK;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

int call_cards_write(const struct call_cards *cards, char *text, size_t size)
{
    char all[CALL_CARD_TEXT]; /* as much as the longest needs, and more */
    size_t used =
        (size_t)snprintf(all, sizeof(all), "1,%u,%" PRIx64 ",%s", cards->port, cards->host, cards->helds ? "" : "-");
    for (int i = 0; i < cards->helds; i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%06x", cards->held[i]);
    for (int i = 0; i < cards->count; i++) {
        const struct call_card *card = &cards->card[i];
        used += (size_t)snprintf(all + used, sizeof(all) - used, ",%u%c/%s/%u/%u", card->ordinal, card->kind,
                                 call_address_text(&card->address).text, card->prefix, card->speed);
    }
    if (strspn(cards->name, NAME_LETTERS) == strlen(cards->name) && cards->name[0])
        used += (size_t)snprintf(all + used, sizeof(all) - used, "@%s", cards->name);
    if (used >= size)
        return vbase_fail(ERR_LIMIT, "the addresses of this host do not fit into %zu bytes", size);
    memcpy(text, all, used + 1);
    return OK;
}

/* What follows the card at AT, and the comma before it; NULL: it makes no sense. */
static const char *card_parse(const char *at, struct call_cards *cards)
{
    struct call_card *card = &cards->card[cards->count];
    char ordinal[2], kind[2], address[INET6_ADDRSTRLEN], prefix[4], speed[11];
    int used;
    if (cards->count++ == CALL_CARDS || sscanf(at, ",%1[0-9]%1[evtlw]/%45[0-9a-f:.]/%3[0-9]/%10[0-9]%n", ordinal, kind,
                                               address, prefix, speed, &used) != 5)
        return NULL;
    unsigned long megabits = strtoul(speed, NULL, 10);
    *card = (struct call_card){.ordinal = (uint8_t)(ordinal[0] - '0'),
                               .kind = kind[0],
                               .speed = (uint32_t)megabits,
                               .prefix = (uint8_t)atoi(prefix),
                               .address.family = strchr(address, ':') ? AF_INET6 : AF_INET};
    return card->ordinal < CALL_CARDS && megabits < UINT32_MAX &&
                   atoi(prefix) <= 8 * (int)address_size(&card->address) &&
                   inet_pton(card->address.family, address, card->address.bytes) == 1
               ? at + used
               : NULL;
}

static bool cards_parse(const char *at, struct call_cards *cards)
{
    char port[6], host[17], held[7];
    int used = 0;
    if (strlen(at) >= CALL_CARD_TEXT || sscanf(at, "1,%5[0-9],%16[0-9a-f],%n", port, host, &used) != 2 || used == 0 ||
        atoi(port) == 0 || atoi(port) > 65535)
        return false;
    cards->port = (uint16_t)atoi(port);
    cards->host = strtoull(host, NULL, 16);
    for (at += used; cards->helds < CALL_HELD && sscanf(at, "%6[0-9a-f]%n", held, &used) == 1 && used == 6; at += used)
        cards->held[cards->helds++] = (uint32_t)strtoul(held, NULL, 16);
    if (cards->helds == 0 && *at++ != '-')
        return false;
    while (*at == ',')
        if (!(at = card_parse(at, cards)))
            return false;
    size_t name = *at == '@' ? strspn(++at, NAME_LETTERS) : 0;
    if (cards->count == 0 || at[name] || name > CALL_HOST_NAME || (at[-1] == '@' && name == 0))
        return false;
    memcpy(cards->name, at, name + 1);
    return true;
}

int call_cards_parse(const char *text, struct call_cards *out)
{
    struct call_cards cards = {.port = 0};
    if (!cards_parse(text, &cards))
        return vbase_fail(ERR_PROTOCOL, "the peer published invalid addresses: \"%.100s\"", text);
    *out = cards;
    return OK;
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static bool same_subnet(const struct call_card *a, const struct call_card *b)
{
    unsigned bits = a->prefix;
    if (a->address.family != b->address.family || a->prefix != b->prefix)
        return false;
    for (unsigned i = 0; bits > 0; i++) {
        unsigned take = bits < 8 ? bits : 8;
        if ((a->address.bytes[i] ^ b->address.bytes[i]) >> (8 - take))
            return false;
        bits -= take;
    }
    return true;
}

static bool cards_hold(const struct call_cards *cards, const struct call_address *address)
{
    uint32_t hash = address_hash(address);
    for (int i = 0; i < cards->helds; i++)
        if (cards->held[i] == hash)
            return true;
    return call_card_of(cards, address);
}

/* Whether A of MINE can reach B of THEIRS, as far as the cards tell. */
static bool can_pair(const struct call_cards *mine, const struct call_card *a, const struct call_cards *theirs,
                     const struct call_card *b)
{
    bool loops = a->kind == CALL_KIND_LOOPBACK, same_host = mine->host == theirs->host;
    if (a->address.family != b->address.family || loops != (b->kind == CALL_KIND_LOOPBACK) ||
        (a->kind == CALL_KIND_IWARP) != (b->kind == CALL_KIND_IWARP))
        return false;
    if (same_host)
        return call_address_equal(&a->address, &b->address);
    return !loops && !cards_hold(mine, &b->address) && !cards_hold(theirs, &a->address);
}

static uint64_t order_of(const struct call_card *a, int i, const struct call_card *b, int j)
{
    uint32_t speed_a = speed_rank(a->speed), speed_b = speed_rank(b->speed),
             speed = speed_a < speed_b ? speed_a : speed_b;
    int kind_a = kind_rank(a->kind), kind_b = kind_rank(b->kind), kind = kind_a > kind_b ? kind_a : kind_b;
    uint64_t order = same_subnet(a, b) ? 0 : 1;
    order = order << 2 | (unsigned)kind;
    order = order << 32 | (UINT32_MAX - speed);
    order = order << 1 | (a->address.family == AF_INET6);
    return order << 8 | (unsigned)i << 4 | (unsigned)j;
}

static int pairs_find(const struct call_cards *mine, const struct call_cards *theirs, bool mine_first,
                      struct candidate out[CALL_CARDS * CALL_CARDS])
{
    int count = 0;
    for (int i = 0; i < mine->count; i++)
        for (int j = 0; j < theirs->count; j++) {
            const struct call_card *a = &mine->card[i], *b = &theirs->card[j];
            if (can_pair(mine, a, theirs, b))
                out[count++] = (struct candidate){mine_first ? order_of(a, i, b, j) : order_of(b, j, a, i), (uint8_t)i,
                                                  (uint8_t)j, false};
        }
    qsort(out, (size_t)count, sizeof(out[0]), compare_candidates);
    return count;
}

int call_cards_match(const struct call_cards *mine, const struct call_cards *theirs, bool mine_first,
                     struct call_pair *pair, int most, int *rails)
{
    struct candidate from[CALL_CARDS * CALL_CARDS];
    int count = pairs_find(mine, theirs, mine_first, from), found = 0;
    unsigned used_mine = 0, used_theirs = 0;
    *rails = 0;
    /* First each card once, then those that are left over on one side, then the alternatives. */
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < count && found < most; i++) {
            const struct call_card *a = &mine->card[from[i].mine], *b = &theirs->card[from[i].theirs];
            int used = (used_mine >> a->ordinal & 1) + (used_theirs >> b->ordinal & 1);
            if (from[i].taken || used > round)
                continue;
            from[i].taken = true;
            used_mine |= 1u << a->ordinal;
            used_theirs |= 1u << b->ordinal;
            pair[found++] = (struct call_pair){*a, *b, theirs->port, same_subnet(a, b)};
            *rails += round < 2;
        }
    if (mine->host == theirs->host && *rails > 1)
        *rails = 1; /* all of them are one memory */
    return found;
}

void call_cards_speeds(const struct call_pair *pair, int rails, uint32_t speed[CALL_CARDS])
{
    memset(speed, 0, CALL_CARDS * sizeof(speed[0]));
    for (int i = 0; i < rails; i++) {
        uint32_t mine = speed_rank(pair[i].mine.speed), theirs = speed_rank(pair[i].theirs.speed);
        uint32_t both = speed[pair[i].mine.ordinal] + (mine < theirs ? mine : theirs);
        speed[pair[i].mine.ordinal] = both < mine ? both : mine;
    }
}
