/* A rank file: a host for each rank, and processors there. "rank 0=h0 slot=1:0-2", "rank 1=+n1 slot=4,6", '#' begins a
 * comment. +n1 is the second of the hosts that were named.
 *
 * The head reads the file and sends its text to the helpers. bind.c reads what stands behind "slot=". */
#include "run/bytes.h"
#include "run/flags.h"
#include <fcntl.h>

static struct run_line *line_at(struct run_options *options, int rank)
{
    while (options->lines <= rank) {
        options->line = run_grown(options->line, options->lines, sizeof *options->line);
        options->line[options->lines++] = (struct run_line){NULL, NULL};
    }
    return &options->line[rank];
}

static int line_wrong(const char *line)
{
    return vbase_fail(ERR_ARGUMENT, "rank file: expected \"rank N=HOST slot=LIST\" in the line \"%s\"", line);
}

/* What follows "slot=", up to a blank; NULL: it is not said. */
static const char *slots_find(char *text)
{
    text += strncmp(text, "slots", 5) == 0 ? 5 : strncmp(text, "slot", 4) == 0 ? 4 : strlen(text);
    text += strspn(text, " \t");
    if (*text != '=')
        return NULL;
    text += strspn(text, "= \t");
    text[strcspn(text, " \t")] = 0;
    return *text ? text : NULL;
}

static int line_read(struct run_options *options, char *line)
{
    int rank, at = 0;
    if (sscanf(line, " rank %d = %n", &rank, &at) < 1 || !at || !line[at] || rank < 0 || rank >= RANKS_MOST)
        return line_wrong(line);
    char *host = line + at, *rest = host + strcspn(host, " \t");
    char *more = rest + strspn(rest, " \t");
    const char *slots = slots_find(more);
    struct run_line *row = line_at(options, rank);
    if (*more && !slots)
        return line_wrong(line);
    if (row->host)
        return vbase_fail(ERR_ARGUMENT, "rank file: two lines name rank %d", rank);
    *rest = 0;
    *row = (struct run_line){host, slots};
    return OK;
}

int rankfile_parse(struct run_options *options, char *text)
{
    int error = OK;
    for (char *line; error == OK && (line = strsep(&text, "\n"));) {
        line[strcspn(line, "#\r")] = 0;
        if (line[strspn(line, " \t")])
            error = line_read(options, line);
    }
    for (int i = 0; i < options->lines && error == OK; i++)
        if (!options->line[i].host)
            error = vbase_fail(ERR_ARGUMENT, "rank file: there is no line for rank %d", i);
    return error;
}

int rankfile_take(struct reader *reader, char **word)
{
    struct run_options *options = reader->options;
    struct run_bytes text = {0};
    if (options->told)
        return OK; /* its text comes from the head */
    int fd = open(word[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return vbase_fail_errno(ERR_ARGUMENT, "cannot read the rank file %s", word[0]);
    while (bytes_read(&text, fd))
        ;
    close(fd);
    bytes_add(&text, "", 1);
    options->rankfile = text.data;
    int error = rankfile_parse(options, strdup(text.data)); /* the words stay in it */
    if (error == OK && options->lines == 0)
        error = vbase_fail(ERR_ARGUMENT, "the rank file %s names no rank", word[0]);
    return error;
}
