/* Lines of the PMI wire; see line.h. */
#include "boot/line.h"

long vboot_lines_fill(struct boot_lines *lines, int fd)
{
    if (lines->start > 0) {
        memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    size_t room = sizeof lines->data - lines->end;
    if (room == 0)
        return vbase_fail(ERR_PROTOCOL, "a PMI line is longer than %zu bytes", sizeof lines->data);
    ssize_t got;
    do
        got = read(fd, lines->data + lines->end, room);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        lines->end += (size_t)got;
    return got;
}

const char *vboot_lines_next(struct boot_lines *lines)
{
    char *line = lines->data + lines->start;
    char *end = memchr(line, '\n', lines->end - lines->start);
    if (!end)
        return NULL;
    *end = 0;
    lines->start = (size_t)(end - lines->data) + 1;
    return line;
}

/* Where the value of KEY begins, and its length. */
static const char *value_find(const char *line, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    for (const char *token = line; *token;) {
        size_t token_length = strcspn(token, " \t\r");
        if (token_length > key_length && token[key_length] == '=' && memcmp(token, key, key_length) == 0) {
            *length = token_length - key_length - 1;
            return token + key_length + 1;
        }
        token += token_length;
        token += strspn(token, " \t\r");
    }
    return NULL;
}

bool vboot_line_text(const char *line, const char *key, char *value, size_t size)
{
    size_t length;
    const char *found = value_find(line, key, &length);
    if (!found || length >= size)
        return false;
    memcpy(value, found, length);
    value[length] = 0;
    return true;
}

bool vboot_line_int(const char *line, const char *key, int *value)
{
    char text[16];
    return vboot_line_text(line, key, text, sizeof text) && vboot_number(text, value);
}

bool vboot_line_is(const char *line, const char *name)
{
    size_t length;
    const char *found = value_find(line, "cmd", &length);
    return found && length == strlen(name) && memcmp(found, name, length) == 0;
}

bool vboot_number(const char *text, int *value)
{
    char *end;
    if (*text != '-' && (*text < '0' || *text > '9'))
        return false;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < INT_MIN || number > INT_MAX)
        return false;
    *value = (int)number;
    return true;
}
