/* The flags of the launcher, in one table: everything that people type for the launchers they know. What makes no sense
 * on one host, or tunes some other library, is read and passed over. */
#include "run/flags.h"
#include "run/help.h"
#include "base/error.h"
#include "base/settings.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flag {
    const char *name; /* without dashes */
    int words;        /* that follow it */
    int (*take)(struct reader *reader, char **word);
};

static int wrong(const struct reader *reader, const char *word, const char *understood)
{
    fprintf(stderr, "viaduct: %s %s: %s is understood\n", reader->flag, word, understood);
    return ERR_ARGUMENT;
}

static int take_whole(const struct reader *reader, const char *word, int least, int *value)
{
    int number;
    if (!vboot_number(word, &number) || number < least)
        return wrong(reader, word, least > 0 ? "a whole number from 1" : "a whole number from 0");
    *value = number;
    return OK;
}

void list_add(struct run_list *list, const char *item)
{
    const char **bigger = realloc(list->item, (size_t)(list->count + 1) * sizeof *bigger);
    if (!bigger)
        abort(); /* no memory for a word of the command line */
    list->item = bigger;
    list->item[list->count++] = item;
}

static char *join(const char *name, const char *value)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s", name, value) < 0)
        abort();
    return text;
}

/* ---- counts and places ---- */

static int take_count(struct reader *reader, char **word)
{
    return take_whole(reader, word[0], 1, &reader->app->count);
}

static int take_per_node(struct reader *reader, char **word)
{
    return take_whole(reader, word[0], 1, &reader->options->per_node);
}

static int take_universe(struct reader *reader, char **word)
{
    if (isalpha((unsigned char)word[0][0])) /* SYSTEM, INFINITE: what we do anyway */
        return OK;
    return take_whole(reader, word[0], 1, &reader->options->universe);
}

static int take_hosts(struct reader *reader, char **word)
{
    return hosts_read_list(word[0], &reader->options->slots);
}

static int take_host_file(struct reader *reader, char **word)
{
    return hosts_read_file(word[0], &reader->options->slots);
}

static int take_directory(struct reader *reader, char **word)
{
    reader->app->directory = word[0];
    return OK;
}

static int take_path(struct reader *reader, char **word)
{
    reader->app->path = word[0];
    return OK;
}

/* ---- environment ---- */

static int take_export(struct reader *reader, char **word)
{
    list_add(&reader->app->set, word[0]);
    return OK;
}

static int take_set(struct reader *reader, char **word)
{
    list_add(&reader->app->set, join(word[0], word[1]));
    return OK;
}

static int take_set_all(struct reader *reader, char **word)
{
    list_add(&reader->options->common.set, join(word[0], word[1]));
    return OK;
}

static int add_names(struct run_app *app, const char *names)
{
    app->bare = true;
    for (char *name = strdup(names), *next; name && *name; name = next) {
        next = name + strcspn(name, ",");
        if (*next)
            *next++ = 0;
        list_add(&app->only, name);
    }
    return OK;
}

static int take_names(struct reader *reader, char **word)
{
    return add_names(reader->app, word[0]);
}

static int take_names_all(struct reader *reader, char **word)
{
    return add_names(&reader->options->common, word[0]);
}

static int take_bare(struct reader *reader, char **word)
{
    (void)word;
    reader->app->bare = true;
    return OK;
}

static int take_bare_all(struct reader *reader, char **word)
{
    (void)word;
    reader->options->common.bare = true;
    return OK;
}

/* ---- input and output ---- */

static int take_stdin(struct reader *reader, char **word)
{
    if (strcmp(word[0], "none") == 0) {
        reader->options->stdin_to = STDIN_NONE;
        return OK;
    }
    reader->options->stdin_to = STDIN_RANK;
    if (!vboot_number(word[0], &reader->options->stdin_rank) || reader->options->stdin_rank < 0)
        return wrong(reader, word[0], "the number of one rank, or none,");
    return OK;
}

static int take_label(struct reader *reader, char **word)
{
    (void)word;
    reader->options->label = true;
    return OK;
}

static int take_timestamp(struct reader *reader, char **word)
{
    (void)word;
    reader->options->timestamp = true;
    return OK;
}

static int take_merge(struct reader *reader, char **word)
{
    (void)word;
    reader->options->merge = true;
    return OK;
}

static int take_out_pattern(struct reader *reader, char **word)
{
    reader->options->out_pattern = word[0];
    return OK;
}

static int take_err_pattern(struct reader *reader, char **word)
{
    reader->options->err_pattern = word[0];
    return OK;
}

static int take_out_directory(struct reader *reader, char **word)
{
    word[0][strcspn(word[0], ":")] = 0; /* ":nocopy" and the like */
    reader->options->out_directory = word[0];
    return OK;
}

/* --output tag,timestamp,merge,file=NAME,dir=NAME */
static int take_output(struct reader *reader, char **word)
{
    for (char *at = word[0], *next; *at; at = next) {
        next = at + strcspn(at, ",:");
        if (*next)
            *next++ = 0;
        if (strncmp(at, "tag", 3) == 0 || strcmp(at, "rank") == 0)
            reader->options->label = true;
        else if (strcmp(at, "timestamp") == 0)
            reader->options->timestamp = true;
        else if (strncmp(at, "merge", 5) == 0)
            reader->options->merge = true;
        else if (strncmp(at, "dir=", 4) == 0)
            reader->options->out_directory = at + 4;
        else if (strncmp(at, "file=", 5) == 0) {
            static char out[4096], err[4096];
            snprintf(out, sizeof out, "%s.%%r.out", at + 5);
            snprintf(err, sizeof err, "%s.%%r.err", at + 5);
            reader->options->out_pattern = out;
            reader->options->err_pattern = err;
        } else if (strcmp(at, "nocopy") != 0 && strcmp(at, "raw") != 0)
            return wrong(reader, at, "tag, timestamp, merge, file=NAME or dir=NAME");
    }
    return OK;
}

/* ---- binding ---- */

static int take_bind(struct reader *reader, char **word)
{
    reader->options->bind_to = word[0];
    return OK;
}

static int take_bind_core(struct reader *reader, char **word)
{
    (void)word;
    reader->options->bind_to = "core";
    return OK;
}

static int take_bind_socket(struct reader *reader, char **word)
{
    (void)word;
    reader->options->bind_to = "socket";
    return OK;
}

static int take_bind_none(struct reader *reader, char **word)
{
    (void)word;
    reader->options->bind_to = "none";
    return OK;
}

static int take_map(struct reader *reader, char **word)
{
    if (strncmp(word[0], "ppr:", 4) == 0) {
        char *end;
        reader->options->per_node = (int)strtol(word[0] + 4, &end, 10);
        if (*end != ':' || reader->options->per_node < 1)
            return wrong(reader, word[0], "ppr:N:node");
        return OK;
    }
    reader->options->map_by = word[0];
    return OK;
}

static int take_cpus(struct reader *reader, char **word)
{
    reader->options->cpu_list = word[0];
    return OK;
}

static int take_report_bindings(struct reader *reader, char **word)
{
    (void)word;
    reader->options->report_bindings = true;
    return OK;
}

/* ---- the end ---- */

/* Seconds, as the other launchers take them; with a unit too. */
int flag_take_timeout(struct reader *reader, char **word)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", word[0], word[0][strspn(word[0], "0123456789.")] ? "" : "s");
    if (strcmp(word[0], "-1") == 0)
        return OK;
    if (vbase_setting_parse(SETTING_TIME, text, &reader->options->timeout_ns) != OK)
        return wrong(reader, word[0], "a time in seconds");
    return OK;
}

static int take_exitcodes(struct reader *reader, char **word)
{
    (void)word;
    reader->options->print_exitcodes = true;
    return OK;
}

static int take_keep_going(struct reader *reader, char **word)
{
    (void)word;
    reader->options->keep_going = true;
    return OK;
}

static int take_version(struct reader *reader, char **word)
{
    (void)reader, (void)word;
    puts("viaduct run (mpiexec) " VIADUCT_VERSION);
    return 1;
}

static int take_help(struct reader *reader, char **word)
{
    (void)reader, (void)word;
    fputs(run_help, stdout);
    return 1;
}

static int pass_over(struct reader *reader, char **word)
{
    (void)reader, (void)word;
    return OK;
}

static int take_xterm(struct reader *reader, char **word)
{
    (void)word;
    fprintf(stderr, "viaduct: %s is not offered; mpiexec -n 4 xterm -hold -e ./program does it\n", reader->flag);
    return ERR_ARGUMENT;
}

static const struct flag flags[] = {
    {"n", 1, take_count},
    {"np", 1, take_count},
    {"c", 1, take_count},
    {"nprocs", 1, take_count},
    {"ppn", 1, take_per_node},
    {"N", 1, take_per_node},
    {"npernode", 1, take_per_node},
    {"perhost", 1, take_per_node},
    {"ranks-per-proc", 1, take_per_node},
    {"usize", 1, take_universe},
    {"host", 1, take_hosts},
    {"hosts", 1, take_hosts},
    {"H", 1, take_hosts},
    {"hostfile", 1, take_host_file},
    {"machinefile", 1, take_host_file},
    {"machine", 1, take_host_file},
    {"f", 1, take_host_file},
    {"default-hostfile", 1, take_host_file},
    {"wdir", 1, take_directory},
    {"wd", 1, take_directory},
    {"path", 1, take_path},
    {"configfile", 1, options_read_file},
    {"app", 1, options_read_file},

    {"x", 1, take_export},
    {"env", 2, take_set},
    {"genv", 2, take_set_all},
    {"envlist", 1, take_names},
    {"genvlist", 1, take_names_all},
    {"envnone", 0, take_bare},
    {"genvnone", 0, take_bare_all},
    {"envall", 0, pass_over},
    {"genvall", 0, pass_over},

    {"stdin", 1, take_stdin},
    {"s", 1, take_stdin},
    {"l", 0, take_label},
    {"prepend-rank", 0, take_label},
    {"tag-output", 0, take_label},
    {"tag-output-detailed", 0, take_label},
    {"tag-output-fullname", 0, take_label},
    {"timestamp-output", 0, take_timestamp},
    {"merge-stderr-to-stdout", 0, take_merge},
    {"merge-stderr-to-stdout-raw", 0, take_merge},
    {"outfile-pattern", 1, take_out_pattern},
    {"errfile-pattern", 1, take_err_pattern},
    {"output-filename", 1, take_out_directory},
    {"output-directory", 1, take_out_directory},
    {"output", 1, take_output},
    {"xterm", 1, take_xterm},

    {"bind-to", 1, take_bind},
    {"binding", 1, take_bind},
    {"map-by", 1, take_map},
    {"cpu-set", 1, take_cpus},
    {"cpu-list", 1, take_cpus},
    {"report-bindings", 0, take_report_bindings},
    {"bind-to-core", 0, take_bind_core},
    {"bind-to-socket", 0, take_bind_socket},
    {"bind-to-none", 0, take_bind_none},

    {"timeout", 1, flag_take_timeout},
    {"print-all-exitcodes", 0, take_exitcodes},
    {"disable-auto-cleanup", 0, take_keep_going},
    {"continuous", 0, take_keep_going},
    {"enable-recovery", 0, take_keep_going},
    {"verbose", 0, pass_over},
    {"v", 0, pass_over},
    {"version", 0, take_version},
    {"V", 0, take_version},
    {"info", 0, take_version},
    {"help", 0, take_help},
    {"h", 0, take_help},

    /* Nothing to do on one host, or nothing to do with us. */
    {"mca", 2, pass_over},
    {"gmca", 2, pass_over},
    {"omca", 2, pass_over},
    {"prtemca", 2, pass_over},
    {"gprtemca", 2, pass_over},
    {"pmixmca", 2, pass_over},
    {"gpmixmca", 2, pass_over},
    {"am", 1, pass_over},
    {"amca", 1, pass_over},
    {"tune", 1, pass_over},
    {"personality", 1, pass_over},
    {"with-ft", 1, pass_over},
    {"oversubscribe", 0, pass_over},
    {"nooversubscribe", 0, pass_over},
    {"overload-allowed", 0, pass_over},
    {"allow-run-as-root", 0, pass_over},
    {"use-hwthread-cpus", 0, pass_over},
    {"nolocal", 0, pass_over},
    {"rank-by", 1, pass_over},
    {"order-nodes", 1, pass_over},
    {"byslot", 0, pass_over},
    {"bynode", 0, pass_over},
    {"bycore", 0, pass_over},
    {"bysocket", 0, pass_over},
    {"rr", 0, pass_over},
    {"membind", 1, pass_over},
    {"topolib", 1, pass_over},
    {"cpus-per-proc", 1, pass_over},
    {"cpus-per-rank", 1, pass_over},
    {"iface", 1, pass_over},
    {"launcher", 1, pass_over},
    {"launcher-exec", 1, pass_over},
    {"bootstrap", 1, pass_over},
    {"bootstrap-exec", 1, pass_over},
    {"launch-agent", 1, pass_over},
    {"rmk", 1, pass_over},
    {"demux", 1, pass_over},
    {"arch", 1, pass_over},
    {"soft", 1, pass_over},
    {"file", 1, pass_over},
    {"initial-errhandler", 1, pass_over},
    {"memory-alloc-kinds", 1, pass_over},
    {"prefix", 1, pass_over},
    {"noprefix", 0, pass_over},
    {"ompi-server", 1, pass_over},
    {"nameserver", 1, pass_over},
    {"disable-hostname-propagation", 0, pass_over},
    {"hostname-propagation", 0, pass_over},
    {"enable-x", 0, pass_over},
    {"disable-x", 0, pass_over},
    {"pmi-port", 0, pass_over},
    {"skip-hosts-check", 0, pass_over},
    {"get-stack-traces", 0, pass_over},
    {"report-state-on-timeout", 0, pass_over},
    {"report-child-jobs-separately", 0, pass_over},
    {"disable-recovery", 0, pass_over},
    {"q", 0, pass_over},
    {"quiet", 0, pass_over},
    {"d", 0, pass_over},
    {"display-map", 0, pass_over},
    {"display-allocation", 0, pass_over},
    {"display", 1, pass_over},
    {"runtime-options", 1, pass_over},
    {"rtos", 1, pass_over},
    {"max-vm-size", 1, pass_over},
    {"novm", 0, pass_over},
    {"do-not-resolve", 0, pass_over},
    {"report-uri", 1, pass_over},
    {"report-pid", 1, pass_over},
    {"set-cwd-to-session-dir", 0, pass_over},
    {"mpmd", 0, pass_over},
};

static int unknown(const char *flag, const char *name)
{
    const char *names[ARRAY_LENGTH(flags)];
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        names[i] = flags[i].name;
    const char *near = vbase_name_nearest(name, names, ARRAY_LENGTH(flags));
    fprintf(stderr, "viaduct: unknown option %s%s%s%s; --help lists them\n", flag, near ? " (maybe: --" : "",
            near ? near : "", near ? "?)" : "");
    return ERR_ARGUMENT;
}

/* One flag at word[0]; *used: words it took. */
int flag_read(struct reader *reader, char **word, int left, int *used)
{
    char name[64];
    const char *text = word[0] + strspn(word[0], "-");
    size_t length = strcspn(text, "=");
    if (length >= sizeof name)
        return unknown(word[0], "");
    memcpy(name, text, length);
    name[length] = 0;
    reader->flag = word[0];
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
        if (strcmp(flags[i].name, name) != 0)
            continue;
        if (text[length] == '=' && flags[i].words == 1) {
            char *value = (char *)(uintptr_t)(text + length + 1);
            *used = 1;
            return flags[i].take(reader, &value);
        }
        if (text[length] == '=')
            break;
        if (left <= flags[i].words) {
            fprintf(stderr, "viaduct: %s wants %d word%s after it\n", word[0], flags[i].words,
                    flags[i].words > 1 ? "s" : "");
            return ERR_ARGUMENT;
        }
        *used = 1 + flags[i].words;
        return flags[i].take(reader, word + 1);
    }
    return unknown(word[0], name);
}
