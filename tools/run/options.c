/* The command line: parts apart by ":", flags with one dash or two, "--flag value" or "--flag=value", files of
 * parts. */
#include "run/flags.h"
#include <ctype.h>
#include <fcntl.h>

static void app_add(struct reader *reader)
{
    struct run_options *options = reader->options;
    options->app = run_grown(options->app, options->apps, sizeof *options->app);
    reader->app = &options->app[options->apps++];
    *reader->app = (struct run_app){0};
}

/* No flag of this part was given; hosts are for the parts that name none, too. */
static bool app_is_blank(const struct run_app *app)
{
    return !app->count && !app->directory && !app->path && !app->process_set && !app->set.count && !app->bare;
}

/* Words of one line or of the command line itself: parts apart by ":". */
static int words_read(struct reader *reader, char **word, int count)
{
    for (int at = 0; at < count;) {
        int used = 1, error = OK;
        if (strcmp(word[at], ":") == 0) {
            if (reader->app->argv)
                app_add(reader);
            else if (!app_is_blank(reader->app)) /* else the flags before the first colon were for all */
                error = vbase_fail(ERR_ARGUMENT, "there is no program between the flags of a part and its ':'");
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

/* Does the backslash at AT stand for the letter behind it? As in a shell. */
static bool backslash_quotes(const char *at, char quote)
{
    return *at == '\\' && at[1] && (quote ? quote == '"' && strchr("\"\\$`", at[1]) : true);
}

/* Does the line that ends at END go on? A backslash before the last one would make it a letter. */
static bool line_goes_on(const char *begin, const char *end)
{
    const char *at = end;
    while (at > begin && at[-1] == '\\')
        at--;
    return *end == '\n' && (end - at) % 2 == 1;
}

/* The line at AT with those that it goes on in: all but the last one end with a backslash, a comment with its line. */
static char *line_copy(const char *at, size_t *length)
{
    const char stops[] = {'\n', FILE_END, 0};
    bool comment = at[strspn(at, " \t")] == '#';
    *length = strcspn(at, stops);
    while (!comment && line_goes_on(at, at + *length))
        *length += 1 + strcspn(at + *length + 1, stops);
    char *copy = strndup(at, *length);
    for (char *break_at = copy; break_at && (break_at = strstr(break_at, "\\\n"));)
        memmove(break_at, break_at + 2, strlen(break_at + 2) + 1);
    return copy;
}

/* A line of a configuration file to words: blanks apart, quotes of both kinds, backslash. */
static int line_split(char *line, char ***out)
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
                *write++ = backslash_quotes(read, quote) ? *++read : *read;
        }
        bool more = *read != 0;
        read += more;
        *write++ = 0;
    }
    *out = word;
    return count;
}

/* A file of parts, one a line. The words live as long as we do. A helper has the text from the head. */
int options_read_file(struct reader *reader, char **word)
{
    struct run_options *options = reader->options;
    struct run_bytes text = {0};
    int error = OK, fd = options->told ? -1 : open(word[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0 && !options->told)
        return vbase_fail_errno(ERR_ARGUMENT, "%s: cannot read %s", reader->flag, word[0]);
    if (reader->depth++ > 0)
        error =
            vbase_fail(ERR_ARGUMENT, "%s %s: a file of parts cannot name another file of parts", reader->flag, word[0]);
    while (fd >= 0 && bytes_read(&text, fd))
        ;
    base_close(fd);
    bytes_add(&text, "", 1);
    const char *at = options->told ? options->told_files : text.data;
    while (error == OK && *at && *at != FILE_END) {
        size_t length;
        char **words, *copy = line_copy(at, &length); /* the words stay in it for good */
        int count = line_split(copy, &words);
        at += length + (at[length] == '\n');
        if (count == 0)
            free(copy);
        if (count > 0 && reader->app->argv)
            app_add(reader);
        if (count > 0)
            error = words_read(reader, words, count);
        free(words);
    }
    if (options->told)
        options->told_files = at + (*at == FILE_END);
    else {
        bytes_add(&options->files, text.data, strlen(text.data));
        bytes_add(&options->files, &(char){FILE_END}, 1);
    }
    free(text.data);
    reader->depth--;
    return error;
}

static int agent_take(struct reader *reader, char **word)
{
    reader->options->agent = word[0];
    return OK;
}

/* Variables by which schedulers and operators set options of ours and of other launchers. The first that is set
 * counts. */
static int variables_read(struct reader *reader, const char *const *name,
                          int (*take)(struct reader *reader, char **word))
{
    for (; *name; name++) {
        char *text = (char *)(uintptr_t)vbase_environment(*name);
        reader->flag = *name;
        if (text && *text)
            return take(reader, &text);
    }
    return OK;
}

int options_read(struct run_options *options, int argc, char **argv)
{
    static const char *const limits[] = {"MPIEXEC_TIMEOUT", NULL};
    static const char *const agents[] = {"HYDRA_LAUNCHER_EXEC",
                                         "HYDRA_BOOTSTRAP_EXEC",
                                         "OMPI_MCA_plm_rsh_agent",
                                         "PRTE_MCA_plm_ssh_agent",
                                         "OMPI_MCA_plm_ssh_agent",
                                         "OMPI_MCA_orte_rsh_agent",
                                         NULL};
    static const char *const files[] = {"HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile",
                                        "PRTE_MCA_prte_default_hostfile", NULL};
    struct reader reader = {.options = options};
    *options = (struct run_options){.told = options->told, .told_files = options->told_files};
    int error = variables_read(&reader, limits, flag_take_timeout) ?: variables_read(&reader, agents, agent_take);
    app_add(&reader);
    if (error == OK)
        error = words_read(&reader, argv + 1, argc - 1);
    reader.app = options->app;
    if (error == OK && options->hosts == 0)
        error = variables_read(&reader, files, hosts_read_file);
    if (error == OK)
        error = batch_read(&reader);
    if (error != OK)
        return error;
    for (int i = 0; i < options->apps; i++) {
        struct run_app *app = &options->app[i];
        if (!app->argv)
            return vbase_fail(ERR_ARGUMENT, "no program to start; usage: %s -n 4 ./program [...]; --help tells more",
                              argv[0]);
        if (app->count == 0) /* not given: what hosts or -ppn offer, else one */
            app->count = hosts_slots(options, app);
    }
    return OK;
}
