/* The variable by which a sockets program leaves its unread bytes to the next one: any text. */
#include "fuzz.h"
#include "check.h"
#include "../../src/sock/inherit.c"

int FUZZ(const uint8_t *data, size_t size)
{
    static struct left all[TEXT / 4];
    int memory = 0;
    fuzz_begin(data, size);
    char *text = fuzz_text();
    memset(all, 0xA5, sizeof all);
    size_t count = text_read(text, &memory, all);
    CHECK(count <= ARRAY_LENGTH(all));
    for (size_t i = 0; i < count; i++)
        CHECK(all[i].cookie && !all[i].file);
    free(text);
    if (check_failed)
        abort();
    return 0;
}
