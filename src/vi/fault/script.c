/* The fault script: words with commas. A table of words; every value goes through the one parser of settings. */
#include "base/settings.h"
#include "vi/fault/fault.h"

#include <stdlib.h>
#include <string.h>

static bool number(const char *text, uint64_t *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0';
}

static bool percent(const char *text, uint32_t *out)
{
    char *end;
    double value;

    if (*text < '0' || *text > '9')
        return false;
    value = strtod(text, &end);
    if (strcmp(end, "%") != 0 || value > 100)
        return false;
    *out = (uint32_t)(value * 100);
    return true;
}

static bool set_delay(struct fault_script *script, const char *value)
{
    return vbase_setting_parse(SETTING_TIME, value, &script->delay_ns) == OK;
}

static bool set_reorder(struct fault_script *script, const char *value)
{
    return percent(value, &script->reorder);
}

static bool set_refuse(struct fault_script *script, const char *value)
{
    return percent(value, &script->refuse) && script->refuse < 10000;
}

static bool set_late(struct fault_script *script, const char *value)
{
    script->late_put = true;
    return *value == '\0';
}

static bool set_drop(struct fault_script *script, const char *value)
{
    char *end;
    unsigned long peer = strtoul(value, &end, 10);

    script->drop_peer = (uint32_t)peer;
    return end != value && *end == '@' && number(end + 1, &script->drop_at) && script->drop_at > 0;
}

static bool set_die(struct fault_script *script, const char *value)
{
    return number(value, &script->die_at) && script->die_at > 0;
}

static bool set_rank(struct fault_script *script, const char *value)
{
    uint64_t rank;

    if (!number(value, &rank) || rank > INT32_MAX)
        return false;
    script->rank = (int64_t)rank;
    return true;
}

static bool set_seed(struct fault_script *script, const char *value)
{
    return number(value, &script->seed);
}

static const struct {
    const char *name;
    bool (*set)(struct fault_script *script, const char *value);
} words[] = {
    {"delay=", set_delay},         {"reorder=", set_reorder}, {"refuse=", set_refuse}, {"late-put", set_late},
    {"drop-link=", set_drop}, {"die@", set_die},         {"rank=", set_rank},     {"seed=", set_seed},
};

static bool set_word(struct fault_script *script, const char *word)
{
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        size_t length = strlen(words[i].name);
        if (strncmp(word, words[i].name, length) == 0)
            return words[i].set(script, word + length);
    }
    return false;
}

int fault_script_parse(const char *text, struct fault_script *script)
{
    struct fault_script parsed = {.rank = -1, .seed = 1};
    char word[64];

    while (*text) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof(word))
            return vbase_fail(ERR_ARGUMENT, "VIADUCT_FAULT has a word of %zu letters", length);
        memcpy(word, text, length);
        word[length] = '\0';
        if (!set_word(&parsed, word))
            return vbase_fail(ERR_ARGUMENT, "\"%s\" in VIADUCT_FAULT is not understood: delay=TIME, reorder=N%%, refuse=N%%, "
                              "late-put, drop-link=RANK@N, die@N, rank=N and seed=N are", word);
        text += length + (text[length] == ',');
    }
    *script = parsed;
    return OK;
}
