/* The command line: parts apart by ":", flags with one dash or two, "--flag value" or "--flag=value", files of parts.
 */
#include "run/flags.h"
#include <ctype.h>

static void new_app(struct reader *reader)
{
    struct run_options *options = reader->options;
    options->app = run_grown(options->app, options->apps, sizeof *options->app);
    reader->app = &options->app[options->apps++];
    *reader->app = (struct run_app){0};
}

/* Words of one line or of the command line itself: parts apart by ":". */
static int read_words(struct reader *reader, char **word, int count)
{
    for (int at = 0; at < count;) {
        int used = 1, error = OK;
        if (strcmp(word[at], ":") == 0) {
            if (reader->app->argv) /* else flags before the first colon, no program: they were for all */
                new_app(reader);
        } else if (word[at][0] == '-' && word[at][1]) {
            if (strcmp(word[at], "--") != 0)
                error = flag_read(reader, word + at, count - at, &used);
        } else {
            int end = at;
            while (end < count && strcmp(word[end], ":") != 0)
                end++;
            reader->app->argv = run_zeros((size_t)(end - at) + 1, sizeof(char *));
            memcpy(reader->app->argv, word + at, (size_t)(end - at) * sizeof(char *));
            used = end - at;
        }
        if (error != OK)
            return error;
        at += used;
    }
    return OK;
}

/* A line of a configuration file to words: blanks apart, quotes of both kinds, backslash. */
static int split(char *line, char ***out)
{
    char **word = run_zeros(strlen(line) + 1, sizeof *word), *write = line;
    int count = 0;
    for (char *read = line; *read;) {
        while (isspace((unsigned char)*read))
            read++;
        if (!*read || *read == '#')
            break;
        word[count++] = write;
        for (char quote = 0; *read && (quote || !isspace((unsigned char)*read)); read++) {
            if (!quote && (*read == '"' || *read == '\''))
                quote = *read;
            else if (quote == *read)
                quote = 0;
            else
                *write++ = *read == '\\' && quote != '\'' && read[1] ? *++read : *read;
        }
        bool more = *read != 0;
        read += more;
        *write++ = 0;
    }
    *out = word;
    return count;
}

/* A file of parts, one a line. The words live as long as we do. */
int options_read_file(struct reader *reader, char **word)
{
    FILE *file = fopen(word[0], "re");
    char *line = NULL;
    size_t size = 0;
    int error = OK;
    if (!file)
        return vbase_fail(ERR_ARGUMENT, "%s %s: cannot read it", reader->flag, word[0]);
    if (reader->depth++ > 0)
        error = vbase_fail(ERR_ARGUMENT, "%s %s: a file in a file", reader->flag, word[0]);
    while (error == OK && getline(&line, &size, file) > 0) {
        char **words, *copy = strdup(line); /* the words stay in it for good */
        int count = split(copy, &words);
        if (count == 0)
            free(copy);
        if (count > 0 && reader->app->argv)
            new_app(reader);
        if (count > 0)
            error = read_words(reader, words, count);
        free(words);
    }
    reader->depth--;
    free(line);
    fclose(file);
    return error;
}

/* Where no host is named on the command line: the file that schedulers and operators name for other launchers. */
static int default_hosts(struct reader *reader)
{
    static const char *const names[] = {"HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"};
    for (size_t i = 0; i < ARRAY_LENGTH(names) && reader->options->hosts == 0; i++) {
        char *file = (char *)(uintptr_t)vbase_environment(names[i]);
        int error = file && *file ? hosts_read_file(reader, &file) : OK;
        if (error != OK)
            return error;
    }
    return OK;
}

int options_read(struct run_options *options, int argc, char **argv)
{
    struct reader reader = {.options = options};
    const char *limit = vbase_environment("MPIEXEC_TIMEOUT");
    int error = OK;
    *options = (struct run_options){.told = options->told};
    if (limit && *limit) {
        char *text = strdup(limit);
        reader.flag = "MPIEXEC_TIMEOUT";
        error = flag_take_timeout(&reader, &text);
        free(text);
    }
    new_app(&reader);
    if (error == OK)
        error = read_words(&reader, argv + 1, argc - 1);
    reader.app = options->app;
    if (error == OK)
        error = default_hosts(&reader);
    if (error != OK)
        return error;
    for (int i = 0; i < options->apps; i++) {
        struct run_app *app = &options->app[i];
        if (!app->argv)
            return vbase_fail(ERR_ARGUMENT, "no program to start; usage: %s -n 4 ./program [...]; --help tells more",
                              argv[0]);
        if (app->count == 0) /* nobody said: what hosts or -ppn offer, else one */
            app->count = hosts_slots(options, app);
    }
    return OK;
}
