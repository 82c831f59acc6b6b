/* The fault script: words with commas. Times go through the one parser of settings. */
#include "fault/fault.h"

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
    if (*text < '0' || *text > '9')
        return false;
    double value = strtod(text, &end);
    if (strcmp(end, "%") != 0 || value > 100)
        return false;
    *out = (uint32_t)(value * 100);
    return true;
}

static bool drop_link(const char *text, struct fault_script *script)
{
    char *end;
    unsigned long peer = strtoul(text, &end, 10);
    script->drop_peer = (uint32_t)peer;
    return end != text && *end == '@' && number(end + 1, &script->drop_at) && script->drop_at > 0;
}

/* What follows NAME in WORD; NULL: it begins otherwise. */
static const char *behind(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static bool set_word(struct fault_script *script, const char *word)
{
    const char *value;
    if ((value = behind(word, "delay=")))
        return vbase_setting_parse(SETTING_TIME, value, &script->delay_ns) == OK;
    if ((value = behind(word, "reorder=")))
        return percent(value, &script->reorder);
    if ((value = behind(word, "refuse=")))
        return percent(value, &script->refuse) && script->refuse < 10000;
    if ((value = behind(word, "drop-link=")))
        return drop_link(value, script);
    if ((value = behind(word, "die@")))
        return number(value, &script->die_at) && script->die_at > 0;
    if ((value = behind(word, "rank=")))
        return number(value, &script->rank) && script->rank <= INT32_MAX;
    if ((value = behind(word, "seed=")))
        return number(value, &script->seed);
    if ((value = behind(word, "ghosts=")))
        return number(value, &script->ghosts) && script->ghosts > 0;
    script->late_put |= strcmp(word, "late-put") == 0;
    return strcmp(word, "late-put") == 0;
}

int fault_script_parse(const char *text, struct fault_script *script)
{
    struct fault_script parsed = {.rank = FAULT_ALL_RANKS, .seed = 1};
    char word[64];
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof(word))
            return vbase_fail(ERR_ARGUMENT, "FAULT has a word of %zu letters", length);
        memcpy(word, text, length);
        word[length] = '\0';
        if (!set_word(&parsed, word))
            return vbase_fail(ERR_ARGUMENT, "\"%s\" in FAULT is not understood: delay=TIME, reorder=N%%, refuse=N%%, "
                              "late-put, ghosts=N, drop-link=RANK@N, die@N, rank=N and seed=N are", word);
        text += length + (text[length] == ',');
    }
    *script = parsed;
    return OK;
}
