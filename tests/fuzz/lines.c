/* Lines of PMI as client and server read them: from a pipe, in pieces; keys, texts and numbers in them. */
#include "fuzz.h"
#include "base/error.h"
#include "boot/line.h"
#include "check.h"
#include <unistd.h>

static void look(const char *line)
{
    static const char *const keys[] = {"cmd", "key", "value", "rc", "kvsname", "exitcode", "a"};
    char text[40];
    int number;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        if (vboot_line_text(line, keys[i], text, sizeof text) && strlen(text) >= sizeof text)
            abort();
        number = 0;
        if (!vboot_line_int(line, keys[i], &number) && number)
            abort();
        (void)vboot_line_is(line, keys[i]);
    }
    number = 0;
    if (!vboot_number(line, &number) && number)
        abort(); /* outputs are written only on success */
}

int FUZZ(const uint8_t *data, size_t size)
{
    static struct boot_lines lines;
    int ends[2];
    if (size > 60000 || pipe(ends) != 0)
        return 0;
    memset(&lines, 0, sizeof lines);
    if (write(ends[1], data, size) != (ssize_t)size)
        abort();
    close(ends[1]);
    while (vboot_lines_fill(&lines, ends[0]) > 0)
        for (const char *line; (line = vboot_lines_next(&lines));)
            look(line);
    close(ends[0]);
    return 0;
}
