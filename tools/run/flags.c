/* The flags of the launcher, in one table: everything that people type for the launchers they know. What makes no sense
 * on one host, or tunes some other library, is read and passed over. */
#include "run/flags.h"
#include "boot/line.h"
#include "run/bytes.h"
#include "run/help.h"
#include <ctype.h>

struct flag {
    const char *names; /* without dashes, apart by blanks */
    int words;         /* that follow it */
    int (*take)(struct reader *reader, char **word);
    bool of_part;      /* what is set lies in the part being read; false: in the options */
    size_t place;      /* and where there */
    const char *fixed; /* the word to take where none follows */
};

#define PROCESS_SET_MOST 1024 /* MPI_MAX_PSET_NAME_LEN */

#define OPTION(field) false, offsetof(struct run_options, field)
#define PART(field)   true, offsetof(struct run_app, field)
#define WHOLE_PART    true, 0
#define NOTHING       false, 0

static int flag_wrong(const struct reader *reader, const char *word, const char *understood)
{
    return vbase_fail(ERR_ARGUMENT, "%s %s: %s is understood", reader->flag, word, understood);
}

static void list_add(struct run_list *list, const char *item)
{
    list->item = run_grown(list->item, list->count, sizeof *list->item);
    list->item[list->count++] = item;
}

/* ---- plain ones ---- */

/* What this flag sets. */
static void *flag_place(const struct reader *reader)
{
    return (reader->row->of_part ? (char *)reader->app : (char *)reader->options) + reader->row->place;
}

static int number_set(struct reader *reader, char **word)
{
    int number;
    if (!vboot_number(word[0], &number) || number < 1)
        return flag_wrong(reader, word[0], "a whole number from 1");
    *(int *)flag_place(reader) = number;
    return OK;
}

static int yes_set(struct reader *reader, char **word)
{
    (void)word;
    *(bool *)flag_place(reader) = true;
    return OK;
}

static int text_set(struct reader *reader, char **word)
{
    *(const char **)flag_place(reader) = word[0];
    return OK;
}

static int flag_pass_over(struct reader *reader, char **word)
{
    (void)reader, (void)word;
    return OK;
}

/* ---- places ---- */

static int universe_take(struct reader *reader, char **word)
{
    if (isalpha((unsigned char)word[0][0])) /* SYSTEM, INFINITE: what we do anyway */
        return OK;
    return number_set(reader, word);
}

static int map_take(struct reader *reader, char **word)
{
    if (strncmp(word[0], "ppr:", 4) == 0) {
        char *end;
        reader->options->per_node = (int)strtol(word[0] + 4, &end, 10);
        if (*end != ':' || reader->options->per_node < 1)
            return flag_wrong(reader, word[0], "ppr:N:node");
        return OK;
    }
    reader->options->map_by = word[0];
    return OK;
}

/* ---- environment: of one part, or what all parts have in common ---- */

static int text_add(struct reader *reader, char **word)
{
    list_add(flag_place(reader), word[0]);
    return OK;
}

static int variable_take(struct reader *reader, char **word)
{
    struct run_app *part = flag_place(reader);
    char *text;
    if (asprintf(&text, "%s=%s", word[0], word[1]) < 0)
        abort();
    list_add(&part->set, text);
    return OK;
}

static int process_set_take(struct reader *reader, char **word)
{
    const char *name = word[0];
    bool plain = *name && strlen(name) < PROCESS_SET_MOST && !strpbrk(name, "=;\n") &&
                 strncmp(name, "mpi://", 6) != 0 && strncmp(name, "viaduct://", 10) != 0;
    return plain ? text_set(reader, word)
                 : flag_wrong(reader, name, "a name without '=' and ';' that does not begin with mpi:// or viaduct://");
}

static int names_take(struct reader *reader, char **word)
{
    struct run_app *part = flag_place(reader);
    char *rest = strdup(word[0]); /* the names stay in it */
    part->bare = true;
    for (char *name; (name = strsep(&rest, ","));)
        if (*name)
            list_add(&part->only, name);
    return OK;
}

/* ---- input and output ---- */

static int stdin_take(struct reader *reader, char **word)
{
    int *rank = &reader->options->stdin_rank;
    if (strcmp(word[0], "none") == 0)
        *rank = -1;
    else if (!vboot_number(word[0], rank) || *rank < 0)
        return flag_wrong(reader, word[0], "the number of one rank, or none,");
    return OK;
}

static int directory_take(struct reader *reader, char **word)
{
    char *copy = strdup(word[0]); /* helpers read the words as they were */
    if (!copy)
        abort();
    copy[strcspn(copy, ":")] = 0; /* ":nocopy" and the like */
    reader->options->out_directory = copy;
    return OK;
}

/* --output tag,timestamp,merge,file=NAME,dir=NAME */
static int output_option_take(struct reader *reader, char **word)
{
    char *rest = strdup(word[0]); /* names stay in it */
    for (char *at; (at = strsep(&rest, ",:"));) {
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
            reader->options->pattern[0] = out;
            reader->options->pattern[1] = err;
        } else if (*at && strcmp(at, "nocopy") != 0 && strcmp(at, "raw") != 0)
            return flag_wrong(reader, at, "tag, timestamp, merge, file=NAME or dir=NAME");
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
        return flag_wrong(reader, word[0], "a time in seconds");
    return OK;
}

static int text_print(struct reader *reader, char **word)
{
    (void)reader;
    fputs(word[0], stdout);
    return 1;
}

static int flag_refuse(struct reader *reader, char **word)
{
    (void)word;
    return vbase_fail(ERR_ARGUMENT, "%s %s", reader->flag, reader->row->fixed);
}

static const struct flag flags[] = {
    {"n np c nprocs", 1, number_set, PART(count)},
    {"ppn N npernode perhost ranks-per-proc", 1, number_set, OPTION(per_node)},
    {"pernode", 0, number_set, OPTION(per_node), "1"},
    {"usize", 1, universe_take, OPTION(universe)},
    {"host hosts H", 1, hosts_read_list},
    {"hostfile machinefile machine f default-hostfile", 1, hosts_read_file},
    {"agent launcher-exec bootstrap-exec", 1, text_set, OPTION(agent)},
    {"fanout", 1, number_set, OPTION(fanout)},
    {"patience", 1, number_set, OPTION(patience)},
    {"wdir wd", 1, text_set, PART(directory)},
    {"path", 1, text_set, PART(path)},
    {"pset", 1, process_set_take, PART(process_set)},
    {"configfile app", 1, options_read_file},

    {"x", 1, text_add, PART(set)},
    {"env", 2, variable_take, WHOLE_PART},
    {"genv", 2, variable_take, OPTION(common)},
    {"envlist", 1, names_take, WHOLE_PART},
    {"genvlist", 1, names_take, OPTION(common)},
    {"envnone", 0, yes_set, PART(bare)},
    {"genvnone", 0, yes_set, OPTION(common.bare)},

    {"stdin s", 1, stdin_take},
    {"l prepend-rank tag-output tag-output-detailed tag-output-fullname", 0, text_set, OPTION(label), RUN_LABEL},
    {"prepend-pattern", 1, text_set, OPTION(label)},
    {"timestamp-output", 0, yes_set, OPTION(timestamp)},
    {"merge-stderr-to-stdout merge-stderr-to-stdout-raw", 0, yes_set, OPTION(merge)},
    {"outfile-pattern", 1, text_set, OPTION(pattern[0])},
    {"errfile-pattern", 1, text_set, OPTION(pattern[1])},
    {"output-filename output-directory", 1, directory_take},
    {"output", 1, output_option_take},
    {"xterm", 1, flag_refuse, NOTHING, "is not offered; mpiexec -n 4 xterm -hold -e ./program does it"},

    {"bind-to binding", 1, text_set, OPTION(bind_to)},
    {"bind-to-core", 0, text_set, OPTION(bind_to), "core"},
    {"bind-to-socket", 0, text_set, OPTION(bind_to), "socket"},
    {"bind-to-none", 0, text_set, OPTION(bind_to), "none"},
    {"map-by", 1, map_take},
    {"cpu-set cpu-list", 1, text_set, OPTION(cpu_list)},
    {"report-bindings", 0, yes_set, OPTION(report_bindings)},

    {"timeout", 1, flag_take_timeout},
    {"print-all-exitcodes", 0, yes_set, OPTION(print_exitcodes)},
    {"disable-auto-cleanup continuous enable-recovery", 0, yes_set, OPTION(keep_going)},
    {"version V info", 0, text_print, NOTHING, "viaduct run (mpiexec) " VIADUCT_VERSION "\n"},
    {"help h", 0, text_print, NOTHING, run_help},

    /* nothing to do on one host, what we do anyway, or nothing to do with us */
    {"allow-run-as-root bycore bynode byslot bysocket d debug-daemons disable-hostname-propagation disable-recovery "
     "disable-x display-allocation display-devel-allocation display-devel-map display-diffable-map display-map "
     "display-topo do-not-resolve enable-x envall genvall get-stack-traces hostname-propagation index-argv-by-rank "
     "leave-session-attached mpmd nolocal nooversubscribe noprefix novm overload-allowed oversubscribe pmi-port "
     "preload-binary q quiet report-child-jobs-separately report-state-on-timeout rr set-cwd-to-session-dir "
     "show-progress skip-hosts-check skip-launch-node use-hwthread-cpus v verbose",
     0, flag_pass_over},
    {"am amca arch bootstrap cpus-per-proc cpus-per-rank demux display file gpus-per-proc iface "
     "initial-errhandler launch-agent launcher localhost max-restarts max-vm-size membind "
     "memory-alloc-kinds nameserver npersocket ompi-server order-nodes personality prefix preload-files rank-by "
     "rankfile report-events report-pid report-uri rf rmk rtos runtime-options soft topolib tune with-ft",
     1, flag_pass_over},
    {"gmca gpmixmca gprtemca mca omca pmixmca prtemca", 2, flag_pass_over},
};

/* ---- finding them ---- */

static const struct flag *row_of(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; length > 0 && i < ARRAY_LENGTH(flags); i++)
        for (const char *at = flags[i].names; *at; at += strspn(at, " ")) {
            size_t its = strcspn(at, " ");
            if (its == length && memcmp(at, name, length) == 0)
                return &flags[i];
            at += its;
        }
    return NULL;
}

#define NAMES_MOST 256

static int flag_unknown(const char *flag, const char *name)
{
    const char *names[NAMES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
        char *rest = strdup(flags[i].names); /* the last thing that we do: it stays */
        for (char *next; count < NAMES_MOST && (next = strsep(&rest, " "));)
            names[count++] = next;
    }
    const char *near = vbase_name_nearest(name, names, count);
    return vbase_fail(ERR_ARGUMENT, "unknown option %s%s%s%s; --help lists them", flag, near ? " (maybe: --" : "",
                      near ? near : "", near ? "?)" : "");
}

int flag_read(struct reader *reader, char **word, int left, int *used)
{
    char name[64];
    const char *text = word[0] + strspn(word[0], "-");
    size_t length = strcspn(text, "=");
    if (length >= sizeof name)
        return flag_unknown(word[0], "");
    memcpy(name, text, length);
    name[length] = 0;
    const struct flag *row = row_of(name);
    if (!row || (text[length] == '=' && row->words != 1))
        return flag_unknown(word[0], name);
    char *value = (char *)(uintptr_t)(row->words ? text + length + 1 : row->fixed);
    bool apart = row->words && text[length] != '='; /* its words follow it */
    reader->flag = word[0];
    reader->row = row;
    *used = apart ? 1 + row->words : 1;
    if (left < *used)
        return vbase_fail(ERR_ARGUMENT, "%s wants %d word%s after it", word[0], row->words, row->words > 1 ? "s" : "");
    return row->take(reader, apart ? word + 1 : &value);
}
