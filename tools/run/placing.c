/* The words of the command line that say where ranks go: which hosts in turn, which processors, in which order they get
 * their numbers. bind.c and hosts.c do what they say. */
#include "boot/line.h"
#include "run/flags.h"
#include <strings.h>

/* What a flag may say: --bind-to, --map-by, --rank-by. */
enum where { FOR_BIND = 1, FOR_MAP = 2, FOR_RANK = 4, FOR_ALL = 7 };

static const struct {
    const char *name;
    enum run_by by;
    int where;
} words[] = {
    {"none", BY_NONE, FOR_BIND},        {"hwthread", BY_HWTHREAD, FOR_ALL}, {"thread", BY_HWTHREAD, FOR_ALL},
    {"cpu", BY_HWTHREAD, FOR_ALL},      {"cpu-list", BY_HWTHREAD, FOR_BIND}, {"core", BY_CORE, FOR_ALL},
    {"l1cache", BY_CORE, FOR_ALL},      {"l1", BY_CORE, FOR_ALL},           {"l2", BY_L2, FOR_ALL},
    {"l2cache", BY_L2, FOR_ALL},        {"l3", BY_L3, FOR_ALL},             {"l3cache", BY_L3, FOR_ALL},
    {"numa", BY_NUMA, FOR_ALL},         {"socket", BY_SOCKET, FOR_ALL},     {"package", BY_SOCKET, FOR_ALL},
    {"board", BY_BOARD, FOR_ALL},       {"machine", BY_BOARD, FOR_ALL},     {"node", BY_BOARD, FOR_BIND},
    {"node", BY_NODE, FOR_MAP | FOR_RANK}, {"slot", BY_CORE, FOR_BIND},     {"slot", BY_SLOT, FOR_MAP | FOR_RANK},
    {"rr", BY_CORE, FOR_BIND | FOR_MAP}, {"fill", BY_SLOT, FOR_RANK},
};

/* What may follow the word, after a colon: what we do anyway, but for the numbers. */
static const char *const modifiers[] = {"span",     "oversubscribe", "overload-allowed", "if-supported", "ordered",
                                        "corecpus", "inherit",       "noinherit",        "fill"};

static bool word_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

static int by_read(struct reader *reader, const char *text, size_t length, enum where where, enum run_by *by)
{
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (words[i].where & where && word_is(text, length, words[i].name)) {
            *by = words[i].by;
            return OK;
        }
    return flag_wrong(reader, text,
                      where == FOR_BIND ? "none, hwthread, core, l2, l3, numa, socket or board; core:2 for two of them"
                                        : "slot, hwthread, core, l2, l3, numa, socket, board or node");
}

/* "PE=2,span:oversubscribe"; of --bind-to also a number, of units. */
static int modifiers_read(struct reader *reader, const char *whole, const char *text, enum where where)
{
    struct run_placing *placing = &reader->options->placing;
    for (size_t length; *text; text += length + (text[length] != 0)) {
        bool known = false, pe = strncasecmp(text, "pe=", 3) == 0;
        length = strcspn(text, ",:");
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)length - (pe ? 3 : 0), text + (pe ? 3 : 0));
        for (size_t i = 0; i < ARRAY_LENGTH(modifiers); i++)
            known |= word_is(text, length, modifiers[i]);
        if ((pe && where == FOR_MAP) || (where == FOR_BIND && strspn(word, "0123456789") == length))
            known = vboot_number(word, &placing->width) && placing->width > 0;
        else if (word_is(text, length, "nooversubscribe"))
            known = reader->options->slots_limit = true;
        else if (word_is(text, length, "hwtcpus"))
            known = placing->threads = true;
        if (!known)
            return flag_wrong(reader, whole,
                              where == FOR_MAP ? "PE=N, span, oversubscribe, nooversubscribe or hwtcpus after the colon"
                                               : "a number, overload-allowed, if-supported or ordered after the colon");
    }
    return OK;
}

static int placing_read(struct reader *reader, char *text, enum where where, enum run_by *by)
{
    size_t length = strcspn(text, ":");
    int error = length || where != FOR_MAP ? by_read(reader, text, length, where, by) : OK;
    return error ?: text[length] ? modifiers_read(reader, text, text + length + 1, where) : OK;
}

int placing_take_bind(struct reader *reader, char **word)
{
    return placing_read(reader, word[0], FOR_BIND, &reader->options->placing.bind);
}

int placing_take_rank(struct reader *reader, char **word)
{
    return placing_read(reader, word[0], FOR_RANK, &reader->options->placing.rank);
}

/* "2:node:PE=4": ranks per host. */
int placing_take_ppr(struct reader *reader, char **word)
{
    static const char node[] = ":node";
    char *end;
    long count = strtol(word[0], &end, 10);
    bool good = end > word[0] && count > 0 && count < INT32_MAX && strncasecmp(end, node, strlen(node)) == 0;
    end += good ? strlen(node) : 0;
    if (!good || (*end && *end != ':'))
        return flag_wrong(reader, word[0], "ppr:N:node, which may be followed by :PE=N");
    reader->options->per_node = (int)count;
    return *end ? modifiers_read(reader, word[0], end + 1, FOR_MAP) : OK;
}

int placing_take_map(struct reader *reader, char **word)
{
    if (strncasecmp(word[0], "ppr:", 4) == 0)
        return placing_take_ppr(reader, (char *[]){word[0] + 4});
    return placing_read(reader, word[0], FOR_MAP, &reader->options->placing.map);
}
