/* Choosing, telling and matching cards, on made-up hosts; the text of a card spoiled in every way. */
#include "check.h"
#include "base/error.h"
#include "vi/call/cards.h"

#include <arpa/inet.h>

static void interface_add(struct call_interfaces *to, const char *name, const char *kind, const char *slave_of,
                          const char *state, uint32_t speed)
{
    struct call_interface *i = &to->interface[to->count++];

    *i = (struct call_interface){.index = to->count, .speed = speed, .up = strchr(state, 'u'), .running = strchr(state, 'r'),
                                 .loopback = strcmp(name, "lo") == 0};
    snprintf(i->name, sizeof(i->name), "%s", name);
    snprintf(i->kind, sizeof(i->kind), "%s", kind);
    snprintf(i->slave_of, sizeof(i->slave_of), "%s", slave_of);
}

/* An address of the interface that was added last. */
static void address_add(struct call_interfaces *to, const char *text, unsigned prefix, bool unsettled)
{
    struct call_address *address = &to->address[to->addresses].address;

    address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
    CHECK_EQUAL(inet_pton(address->family, text, address->bytes), 1);
    to->address[to->addresses].index = to->count;
    to->address[to->addresses].prefix = (uint8_t)prefix;
    to->address[to->addresses++].unsettled = unsettled;
}

static void loopback_add(struct call_interfaces *to)
{
    interface_add(to, "lo", "", "", "ur", 0);
    address_add(to, "127.0.0.1", 8, false);
    address_add(to, "::1", 128, false);
}

/* A workstation: a bridge with a container, one without, a cable unplugged, a bond, a VPN, a link-local address. */
static void workstation(struct call_interfaces *host, const char *first, const char *second)
{
    memset(host, 0, sizeof(*host));
    interface_add(host, "wg0", "wireguard", "", "ur", 0);
    address_add(host, second, 24, false);
    loopback_add(host);
    interface_add(host, "docker0", "bridge", "", "ur", 0);
    address_add(host, "172.17.0.1", 16, false);
    interface_add(host, "br-1", "bridge", "", "u", 0);
    address_add(host, "172.18.0.1", 16, false);
    interface_add(host, "veth1", "veth", "bridge", "ur", 10000);
    address_add(host, "172.17.9.9", 16, false);
    interface_add(host, "eth0", "", "", "ur", TUNED(CARD_SPEED_UNKNOWN)); /* no less than what is not known */
    address_add(host, "169.254.3.3", 16, false);
    address_add(host, "fe80::1", 64, false);
    address_add(host, "fd00::77", 64, true);
    address_add(host, first, 24, false);
    interface_add(host, "eth1", "", "bond", "ur", 1000);
    interface_add(host, "eth2", "", "", "r", 1000);
    address_add(host, "10.9.9.9", 24, false);
}

static void choosing(void)
{
    struct call_interfaces host;
    struct call_cards cards = {0};

    workstation(&host, "10.0.0.1", "10.8.0.1");
    call_cards_choose(&host, &cards);
    CHECK_EQUAL(cards.count, 4);
    CHECK_TEXT(cards.card[0].name, "lo");
    CHECK_TEXT(cards.card[1].name, "docker0");
    CHECK_TEXT(cards.card[2].name, "eth0");
    CHECK_TEXT(cards.card[3].name, "wg0");
    CHECK_EQUAL(cards.card[2].address.bytes[0], 10);
    CHECK_EQUAL(cards.card[2].address.bytes[3], 1);
    CHECK_EQUAL(cards.card[3].kind, CALL_KIND_TUNNEL);
    CHECK_EQUAL(cards.helds, 4); /* 172.18.0.1 172.17.9.9 fd00::77 10.9.9.9 */
    CHECK_TEXT(call_interface_fault(&host.interface[3]), "it has no carrier");
    CHECK_TEXT(call_interface_fault(&host.interface[4]), "it belongs to a bridge or bond, which stands for it");
    CHECK_TEXT(call_interface_fault(&host.interface[7]), "it is down");
}

static void two_hosts(const struct call_interfaces *a, const struct call_interfaces *b, struct call_cards cards[2])
{
    memset(cards, 0, 2 * sizeof(cards[0]));
    call_cards_choose(a, &cards[0]);
    call_cards_choose(b, &cards[1]);
    cards[0].host = 1;
    cards[1].host = 2;
    cards[0].port = 1000;
    cards[1].port = 2000;
}

/* Matches both ways and checks that both sides mean the same; gives the pairs of the first. */
static int match(const struct call_cards cards[2], struct call_pair *pair, int *rails)
{
    struct call_pair back[CALL_PAIRS];
    int count = call_cards_match(&cards[0], &cards[1], true, pair, CALL_PAIRS, rails), back_rails;

    CHECK_EQUAL(call_cards_match(&cards[1], &cards[0], false, back, CALL_PAIRS, &back_rails), count);
    CHECK_EQUAL(*rails, back_rails);
    for (int i = 0; i < count; i++) {
        CHECK(memcmp(&pair[i].mine.address, &back[i].theirs.address, sizeof(struct call_address)) == 0);
        CHECK(memcmp(&pair[i].theirs.address, &back[i].mine.address, sizeof(struct call_address)) == 0);
        CHECK_EQUAL(pair[i].port, cards[1].port);
    }
    return count;
}

/* An address that both hold is no way from one to the other, wherever each lists it. */
static void shared_addresses(void)
{
    struct call_interfaces a, b;
    struct call_cards cards[2];
    struct call_pair pair[CALL_PAIRS];
    int rails, count;

    workstation(&a, "10.0.0.1", "10.8.0.1");
    workstation(&b, "10.0.0.2", "10.8.0.2");
    b.interface[2].running = false; /* its docker0 is empty: the address is held, not offered */
    two_hosts(&a, &b, cards);
    count = match(cards, pair, &rails);
    CHECK_EQUAL(count, 4); /* eth0 and wg0 of both, every way */
    CHECK_EQUAL(rails, 2);
    CHECK_TEXT(pair[0].mine.name, "eth0");
    CHECK_EQUAL(pair[0].theirs.address.bytes[3], 2);
    CHECK(pair[0].local);
    CHECK_TEXT(pair[1].mine.name, "wg0");
    for (int i = 0; i < count; i++)
        CHECK(pair[i].mine.address.bytes[0] == 10 && pair[i].theirs.address.bytes[0] == 10);
}

/* One host: over the loopback interface first, then by its own addresses, and by nothing else. */
static void same_host(void)
{
    struct call_interfaces a;
    struct call_cards cards[2];
    struct call_pair pair[CALL_PAIRS];
    int rails;

    workstation(&a, "10.0.0.1", "10.8.0.1");
    two_hosts(&a, &a, cards);
    cards[1].host = 1;
    CHECK_EQUAL(match(cards, pair, &rails), 4);
    CHECK_EQUAL(pair[0].mine.kind, CALL_KIND_LOOPBACK);
    cards[1].host = 2; /* two hosts with the same addresses: nothing */
    CHECK_EQUAL(match(cards, pair, &rails), 0);
}

/* A card of iWARP goes with its like alone; their order is that of hardware. */
static void iwarp(void)
{
    struct call_interfaces a, b;
    struct call_cards cards[2];
    struct call_pair pair[CALL_PAIRS];
    char text[CALL_CARD_TEXT];
    int rails;

    workstation(&a, "10.0.0.1", "10.8.0.1");
    workstation(&b, "10.0.0.2", "10.8.0.2");
    b.interface[2].running = false;
    two_hosts(&a, &b, cards);
    cards[0].card[2].kind = CALL_KIND_IWARP;
    CHECK_EQUAL(call_cards_write(&cards[0], text, sizeof(text)), OK);
    CHECK_EQUAL(call_cards_parse(text, &cards[0]), OK);
    CHECK_EQUAL(cards[0].card[2].kind, CALL_KIND_IWARP);
    CHECK_EQUAL(match(cards, pair, &rails), 2); /* wg0 with both of the other side */
    CHECK(pair[0].mine.kind == CALL_KIND_TUNNEL && pair[1].mine.kind == CALL_KIND_TUNNEL);
    for (int i = 0; i < cards[1].count; i++)
        if (cards[1].card[i].kind == CALL_KIND_HARD)
            cards[1].card[i].kind = CALL_KIND_IWARP;
    CHECK_EQUAL(match(cards, pair, &rails), 2);
    CHECK(pair[0].mine.kind == CALL_KIND_IWARP && pair[0].theirs.kind == CALL_KIND_IWARP);
    CHECK(pair[1].mine.kind == CALL_KIND_TUNNEL && pair[1].theirs.kind == CALL_KIND_TUNNEL);
}

/* Four cards there and two here make four rails, the fast ones first; each of theirs is used once. */
static void unequal(void)
{
    static const char *const two[] = {"10.1.0.1", "10.2.0.1"};
    static const char *const four[] = {"10.1.0.2", "10.2.0.2", "10.3.0.2", "10.4.0.2"};
    struct call_interfaces a = {0}, b = {0};
    struct call_cards cards[2];
    struct call_pair pair[CALL_PAIRS];
    int rails;

    for (int i = 0; i < 2; i++) {
        interface_add(&a, i ? "eth1" : "eth0", "", "", "ur", i ? 10000 : 1000);
        address_add(&a, two[i], 24, false);
    }
    for (int i = 0; i < 4; i++) {
        char name[] = {'v', (char)('0' + i), '\0'};
        interface_add(&b, name, "veth", "", "ur", 10000);
        address_add(&b, four[i], 24, false);
    }
    two_hosts(&a, &b, cards);
    CHECK_EQUAL(match(cards, pair, &rails), 8);
    CHECK_EQUAL(rails, 4);
    CHECK_EQUAL(pair[0].mine.speed, 10000);
    CHECK_EQUAL(pair[0].theirs.address.bytes[1], 2);
    CHECK_EQUAL(pair[1].mine.speed, 1000);
    CHECK_EQUAL(pair[1].theirs.address.bytes[1], 1);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            CHECK(pair[i].theirs.address.bytes[1] != pair[j].theirs.address.bytes[1]);
}

/* As many interfaces and addresses as a host can have: bounded, and the text still fits. */
static void crowded(void)
{
    struct call_interfaces host = {0};
    struct call_cards cards = {.port = 65535, .host = UINT64_MAX}, back;
    memset(cards.name, 'n', CALL_HOST_NAME);
    char text[CALL_CARD_TEXT], small[300], address[64];

    for (int i = 0; i < CALL_INTERFACES; i++) {
        interface_add(&host, "eth", "", "", "ur", UINT32_MAX - 1);
        snprintf(address, sizeof(address), "2001:db8:1234:5678:9abc:def0:%x:%x", 0x1000 + i, 0x2000 + i);
        address_add(&host, address, 128, false);
        address_add(&host, "100.200.201.202", 24, false);
        host.address[host.addresses - 1].address.bytes[3] = (uint8_t)i;
    }
    call_cards_choose(&host, &cards);
    CHECK_EQUAL(cards.count, CALL_CARDS);
    CHECK_EQUAL(cards.helds, CALL_HELD);
    CHECK_EQUAL(call_cards_write(&cards, text, sizeof(text)), OK);
    CHECK(strcspn(text, " =;\n") == strlen(text));
    CHECK_EQUAL(call_cards_parse(text, &back), OK);
    CHECK_EQUAL(back.count, cards.count);
    CHECK_EQUAL(back.host, cards.host);
    CHECK_EQUAL(back.port, 65535);
    CHECK(memcmp(back.held, cards.held, sizeof(back.held)) == 0);
    for (int i = 0; i < back.count; i++) {
        CHECK(memcmp(&back.card[i].address, &cards.card[i].address, sizeof(struct call_address)) == 0);
        CHECK_EQUAL(back.card[i].prefix, cards.card[i].prefix);
        CHECK_EQUAL(back.card[i].speed, cards.card[i].speed);
        CHECK_EQUAL(back.card[i].ordinal, cards.card[i].ordinal);
    }
    for (size_t size = 0; size < sizeof(small); size++)
        CHECK_EQUAL(call_cards_write(&cards, small, size), ERR_LIMIT);
}

static const char good[] = "1,40123,9f3c21,ab12cdef0123,0l/127.0.0.1/8/0,1e/10.0.0.5/24/1000,1e/fd00::5/64/1000@node-7.rack_2";

static void bad_texts(void)
{
    static const char *const bad[] = {
        "", "1", "1,", "2,40123,1,-,0e/10.0.0.5/24/1", "1,0,1,-,0e/10.0.0.5/24/1", "1,65536,1,-,0e/10.0.0.5/24/1",
        "1,1,,-,0e/10.0.0.5/24/1", "1,1,11111111111111111,-,0e/10.0.0.5/24/1", "1,1,1,,0e/10.0.0.5/24/1",
        "1,1,1,abcde,0e/10.0.0.5/24/1", "1,1,1,abcdeg,0e/10.0.0.5/24/1", "1,1,1,-", "1,1,1,-,", "1,1,1,-,8e/10.0.0.5/24/1",
        "1,1,1,-,0x/10.0.0.5/24/1", "1,1,1,-,0e/10.0.0.5/33/1", "1,1,1,-,0e/10.0.0/24/1", "1,1,1,-,0e/fd00::/129/1",
        "1,1,1,-,0e/10.0.0.5/24/4294967295", "1,1,1,-,0e/10.0.0.5/24/", "1,1,1,-,0e/10.0.0.5/24/1,", "1,1,1,-,0e",
        "1,1,1,-,0e/10.0.0.5/24/1 ", "1,1,1,-,0e/10.0.0.5/24/-1", "-1,1,1,-,0e/10.0.0.5/24/1",
        "1,1,1,-,0e/10.0.0.5/24/1@", "1,1,1,-,0e/10.0.0.5/24/1@a b", "1,1,1,-,0e/10.0.0.5/24/1@a@b", "1,1,1,-,0e/10.0.0.5/24@a/1",
        "1,1,1,-,0e/10.0.0.5/24/1@a123456789b123456789c123456789d123456789e123456789f123456789g1234",
    };
    struct call_cards cards;

    CHECK_EQUAL(call_cards_parse(good, &cards), OK);
    CHECK_EQUAL(cards.count, 3);
    CHECK_EQUAL(cards.held[1], 0xef0123);
    CHECK_TEXT(cards.name, "node-7.rack_2");
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        if (call_cards_parse(bad[i], &cards) != ERR_PROTOCOL)
            CHECK_TEXT(bad[i], "refused");
}

/* Bytes changed, doubled and dropped at random: refused, or something that can be written and matched. */
static void spoiled_texts(void)
{
    uint64_t random = check_seed();
    unsigned taken = 0;

    for (int round = 0; round < 200000; round++) {
        char *text = malloc(sizeof(good)), out[CALL_CARD_TEXT]; /* its own allocation: reading past the end shows */
        struct call_cards cards, ours = {.host = 5};
        struct call_pair pair[CALL_PAIRS];
        int rails;
        memcpy(text, good, sizeof(good));
        for (unsigned n = 0; n <= (unsigned)round % 3; n++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t at = random % (sizeof(good) - 1);
            text[at] = random >> 40 & 1 ? good[(random >> 20) % (sizeof(good) - 1)] : (char)(random >> 48);
        }
        if (call_cards_parse(text, &cards) == OK) {
            taken++;
            CHECK_EQUAL(call_cards_write(&cards, out, sizeof(out)), OK);
            CHECK(cards.count >= 1 && cards.count <= CALL_CARDS && cards.port != 0);
            call_cards_match(&ours, &cards, true, pair, CALL_PAIRS, &rails);
            call_cards_match(&cards, &cards, true, pair, CALL_PAIRS, &rails);
        }
        free(text);
    }
    CHECK(taken > 1000);
}

/* What the kernel says here can be read, and chosen from. */
static void this_host(void)
{
    struct call_interfaces *host = calloc(1, sizeof(*host));
    struct call_cards cards = {.port = 1};
    char text[CALL_CARD_TEXT];
    bool loopback = false;

    CHECK_EQUAL(call_interfaces_read(host), OK);
    CHECK(host->count >= 1);
    for (int i = 0; i < host->count; i++)
        loopback |= host->interface[i].loopback && strcmp(host->interface[i].name, "lo") == 0;
    CHECK(loopback);
    call_cards_choose(host, &cards);
    cards.host = vbase_host_identity();
    CHECK_EQUAL(cards.host, vbase_host_identity());
    if (cards.count > 0)
        CHECK_EQUAL(call_cards_write(&cards, text, sizeof(text)), OK);
    free(host);
}

int main(void)
{
    choosing();
    shared_addresses();
    same_host();
    iwarp();
    unequal();
    crowded();
    bad_texts();
    spoiled_texts();
    this_host();
    return check_done();
}
