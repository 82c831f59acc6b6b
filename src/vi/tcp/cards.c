/* Choosing, telling and matching cards: see cards.h. No state, no memory, no kernel. The text comes from another process
 * by way of the launcher and is judged letter by letter. */
#include "vi/tcp/cards.h"
#include <arpa/inet.h>
#include <inttypes.h>

#define SPEED_UNKNOWN_MBS 1000 /* what a card of unknown speed counts as, between cards of known speed */

static size_t address_size(const struct tcp_address *address) { return address->family == AF_INET ? 4 : 16; }

bool tcp_address_equal(const struct tcp_address *a, const struct tcp_address *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, address_size(a)) == 0;
}

static uint32_t address_hash(const struct tcp_address *address)
{
    return (uint32_t)vbase_hash_bytes(address->bytes, address_size(address)) & 0xffffff;
}

/* 169.254/16, fe80::/10, 127/8, ::1, multicast, mapped and unspecified: nothing that names a host to another one. */
bool tcp_address_special(const struct tcp_address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zero[16];
    const uint8_t *b = address->bytes;
    if (address->family == AF_INET)
        return b[0] == 0 || b[0] == 127 || b[0] >= 224 || (b[0] == 169 && b[1] == 254);
    return (b[0] == 0xfe && (b[1] & 0xc0) == 0x80) || b[0] == 0xff || memcmp(b, mapped, 12) == 0 || memcmp(b, zero, 15) == 0;
}

socklen_t tcp_address_socket(const struct tcp_address *address, uint16_t port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (address->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, address->bytes, 4);
        return sizeof(*in);
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, address->bytes, 16);
    return sizeof(*in6);
}

void tcp_address_text(const struct tcp_address *address, char *out, size_t size)
{
    if (!inet_ntop(address->family, address->bytes, out, (socklen_t)size))
        snprintf(out, size, "?");
}

/* ---- choosing ------------------------------------------------------------------------------------------------------- */

const char *tcp_interface_fault(const struct tcp_interface *interface)
{
    if (!interface->up)
        return "it is down";
    if (!interface->running)
        return "it has no carrier";
    if (interface->slave_of[0] != '\0' && strcmp(interface->slave_of, "vrf") != 0)
        return "it belongs to a bridge or bond, which stands for it";
    return NULL;
}

const char *tcp_interface_kind(const struct tcp_interface *interface)
{
    return interface->loopback ? "loopback" : interface->kind[0] ? interface->kind : "hardware";
}

static char kind_of(const struct tcp_interface *interface)
{
    static const char *const hard[] = {"", "bond", "team", "bridge", "vlan", "macvlan", "ipvlan", "vrf"};
    if (interface->loopback)
        return TCP_KIND_LOOPBACK;
    if (strcmp(interface->kind, "veth") == 0)
        return TCP_KIND_VETH;
    for (size_t i = 0; i < ARRAY_LENGTH(hard); i++)
        if (strcmp(interface->kind, hard[i]) == 0)
            return TCP_KIND_HARD;
    return TCP_KIND_TUNNEL;
}

static int kind_rank(char kind)
{
    return kind == TCP_KIND_LOOPBACK ? 0 : kind == TCP_KIND_HARD ? 1 : kind == TCP_KIND_VETH ? 2 : 3;
}

static uint32_t speed_rank(uint32_t speed) { return speed ? speed : SPEED_UNKNOWN_MBS; }

/* The first address of FAMILY that can be offered, -1: none. Of the loopback interface only its standard address. */
static int address_for(const struct tcp_interfaces *from, const struct tcp_interface *interface, int family)
{
    for (int i = 0; i < from->addresses; i++) {
        const struct tcp_address *address = &from->address[i].address;
        if (from->address[i].index != interface->index || address->family != family || from->address[i].unsettled)
            continue;
        if (interface->loopback ? family == AF_INET && address->bytes[0] == 127 : !tcp_address_special(address))
            return i;
    }
    return -1;
}

/* Ascending: the better one. */
static int compare_interfaces(const void *left, const void *right)
{
    const struct tcp_interface *a = *(const struct tcp_interface *const *)left;
    const struct tcp_interface *b = *(const struct tcp_interface *const *)right;
    int kinds = kind_rank(kind_of(a)) - kind_rank(kind_of(b));
    uint32_t speed_a = speed_rank(a->speed), speed_b = speed_rank(b->speed);
    if (kinds != 0)
        return kinds;
    if (speed_a != speed_b)
        return speed_a > speed_b ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void add_card(struct tcp_cards *cards, const struct tcp_interfaces *from, const struct tcp_interface *interface,
                     int at, int ordinal)
{
    struct tcp_card *card = &cards->card[cards->count++];
    *card = (struct tcp_card){.address = from->address[at].address, .prefix = from->address[at].prefix,
                              .ordinal = (uint8_t)ordinal, .kind = kind_of(interface), .speed = interface->speed};
    snprintf(card->name, sizeof(card->name), "%s", interface->name);
}

static bool is_offered(const struct tcp_cards *cards, const struct tcp_address *address)
{
    for (int i = 0; i < cards->count; i++)
        if (tcp_address_equal(&cards->card[i].address, address))
            return true;
    return false;
}

void tcp_cards_choose(const struct tcp_interfaces *from, struct tcp_cards *cards)
{
    static const int family[] = {AF_INET, AF_INET6};
    const struct tcp_interface *order[TCP_INTERFACES];
    int count = 0, ordinal = 0;
    cards->count = cards->helds = 0;
    for (int i = 0; i < from->count; i++)
        if (!tcp_interface_fault(&from->interface[i]))
            order[count++] = &from->interface[i];
    qsort(order, (size_t)count, sizeof(order[0]), compare_interfaces);
    for (int i = 0; i < count; i++) {
        int before = cards->count;
        for (size_t f = 0; f < ARRAY_LENGTH(family) && cards->count < TCP_CARDS; f++) {
            int at = address_for(from, order[i], family[f]);
            if (at >= 0 && !is_offered(cards, &from->address[at].address))
                add_card(cards, from, order[i], at, ordinal);
        }
        ordinal += cards->count > before;
    }
    for (int i = 0; i < from->addresses && cards->helds < TCP_HELD; i++)
        if (!tcp_address_special(&from->address[i].address) && !is_offered(cards, &from->address[i].address))
            cards->held[cards->helds++] = address_hash(&from->address[i].address);
}

int tcp_cards_only(struct tcp_cards *cards, const char *name)
{
    char known[TCP_CARDS * 18] = "";
    int kept = 0;
    for (int i = 0; i < cards->count; i++) {
        if (i == 0 || strcmp(cards->card[i].name, cards->card[i - 1].name) != 0)
            snprintf(known + strlen(known), sizeof(known) - strlen(known), " %s", cards->card[i].name);
        if (strcmp(cards->card[i].name, name) == 0)
            cards->card[kept++] = cards->card[i];
    }
    if (kept == 0)
        return vbase_fail(ERR_UNREACHABLE, "%s is no network card of host %s, whose cards are%s", name, cards->name, known);
    cards->count = kept;
    return OK;
}

/* ---- the text ------------------------------------------------------------------------------------------------------- */

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

struct writer {
    char *at;
    size_t left; /* 0: it did not fit */
};

static void put(struct writer *to, const char *format, ...) PRINTF_LIKE(2, 3);
static void put(struct writer *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->at, to->left, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= to->left) {
        to->left = 0;
        return;
    }
    to->at += length;
    to->left -= (size_t)length;
}

int tcp_cards_write(const struct tcp_cards *cards, char *text, size_t size)
{
    struct writer to = {text, size};
    char address[INET6_ADDRSTRLEN];
    put(&to, "1,%u,%" PRIx64 ",%s", cards->port, cards->host, cards->helds ? "" : "-");
    for (int i = 0; i < cards->helds; i++)
        put(&to, "%06x", cards->held[i]);
    for (int i = 0; i < cards->count; i++) {
        const struct tcp_card *card = &cards->card[i];
        tcp_address_text(&card->address, address, sizeof(address));
        put(&to, ",%u%c/%s/%u/%u", card->ordinal, card->kind, address, card->prefix, card->speed);
    }
    if (strspn(cards->name, NAME_LETTERS) == strlen(cards->name) && cards->name[0])
        put(&to, "@%s", cards->name);
    return to.left ? OK : vbase_fail(ERR_LIMIT, "the addresses of this host do not fit into %zu bytes", size);
}

/* A number below LIMIT in BASE, and then the letter END or, where END is 0, the end of the text. */
static bool take_number(const char **at, int base, uint64_t limit, char end, uint64_t *out)
{
    const char *digits = "0123456789abcdef", *p = *at;
    uint64_t value = 0;
    for (int n = 0;; n++, p++) {
        const char *digit = *p ? memchr(digits, *p, (size_t)base) : NULL;
        if (!digit && (n == 0 || *p != end))
            return false;
        if (!digit)
            break;
        if (n == 16)
            return false;
        value = value * (uint64_t)base + (uint64_t)(digit - digits);
    }
    if (value >= limit && limit != 0)
        return false;
    *at = p + (end != '\0');
    *out = value;
    return true;
}

static bool take_helds(const char **at, struct tcp_cards *cards)
{
    const char *p = *at;
    if (p[0] == '-' && p[1] == ',') {
        *at = p + 2;
        return true;
    }
    while (cards->helds < TCP_HELD && *p != ',') {
        char digits[8] = "";
        const char *from = digits;
        uint64_t value;
        for (int i = 0; i < 6 && p[i]; i++)
            digits[i] = p[i];
        if (!take_number(&from, 16, 0, '\0', &value) || from != digits + 6)
            return false;
        cards->held[cards->helds++] = (uint32_t)value;
        p += 6;
    }
    *at = p + 1;
    return *p == ',' && cards->helds > 0;
}

static bool take_address(const char **at, struct tcp_address *out)
{
    char text[INET6_ADDRSTRLEN];
    size_t length = strcspn(*at, "/");
    if (length >= sizeof(text) || (*at)[length] != '/')
        return false;
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length + 1;
    out->family = strchr(text, ':') ? AF_INET6 : AF_INET;
    return inet_pton(out->family, text, out->bytes) == 1;
}

static bool take_card(const char **at, struct tcp_cards *cards)
{
    struct tcp_card *card = &cards->card[cards->count];
    const char *end = *at + strcspn(*at, ",@");
    uint64_t prefix, speed;
    if (cards->count == TCP_CARDS || (*at)[0] < '0' || (*at)[0] >= '0' + TCP_CARDS || !(*at)[1] ||
        !strchr("evtl", (*at)[1]) || (*at)[2] != '/')
        return false;
    *card = (struct tcp_card){.ordinal = (uint8_t)((*at)[0] - '0'), .kind = (*at)[1]};
    *at += 3;
    if (!take_address(at, &card->address) || !take_number(at, 10, 8 * address_size(&card->address) + 1, '/', &prefix) ||
        !take_number(at, 10, UINT32_MAX, *end, &speed))
        return false;
    card->prefix = (uint8_t)prefix;
    card->speed = (uint32_t)speed;
    cards->count++;
    return true;
}

static bool take_name(const char *at, struct tcp_cards *cards)
{
    size_t length = strspn(at, NAME_LETTERS);
    if (length == 0 || length > TCP_HOST_NAME || at[length])
        return false;
    memcpy(cards->name, at, length + 1);
    return true;
}

static bool parse(const char *at, struct tcp_cards *cards)
{
    uint64_t version, port;
    if (strlen(at) >= TCP_CARD_TEXT || !take_number(&at, 10, 2, ',', &version) || version != 1 ||
        !take_number(&at, 10, 65536, ',', &port) || port == 0 || !take_number(&at, 16, 0, ',', &cards->host) ||
        !take_helds(&at, cards))
        return false;
    cards->port = (uint16_t)port;
    do
        if (!take_card(&at, cards))
            return false;
    while (at[-1] != '@' && (*at || at[-1] == ','));
    return at[-1] != '@' || take_name(at, cards);
}

int tcp_cards_parse(const char *text, struct tcp_cards *out)
{
    struct tcp_cards cards = {.port = 0};
    if (!parse(text, &cards))
        return vbase_fail(ERR_PROTOCOL, "the peer's addresses make no sense: \"%.100s\"", text);
    *out = cards;
    return OK;
}

/* ---- matching ------------------------------------------------------------------------------------------------------- */

static bool same_subnet(const struct tcp_card *a, const struct tcp_card *b)
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

static bool holds(const struct tcp_cards *cards, const struct tcp_address *address)
{
    uint32_t hash = address_hash(address);
    for (int i = 0; i < cards->helds; i++)
        if (cards->held[i] == hash)
            return true;
    return is_offered(cards, address);
}

/* Whether A of MINE can reach B of THEIRS, as far as the cards tell. */
static bool can_pair(const struct tcp_cards *mine, const struct tcp_card *a, const struct tcp_cards *theirs,
                     const struct tcp_card *b)
{
    bool loops = a->kind == TCP_KIND_LOOPBACK, same_host = mine->host == theirs->host;
    if (a->address.family != b->address.family || loops != (b->kind == TCP_KIND_LOOPBACK))
        return false;
    if (same_host)
        return tcp_address_equal(&a->address, &b->address);
    return !loops && !holds(mine, &b->address) && !holds(theirs, &a->address);
}

struct candidate {
    uint64_t order; /* ascending: better; the same on both sides */
    uint8_t mine, theirs;
    bool taken;
};

static uint64_t order_of(const struct tcp_card *a, int i, const struct tcp_card *b, int j)
{
    uint32_t speed_a = speed_rank(a->speed), speed_b = speed_rank(b->speed), speed = speed_a < speed_b ? speed_a : speed_b;
    int kind_a = kind_rank(a->kind), kind_b = kind_rank(b->kind), kind = kind_a > kind_b ? kind_a : kind_b;
    uint64_t order = same_subnet(a, b) ? 0 : 1;
    order = order << 2 | (unsigned)kind;
    order = order << 32 | (UINT32_MAX - speed);
    order = order << 1 | (a->address.family == AF_INET6);
    return order << 8 | (unsigned)i << 4 | (unsigned)j;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

static int candidates(const struct tcp_cards *mine, const struct tcp_cards *theirs, bool mine_first,
                      struct candidate out[TCP_CARDS * TCP_CARDS])
{
    int count = 0;
    for (int i = 0; i < mine->count; i++)
        for (int j = 0; j < theirs->count; j++) {
            const struct tcp_card *a = &mine->card[i], *b = &theirs->card[j];
            if (can_pair(mine, a, theirs, b))
                out[count++] = (struct candidate){mine_first ? order_of(a, i, b, j) : order_of(b, j, a, i), (uint8_t)i,
                                                  (uint8_t)j, false};
        }
    qsort(out, (size_t)count, sizeof(out[0]), compare_candidates);
    return count;
}

int tcp_cards_match(const struct tcp_cards *mine, const struct tcp_cards *theirs, bool mine_first, struct tcp_pair *pair,
                    int most, int *rails)
{
    struct candidate from[TCP_CARDS * TCP_CARDS];
    int count = candidates(mine, theirs, mine_first, from), found = 0;
    unsigned used_mine = 0, used_theirs = 0;
    *rails = 0;
    /* First each card once, then those that are left over on one side, then the alternatives. */
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < count && found < most; i++) {
            const struct tcp_card *a = &mine->card[from[i].mine], *b = &theirs->card[from[i].theirs];
            int used = (used_mine >> a->ordinal & 1) + (used_theirs >> b->ordinal & 1);
            if (from[i].taken || used > round)
                continue;
            from[i].taken = true;
            used_mine |= 1u << a->ordinal;
            used_theirs |= 1u << b->ordinal;
            pair[found++] = (struct tcp_pair){*a, *b, theirs->port, same_subnet(a, b)};
            *rails += round < 2;
        }
    if (mine->host == theirs->host && *rails > 1)
        *rails = 1; /* all of them are one memory */
    return found;
}
