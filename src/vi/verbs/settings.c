/* VIADUCT_VERBS: what connections ask of the network, one NAME:NUMBER for each. Read when a nic is opened and by the
 * tools; what makes no sense ends the program before that (vi_settings_check). */
#include "vi/verbs/verbs.h"

static const struct wish {
    const char *name;
    unsigned long most;
} wishes[] = {{"level", 15}, {"class", 255}, {"key", 0x7fff}, {"gid", VERBS_GIDS - 1}};

/* What follows the wish at AT; NULL: it makes no sense. */
static const char *wish_read(const char *at, unsigned long value[ARRAY_LENGTH(wishes)])
{
    for (size_t i = 0; i < ARRAY_LENGTH(wishes); i++) {
        size_t length = strlen(wishes[i].name);
        const char *number = at + length + 1;
        char *end;
        if (strncmp(at, wishes[i].name, length) != 0 || at[length] != ':' || number[strspn(number, "+- ")] != *number)
            continue;
        value[i] = strtoul(number, &end, 0);
        bool well = end != number && (*end == ' ' || *end == '\0') && value[i] <= wishes[i].most;
        return well ? end : NULL;
    }
    return NULL;
}

int verbs_settings_read(struct verbs_settings *out)
{
    unsigned long value[ARRAY_LENGTH(wishes)] = {0, 0, 0, VERBS_GIDS};
    for (const char *at = vbase_settings.verbs; at && *(at += strspn(at, " "));)
        if (!(at = wish_read(at, value)))
            return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for VIADUCT_VERBS: expected level:0-15 class:0-255 "
                              "key:0-0x7fff gid:0-%d, with spaces between", vbase_settings.verbs, VERBS_GIDS - 1);
    *out = (struct verbs_settings){.level = (uint8_t)value[0], .class = (uint8_t)value[1], .key = (uint16_t)value[2],
                                   .gid = (uint32_t)value[3]};
    return OK;
}

int verbs_settings_check(void)
{
    struct verbs_settings settings;
    return verbs_settings_read(&settings);
}
