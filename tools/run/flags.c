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
    size_t place;      /* of what the plain ones set, in struct run_options or in struct run_app */
    const char *fixed; /* what is set where no word follows */
};

#define OPTION(field) offsetof(struct run_options, field)
#define APP(field)    offsetof(struct run_app, field)

static int wrong(const struct reader *reader, const char *word, const char *understood)
{
    fprintf(stderr, "viaduct: %s %s: %s is understood\n", reader->flag, word, understood);
    return ERR_ARGUMENT;
}

void list_add(struct run_list *list, const char *item)
{
    const char **bigger = realloc(list->item, (size_t)(list->count + 1) * sizeof *bigger);
    if (!bigger)
        abort(); /* no memory for a word of the command line */
    list->item = bigger;
    list->item[list->count++] = item;
}

/* ---- plain ones: a place in the options or in the part being read ---- */

static int set_whole(const struct reader *reader, const char *word, void *base)
{
    int number;
    if (!vboot_number(word, &number) || number < 1)
        return wrong(reader, word, "a whole number from 1");
    *(int *)(void *)((char *)base + reader->row->place) = number;
    return OK;
}

static int set_number(struct reader *reader, char **word)
{
    return set_whole(reader, word[0], reader->options);
}

static int set_count(struct reader *reader, char **word)
{
    return set_whole(reader, word[0], reader->app);
}

static int set_yes(struct reader *reader, char **word)
{
    (void)word;
    *((bool *)(void *)((char *)reader->options + reader->row->place)) = true;
    return OK;
}

static int set_text(struct reader *reader, char **word)
{
    const char **place = (const char **)(void *)((char *)reader->options + reader->row->place);
    *place = reader->row->words ? word[0] : reader->row->fixed;
    return OK;
}

static int set_app_text(struct reader *reader, char **word)
{
    *(const char **)(void *)((char *)reader->app + reader->row->place) = word[0];
    return OK;
}

/* ---- places ---- */

static int take_universe(struct reader *reader, char **word)
{
    if (isalpha((unsigned char)word[0][0])) /* SYSTEM, INFINITE: what we do anyway */
        return OK;
    return set_number(reader, word);
}

static int take_hosts(struct reader *reader, char **word)
{
    return hosts_read_list(reader->options, reader->app, word[0]);
}

static int take_host_file(struct reader *reader, char **word)
{
    return hosts_read_file(reader->options, reader->app, word[0]);
}

static int take_one_per_node(struct reader *reader, char **word)
{
    (void)word;
    reader->options->per_node = 1;
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

/* ---- environment: -genv and its kin are for all parts, -env and its kin for one ---- */

static struct run_app *whose(const struct reader *reader)
{
    return reader->row->name[0] == 'g' ? &reader->options->common : reader->app;
}

static int take_export(struct reader *reader, char **word)
{
    list_add(&reader->app->set, word[0]);
    return OK;
}

static int take_set(struct reader *reader, char **word)
{
    char *text;
    if (asprintf(&text, "%s=%s", word[0], word[1]) < 0)
        abort();
    list_add(&whose(reader)->set, text);
    return OK;
}

static int take_bare(struct reader *reader, char **word)
{
    (void)word;
    whose(reader)->bare = true;
    return OK;
}

static int take_names(struct reader *reader, char **word)
{
    whose(reader)->bare = true;
    for (char *name = strdup(word[0]), *next; name && *name; name = next) {
        next = name + strcspn(name, ",");
        if (*next)
            *next++ = 0;
        list_add(&whose(reader)->only, name);
    }
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

static int take_out_directory(struct reader *reader, char **word)
{
    char *copy = strdup(word[0]); /* helpers read the words as they were */
    if (!copy)
        abort();
    copy[strcspn(copy, ":")] = 0; /* ":nocopy" and the like */
    reader->options->out_directory = copy;
    return OK;
}

/* --output tag,timestamp,merge,file=NAME,dir=NAME */
static int take_output(struct reader *reader, char **word)
{
    char *copy = strdup(word[0]);
    for (char *at = copy, *next; at && *at; at = next) {
        next = at + strcspn(at, ",:");
        if (*next)
            *next++ = 0;
        if (strncmp(at, "tag", 3) == 0 || strcmp(at, "rank") == 0)
            reader->options->label = RUN_LABEL;
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

static int take_xterm(struct reader *reader, char **word)
{
    (void)word;
    fprintf(stderr, "viaduct: %s is not offered; mpiexec -n 4 xterm -hold -e ./program does it\n", reader->flag);
    return ERR_ARGUMENT;
}

static const struct flag flags[] = {
    {"n", 1, set_count, APP(count)},
    {"np", 1, set_count, APP(count)},
    {"c", 1, set_count, APP(count)},
    {"nprocs", 1, set_count, APP(count)},
    {"ppn", 1, set_number, OPTION(per_node)},
    {"N", 1, set_number, OPTION(per_node)},
    {"npernode", 1, set_number, OPTION(per_node)},
    {"perhost", 1, set_number, OPTION(per_node)},
    {"ranks-per-proc", 1, set_number, OPTION(per_node)},
    {"pernode", 0, take_one_per_node},
    {"usize", 1, take_universe, OPTION(universe)},
    {"host", 1, take_hosts},
    {"hosts", 1, take_hosts},
    {"H", 1, take_hosts},
    {"hostfile", 1, take_host_file},
    {"machinefile", 1, take_host_file},
    {"machine", 1, take_host_file},
    {"f", 1, take_host_file},
    {"default-hostfile", 1, take_host_file},
    {"agent", 1, set_text, OPTION(agent)},
    {"launcher-exec", 1, set_text, OPTION(agent)},
    {"bootstrap-exec", 1, set_text, OPTION(agent)},
    {"fanout", 1, set_number, OPTION(fanout)},
    {"patience", 1, set_number, OPTION(patience)},
    {"wdir", 1, set_app_text, APP(directory)},
    {"wd", 1, set_app_text, APP(directory)},
    {"path", 1, set_app_text, APP(path)},
    {"configfile", 1, options_read_file},
    {"app", 1, options_read_file},

    {"x", 1, take_export},
    {"env", 2, take_set},
    {"genv", 2, take_set},
    {"envlist", 1, take_names},
    {"genvlist", 1, take_names},
    {"envnone", 0, take_bare},
    {"genvnone", 0, take_bare},

    {"stdin", 1, take_stdin},
    {"s", 1, take_stdin},
    {"l", 0, set_text, OPTION(label), RUN_LABEL},
    {"prepend-rank", 0, set_text, OPTION(label), RUN_LABEL},
    {"tag-output", 0, set_text, OPTION(label), RUN_LABEL},
    {"tag-output-detailed", 0, set_text, OPTION(label), RUN_LABEL},
    {"tag-output-fullname", 0, set_text, OPTION(label), RUN_LABEL},
    {"prepend-pattern", 1, set_text, OPTION(label)},
    {"timestamp-output", 0, set_yes, OPTION(timestamp)},
    {"merge-stderr-to-stdout", 0, set_yes, OPTION(merge)},
    {"merge-stderr-to-stdout-raw", 0, set_yes, OPTION(merge)},
    {"outfile-pattern", 1, set_text, OPTION(out_pattern)},
    {"errfile-pattern", 1, set_text, OPTION(err_pattern)},
    {"output-filename", 1, take_out_directory},
    {"output-directory", 1, take_out_directory},
    {"output", 1, take_output},
    {"xterm", 1, take_xterm},

    {"bind-to", 1, set_text, OPTION(bind_to)},
    {"binding", 1, set_text, OPTION(bind_to)},
    {"bind-to-core", 0, set_text, OPTION(bind_to), "core"},
    {"bind-to-socket", 0, set_text, OPTION(bind_to), "socket"},
    {"bind-to-none", 0, set_text, OPTION(bind_to), "none"},
    {"map-by", 1, take_map},
    {"cpu-set", 1, set_text, OPTION(cpu_list)},
    {"cpu-list", 1, set_text, OPTION(cpu_list)},
    {"report-bindings", 0, set_yes, OPTION(report_bindings)},

    {"timeout", 1, flag_take_timeout},
    {"print-all-exitcodes", 0, set_yes, OPTION(print_exitcodes)},
    {"disable-auto-cleanup", 0, set_yes, OPTION(keep_going)},
    {"continuous", 0, set_yes, OPTION(keep_going)},
    {"enable-recovery", 0, set_yes, OPTION(keep_going)},
    {"version", 0, take_version},
    {"V", 0, take_version},
    {"info", 0, take_version},
    {"help", 0, take_help},
    {"h", 0, take_help},
};

/* Nothing to do on one host, what we do anyway, or nothing to do with us; by the words that follow. */
static const char *const passed_over[3] = {
    " allow-run-as-root bycore bynode byslot bysocket d debug-daemons disable-hostname-propagation disable-recovery "
    "disable-x display-allocation display-devel-allocation display-devel-map display-diffable-map display-map "
    "display-topo do-not-resolve enable-x envall genvall get-stack-traces hostname-propagation index-argv-by-rank "
    "leave-session-attached mpmd nolocal nooversubscribe noprefix novm overload-allowed oversubscribe pmi-port "
    "preload-binary q quiet report-child-jobs-separately report-state-on-timeout rr set-cwd-to-session-dir "
    "show-progress skip-hosts-check skip-launch-node use-hwthread-cpus v verbose ",
    " am amca arch bootstrap cpus-per-proc cpus-per-rank demux display file gpus-per-proc iface "
    "initial-errhandler launch-agent launcher localhost max-restarts max-vm-size membind "
    "memory-alloc-kinds nameserver npersocket ompi-server order-nodes personality prefix preload-files rank-by "
    "rankfile report-events report-pid report-uri rf rmk rtos runtime-options soft topolib tune with-ft ",
    " gmca gpmixmca gprtemca mca omca pmixmca prtemca ",
};

static int pass_over(struct reader *reader, char **word)
{
    (void)reader, (void)word;
    return OK;
}

/* The words after a flag that is passed over, -1 if it is none of those. */
static int words_passed_over(const char *name)
{
    char padded[72];
    snprintf(padded, sizeof padded, " %s ", name);
    for (int words = 0; words < 3; words++)
        if (*name && strstr(passed_over[words], padded))
            return words;
    return -1;
}

#define NAMES_MOST 256

/* All names, for the nearest one; those passed over are cut out of COPY. */
static size_t all_names(const char **names, char *copy, size_t size)
{
    size_t count = 0;
    char *rest = copy;
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        names[count++] = flags[i].name;
    snprintf(copy, size, "%s%s%s", passed_over[0], passed_over[1], passed_over[2]);
    for (char *name; count < NAMES_MOST && (name = strsep(&rest, " "));)
        if (*name)
            names[count++] = name;
    return count;
}

static int unknown(const char *flag, const char *name)
{
    const char *names[NAMES_MOST];
    char copy[4096];
    const char *near = vbase_name_nearest(name, names, all_names(names, copy, sizeof copy));
    fprintf(stderr, "viaduct: unknown option %s%s%s%s; --help lists them\n", flag, near ? " (maybe: --" : "",
            near ? near : "", near ? "?)" : "");
    return ERR_ARGUMENT;
}

/* The row of a flag; SPARE is made into one for those that are passed over. */
static const struct flag *row_of(const char *name, struct flag *spare)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        if (strcmp(flags[i].name, name) == 0)
            return &flags[i];
    *spare = (struct flag){name, words_passed_over(name), pass_over};
    return spare->words >= 0 ? spare : NULL;
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
    struct flag spare;
    const struct flag *row = row_of(name, &spare);
    if (!row || (text[length] == '=' && row->words != 1))
        return unknown(word[0], name);
    reader->flag = word[0];
    reader->row = row;
    if (text[length] == '=') {
        char *value = (char *)(uintptr_t)(text + length + 1);
        *used = 1;
        return row->take(reader, &value);
    }
    if (left <= row->words) {
        fprintf(stderr, "viaduct: %s wants %d word%s after it\n", word[0], row->words, row->words > 1 ? "s" : "");
        return ERR_ARGUMENT;
    }
    *used = 1 + row->words;
    return row->take(reader, word + 1);
}
