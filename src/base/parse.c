/* Reading one value from text, the nearest name, and patterns of names.
 *
 * Pure functions: no state, no allocation. Numbers with a unit are computed exactly in 128 bits, so that "0.1us" is 100
 * and what does not fit is an error, never a wrapped value. */
#include "base/base.h"
#include <ctype.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_unit[] = {
    {"", 1},           {"B", 1},           {"K", 1 << 10},    {"KB", 1 << 10},     {"KiB", 1 << 10}, {"M", 1 << 20},
    {"MB", 1 << 20},   {"MiB", 1 << 20},   {"G", 1 << 30},    {"GB", 1 << 30},     {"GiB", 1 << 30}, {"T", 1ull << 40},
    {"TB", 1ull << 40}, {"TiB", 1ull << 40}};
static const struct unit time_unit[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static const char *const expected[] = {
    [SETTING_BOOL] = "yes, no, on, off, true, false, 1 or 0",
    [SETTING_SIZE] = "a number with B, K, M, G or T, like 16K",
    [SETTING_TIME] = "a number with ns, us, ms or s, like 2us",
    [SETTING_TEXT] = "a text",
};

static bool bool_parse(const char *text, size_t length, bool *out)
{
    static const char *const word[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < ARRAY_LENGTH(word); i++)
        if (strlen(word[i]) == length && strncasecmp(text, word[i], length) == 0) {
            *out = i % 2;
            return true;
        }
    return false;
}

static const struct unit *unit_find(const struct unit *unit, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(unit[i].name) == length && strncasecmp(text, unit[i].name, length) == 0)
            return &unit[i];
    return NULL;
}

/* Digits, perhaps a point and up to nine more, spaces, a unit. */
static bool scaled_parse(const char *text, size_t length, enum base_setting_type type, uint64_t *out)
{
    unsigned __int128 value = 0, divisor = 1;
    size_t i = 0, digits = 0;
    bool point = false;
    for (; i < length && (isdigit((unsigned char)text[i]) || (text[i] == '.' && !point)); i++) {
        if (text[i] == '.') {
            point = true;
            continue;
        }
        value = value * 10 + (unsigned)(text[i] - '0');
        divisor *= point ? 10 : 1;
        digits++;
        if (value > UINT64_MAX || divisor > 1000000000)
            return false;
    }
    if (digits == 0 || text[i - 1] == '.')
        return false;
    while (i < length && isspace((unsigned char)text[i]))
        i++;
    static const struct unit nothing = {"", 1};
    const struct unit *unit = type == SETTING_SIZE
                                  ? unit_find(size_unit, ARRAY_LENGTH(size_unit), text + i, length - i)
                                  : unit_find(time_unit, ARRAY_LENGTH(time_unit), text + i, length - i);
    if (!unit && type == SETTING_TIME && i == length && value == 0)
        unit = &nothing; /* 0 is the same in every unit; any other number needs one */
    if (!unit || (value * unit->factor) % divisor != 0 || value * unit->factor / divisor > UINT64_MAX)
        return false;
    *out = (uint64_t)(value * unit->factor / divisor);
    return true;
}

int vbase_setting_parse(enum base_setting_type type, const char *text, void *out)
{
    if (type == SETTING_TEXT) {
        *(const char **)out = *text ? text : NULL;
        return OK;
    }
    const char *from = text;
    while (isspace((unsigned char)*from))
        from++;
    size_t length = strlen(from);
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    bool good = type == SETTING_BOOL ? bool_parse(from, length, out) : scaled_parse(from, length, type, out);
    return good ? OK : vbase_fail(ERR_ARGUMENT, "expected %s", expected[type]);
}

/* Letters to insert, remove, replace or swap with a neighbour to turn A into B. Both are shorter than NEAR_LENGTH. */
#define NEAR_LENGTH 64
static unsigned name_distance(const char *a, const char *b)
{
    unsigned row[3][NEAR_LENGTH + 1]; /* row i lies in i % 3 */
    size_t n = strlen(b);
    for (unsigned j = 0; j <= n; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= strlen(a); i++) {
        unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned best = before[j - 1] + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[strlen(a) % 3][n];
}

const char *vbase_name_nearest(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    if (strlen(name) >= NEAR_LENGTH)
        return NULL;
    unsigned best = (unsigned)(strlen(name) + 1) / 3; /* a letter wrong in every three is near, more is another name */
    for (size_t i = 0; i < count; i++) {
        unsigned d = strlen(names[i]) < NEAR_LENGTH ? name_distance(name, names[i]) : best + 1;
        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}

size_t vbase_expand(char *out, size_t size, const char *pattern, int rank, const char *host)
{
    size_t used = 0;
    for (const char *at = pattern; *at && used < size; at++) {
        size_t room = size - used;
        if (*at != '%' || !at[1] || !strchr("rhg", at[1]))
            used += (size_t)snprintf(out + used, room, "%c", *at);
        else if (*++at == 'h')
            used += (size_t)snprintf(out + used, room, "%s", host);
        else
            used += (size_t)snprintf(out + used, room, "%d", *at == 'r' ? rank : 0);
    }
    return used;
}

bool vbase_list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ',') && (p[n] == 0 || p[n] == ','))
            return true;
    return false;
}
