/* One value from text: what is understood, what is refused, and that a refused value is not written. Then a million
 * random texts against a slow reading of the same grammar. The nearest name.
 * takes: 7 */
#include "base/error.h"
#include "base/settings.h"
#include "check.h"
#include <ctype.h>
#include <inttypes.h>

static void good_number(enum base_setting_type type, const char *text, uint64_t want)
{
    uint64_t got = 0xdeadbeef;
    int status = vbase_setting_parse(type, text, &got);
    if (status || got != want) {
        fprintf(stderr, "\"%s\": status %d, %" PRIu64 " and not %" PRIu64 "\n", text, status, got, want);
        check_failed++;
    }
}

static void refused(enum base_setting_type type, const char *text)
{
    uint64_t got = 0xdeadbeefdeadbeefull;
    int status = vbase_setting_parse(type, text, &got);
    if (status != ERR_ARGUMENT || got != 0xdeadbeefdeadbeefull) {
        fprintf(stderr, "\"%s\" was not refused: status %d, value %" PRIu64 "\n", text, status, got);
        check_failed++;
    }
    CHECK(strstr(vbase_error_detail(), "expected ") == vbase_error_detail());
}

static void numbers(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } size[] = {{"0", 0},          {"16K", 16384},        {"16k", 16384},      {"16 KiB", 16384},
                {" 1M\t", 1 << 20}, {"1.5G", 3ull << 29}, {"0.5k", 512},       {"2T", 2ull << 40},
                {"7B", 7},         {"007", 7},            {"18446744073709551615", UINT64_MAX}, {".5K", 512}},
      time[] = {{"0", 0},        {"2us", 2000},  {"2 US", 2000},       {"0.1us", 100},
                {"1ms", 1000000}, {"3s", 3000000000ull}, {"0.000000001s", 1}};
    for (size_t i = 0; i < ARRAY_LENGTH(size); i++)
        good_number(SETTING_SIZE, size[i].text, size[i].value);
    for (size_t i = 0; i < ARRAY_LENGTH(time); i++)
        good_number(SETTING_TIME, time[i].text, time[i].value);

    static const char *const no_size[] = {"", " ", "K", "-1", "1Q", "1KK", "1 2", "0x10", "1.2.3K", "1.", ".", "0.3K",
                                          "18446744073709551616", "16777216T", "1e3", "+1", "1,5K", "nan", "K16"};
    static const char *const no_time[] = {"", "5", "1.25ns", "1m", "us", "-1s", "18446744074s", "1us2", "1 u s"};
    for (size_t i = 0; i < ARRAY_LENGTH(no_size); i++)
        refused(SETTING_SIZE, no_size[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(no_time); i++)
        refused(SETTING_TIME, no_time[i]);
    char longest[300] = "0.";
    memset(longest + 2, '0', sizeof(longest) - 3);
    refused(SETTING_SIZE, longest); /* its divisor would not fit in any number */
    memset(longest, '9', sizeof(longest) - 1);
    refused(SETTING_SIZE, longest);
}

static void truth(void)
{
    static const char *const yes[] = {"yes", "YES", "on", "On", "true", "1", " yes "};
    static const char *const no[] = {"no", "off", "FALSE", "0"};
    static const char *const neither[] = {"", "2", "y", "yess", "ye s", "01", "onoff"};
    for (size_t i = 0; i < ARRAY_LENGTH(yes); i++) {
        bool value = false;
        CHECK_EQUAL(vbase_setting_parse(SETTING_BOOL, yes[i], &value), OK);
        CHECK(value);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(no); i++) {
        bool value = true;
        CHECK_EQUAL(vbase_setting_parse(SETTING_BOOL, no[i], &value), OK);
        CHECK(!value);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(neither); i++)
        refused(SETTING_BOOL, neither[i]);
}

static void text(void)
{
    const char *value = "x";
    CHECK_EQUAL(vbase_setting_parse(SETTING_TEXT, "", &value), OK);
    CHECK(value == NULL);
    CHECK_EQUAL(vbase_setting_parse(SETTING_TEXT, " a b ", &value), OK);
    CHECK_TEXT(value, " a b ");
}

static uint64_t random_state = 88172645463325252ull;
static unsigned random_below(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}

/* The grammar once more, in long double and by hand: -1 refused, -2 too near to the edges to judge, else the value. */
static long double slow_reading(enum base_setting_type type, const char *t)
{
    char unit[32], *end;
    size_t digits = 0, points = 0, n = 0;
    while (isspace((unsigned char)*t))
        t++;
    const char *number = t;
    for (; isdigit((unsigned char)*t) || *t == '.'; t++)
        *t == '.' ? points++ : digits++;
    if (digits == 0 || points > 1 || t[-1] == '.')
        return -1;
    if (digits > 9)
        return -2;
    long double value = strtold(number, &end);
    if (end != t)
        return -2; /* strtold went on into what we take for a unit */
    while (isspace((unsigned char)*t))
        t++;
    for (; t[n] && n < sizeof(unit) - 1; n++)
        unit[n] = (char)tolower((unsigned char)t[n]);
    while (n > 0 && isspace((unsigned char)unit[n - 1]))
        n--;
    unit[n] = 0;
    long double factor = 0;
    if (type == SETTING_TIME) {
        factor = !strcmp(unit, "ns") ? 1 : !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "s") ? 1e9 : 0;
        factor = !*unit && value == 0 ? 1 : factor;
    } else {
        static const char letters[] = "kmgt";
        const char *letter = *unit ? strchr(letters, *unit) : NULL;
        const char *rest = letter ? unit + 1 : unit;
        if (!*rest || !strcmp(rest, "b") || (letter && !strcmp(rest, "ib")))
            factor = letter ? (long double)(1ull << 10 * (letter - letters + 1)) : 1;
    }
    if (factor == 0)
        return -1;
    long double product = value * factor;
    long double whole = (long double)(uint64_t)(product + 0.5L), off = product < whole ? whole - product : product - whole;
    if (off > product * 1e-18L + 1e-12L)
        return -1; /* half a byte */
    return off == 0 ? whole : -2;
}

/* Texts made of what the grammar is made of, and of noise: never a crash, never a wrong value, never a half-written one. */
static void random_texts(void)
{
    static const char pieces[] = "0123456789..KkMmGgTtBbiIunsUNS  -+eEx\t\xff%";
    int understood = 0, judged = 0;
    for (int i = 0; i < 1000000 && check_failed < 10; i++) {
        char t[24];
        unsigned n = random_below(sizeof(t) - 1);
        for (unsigned j = 0; j < n; j++)
            t[j] = j < n / 2 ? (char)('0' + random_below(10)) : pieces[random_below(sizeof(pieces) - 1)];
        t[n] = 0;
        enum base_setting_type type = random_below(2) ? SETTING_SIZE : SETTING_TIME;
        uint64_t value = 0xdeadbeefdeadbeefull;
        int status = vbase_setting_parse(type, t, &value);
        long double want = slow_reading(type, t);
        if (status != OK)
            CHECK(status == ERR_ARGUMENT && value == 0xdeadbeefdeadbeefull);
        if (want == -2)
            continue;
        judged++;
        understood += status == OK;
        if ((status == OK) != (want >= 0) || (status == OK && (long double)value != want)) {
            fprintf(stderr, "\"%s\" as %s: status %d, %" PRIu64 ", should be %.0Lf\n", t, type == SETTING_SIZE ? "size" : "time",
                    status, value, want);
            check_failed++;
        }
        bool flag;
        (void)!vbase_setting_parse(SETTING_BOOL, t, &flag);
    }
    CHECK(understood > 10000 && judged > 100000);
}

static void nearest(void)
{
    static const char *const names[] = {"spin", "single_copy", "transports", "log", "log_file"};
    static const struct {
        const char *name, *near;
    } pair[] = {{"spinn", "spin"}, {"sipn", "spin"},      {"pin", "spin"},      {"spin", "spin"}, {"singel_copy", "single_copy"},
                {"transport", "transports"}, {"TRANSPORTS", "transports"}, {"logfile", "log_file"}};
    for (size_t i = 0; i < ARRAY_LENGTH(pair); i++) {
        const char *near = vbase_name_nearest(pair[i].name, names, ARRAY_LENGTH(names));
        CHECK_TEXT(near ? near : "none", pair[i].near);
    }
    CHECK(vbase_name_nearest("x", names, ARRAY_LENGTH(names)) == NULL);
    CHECK(vbase_name_nearest("", names, ARRAY_LENGTH(names)) == NULL);
    CHECK(vbase_name_nearest("completely_else", names, ARRAY_LENGTH(names)) == NULL);
    char longest[1000];
    memset(longest, 's', sizeof(longest));
    longest[999] = 0;
    CHECK(vbase_name_nearest(longest, names, ARRAY_LENGTH(names)) == NULL);
    for (int i = 0; i < 100000; i++) { /* any two names, for the sanitizers */
        char a[70], b[70];
        unsigned n = random_below(70), m = random_below(70);
        for (unsigned j = 0; j < 70; j++) {
            a[j] = j < n ? (char)(1 + random_below(255)) : 0;
            b[j] = j < m ? (char)(1 + random_below(255)) : 0;
        }
        a[69] = b[69] = 0;
        const char *one = b;
        const char *found = vbase_name_nearest(a, &one, 1);
        CHECK(found == NULL || found == b);
    }
}

int main(void)
{
    numbers();
    truth();
    text();
    random_texts();
    nearest();
    return check_done();
}
