/* Interfaces and rails in words; see report.h. Called by the tools; keeps nothing. */
#include "vi/call/report.h"
#include "vi/call/call.h"

static void report_line(const struct call_reporter *to, const char *format, ...) PRINTF_LIKE(2, 3);
static void report_line(const struct call_reporter *to, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    to->line(to->context, text);
}

static const char *speed_text(uint32_t speed, char out[16])
{
    if (speed == 0)
        return "-";
    snprintf(out, 16, speed % 1000 ? "%u Mb/s" : "%u Gb/s", speed % 1000 ? speed : speed / 1000);
    return out;
}

/* ---- this host --------------------------------------------------------------------------------------------------- */

/* Why an address of an interface that is fine is not offered. */
static const char *address_fault(const struct call_interfaces *from, int at, const struct call_cards *cards)
{
    if (from->address[at].unsettled)
        return "not used: the address is tentative, temporary or deprecated";
    if (call_address_special(&from->address[at].address))
        return "not used: a loopback, link-local or otherwise special address";
    return cards->count == CALL_CARDS ? "not used: there are enough better ones"
                                     : "not used: one address of a kind is enough for a card";
}

/* What the card carries of all that is sent. */
static const char *split_text(const struct call_reporter *to, const struct call_card *card, char out[48])
{
    uint64_t all = 0;
    out[0] = '\0';
    for (int i = 0; i < CALL_CARDS && to->sent; i++)
        all += to->sent[i];
    if (all > 0)
        snprintf(out, 48, ", %.1f MB sent by jobs now (%.0f %%)", (double)to->sent[card->ordinal] / 1e6,
                 100.0 * (double)to->sent[card->ordinal] / (double)all);
    return out;
}

static void report_address(const struct call_reporter *to, const struct call_interfaces *from, int at,
                           const struct call_interface *interface, const struct call_cards *cards)
{
    char address[INET6_ADDRSTRLEN + 8], speed[16], split[48];
    const char *fault = call_interface_fault(interface);
    const struct call_card *card = call_card_of(cards, &from->address[at].address);
    snprintf(address, sizeof(address), "%s/%u", call_address_text(&from->address[at].address).text,
             from->address[at].prefix);
    report_line(to, "%-15s %-10s %-9s %-28s %s%s%s", interface->name, call_interface_kind(interface),
                speed_text(interface->speed, speed), address, fault ? "not used: " : "",
                fault                 ? fault
                : !card               ? address_fault(from, at, cards)
                : interface->loopback ? "used between ranks of this host"
                                      : "used",
                !fault && card ? split_text(to, card, split) : "");
}

static void report_interface(const struct call_reporter *to, const struct call_interfaces *from,
                             const struct call_interface *interface, const struct call_cards *cards)
{
    const char *fault = call_interface_fault(interface);
    char speed[16];
    bool any = false;
    for (int i = 0; i < from->addresses; i++)
        if (from->address[i].index == interface->index) {
            any = true;
            report_address(to, from, i, interface, cards);
        }
    if (!any)
        report_line(to, "%-15s %-10s %-9s %-28s not used: %s", interface->name, call_interface_kind(interface),
                    speed_text(interface->speed, speed), "-", fault ? fault : "it has no address");
}

int call_report_host(const struct call_reporter *to)
{
    struct call_interfaces *from = malloc(sizeof(*from));
    struct call_cards cards;
    int error = from ? call_interfaces_read(from) : vbase_fail(ERR_MEMORY, "the list of interfaces");
    if (!error) {
        call_cards_choose(from, &cards);
        report_line(to, "%-15s %-10s %-9s %-28s", "interface", "kind", "speed", "address");
        for (int i = 0; i < from->count; i++)
            report_interface(to, from, &from->interface[i], &cards);
    }
    free(from);
    return error;
}

/* ---- the ways to a peer ------------------------------------------------------------------------------------------ */

static void report_connected(const struct call_reporter *to, const struct call_rail *rail)
{
    struct vi_state state;
    if (!rail->vi || vi_query(&rail->vi->vi, &state) != OK)
        report_line(to, "rail %u: up, and not taken by anybody yet", rail->number);
    else
        report_line(to, "rail %u: %s: used, round trip %.0f us, %.2f GB/s lately%s", rail->number, rail->vi->path,
                    state.round_trip_ns / 1e3, (double)state.rate / 1e9, rail->vi == rail->peer->vi ? ", carries" : "");
}

static void report_rail(const struct call_reporter *to, const struct call_rail *rail)
{
    if (rail->link) {
        report_connected(to, rail);
        return;
    }
    report_line(to, "rail %u: %s %s - %s: not used: %s", rail->number, rail->pair.mine.name,
                call_address_text(&rail->pair.mine.address).text, call_address_text(&rail->pair.theirs.address).text,
                rail->attempts > 0                 ? call_rail_last(rail)
                : rail->dial                       ? "no answer yet"
                : rail - rail->peer->rail >= rail->peer->most ? "it shares its cards with better ones"
                                                   : "not called yet");
}

void call_report_peer(struct vi_nic *base, uint32_t rank, const struct call_reporter *to)
{
    struct call_nic *nic = (struct call_nic *)(void *)base;
    const struct call_peer *peer = rank < nic->ranks ? nic->peers[rank] : NULL;
    for (uint32_t i = 0; peer && i < CALL_PAIRS; i++)
        if (i < peer->pairs || peer->rail[i].link)
            report_rail(to, &peer->rail[i]);
}
