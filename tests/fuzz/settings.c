/* Values of settings, and patterns of file names. */
#include "fuzz.h"
#include "base/settings.h"
#include "check.h"

int FUZZ(const uint8_t *data, size_t size)
{
    union {
        bool a_bool;
        uint64_t number;
        const char *text;
    } value;
    char out[64];
    fuzz_begin(data, size);
    char *text = fuzz_text();
    static const char *const names[] = {"eager", "single_copy", "window"};
    for (int type = SETTING_BOOL; type <= SETTING_TEXT; type++)
        if (vbase_setting_parse((enum base_setting_type)type, text, &value) > 0)
            abort();
    (void)vbase_name_nearest(text, names, 3);
    (void)vbase_expand(out, sizeof out, text, 1234567, "host");
    if (memchr(out, 0, sizeof out) == NULL)
        abort();
    free(text);
    return 0;
}
