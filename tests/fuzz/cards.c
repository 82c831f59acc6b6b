/* A business card of a process on another host; what is understood says the same when it is written. */
#include "fuzz.h"
#include "base/error.h"
#include "check.h"
#include "vi/call/cards.h"

int FUZZ(const uint8_t *data, size_t size)
{
    struct call_cards cards, again;
    struct call_pair pair[CALL_PAIRS];
    char written[CALL_CARD_TEXT], twice[CALL_CARD_TEXT];
    int rails;
    fuzz_begin(data, size);
    char *text = fuzz_text();
    memset(&cards, 0, sizeof cards);
    if (call_cards_parse(text, &cards) == OK && call_cards_write(&cards, written, sizeof written) == OK) {
        if (call_cards_parse(written, &again) != OK || call_cards_write(&again, twice, sizeof twice) != OK ||
            strcmp(written, twice) != 0)
            abort();
        int pairs = call_cards_match(&cards, &again, true, pair, CALL_PAIRS, &rails);
        if (pairs < 0 || pairs > CALL_PAIRS || rails > pairs)
            abort();
    }
    free(text);
    return 0;
}
