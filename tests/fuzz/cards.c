/* A business card of a process on another host; what is understood says the same when it is written. */
#include "fuzz.h"
#include "base/error.h"
#include "check.h"
#include "vi/tcp/cards.h"

int FUZZ(const uint8_t *data, size_t size)
{
    struct tcp_cards cards, again;
    struct tcp_pair pair[TCP_PAIRS];
    char written[TCP_CARD_TEXT], twice[TCP_CARD_TEXT];
    int rails;
    fuzz_begin(data, size);
    char *text = fuzz_text();
    memset(&cards, 0, sizeof cards);
    if (tcp_cards_parse(text, &cards) == OK && tcp_cards_write(&cards, written, sizeof written) == OK) {
        if (tcp_cards_parse(written, &again) != OK || tcp_cards_write(&again, twice, sizeof twice) != OK ||
            strcmp(written, twice) != 0)
            abort();
        int pairs = tcp_cards_match(&cards, &again, true, pair, TCP_PAIRS, &rails);
        if (pairs < 0 || pairs > TCP_PAIRS || rails > pairs)
            abort();
    }
    free(text);
    return 0;
}
