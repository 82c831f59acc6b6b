/* The flags of the launcher, in one table: everything that people type for the launchers they know. What asks for a
 * place or for output is done or refused; only what has no meaning here is accepted, and its value is checked. */
#include "run/flags.h"
#include "boot/line.h"
#include "run/bytes.h"
#include "run/help.h"
#include <ctype.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/utsname.h>

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

int flag_wrong(const struct reader *reader, const char *word, const char *expected)
{
    return vbase_fail(ERR_ARGUMENT, "invalid value '%s' for %.*s: expected %s", word,
                      (int)strcspn(reader->flag, "="), reader->flag, expected);
}

/* WORDS with blanks between them. */
static bool word_is_of(const char *word, const char *words)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t its = strcspn(at, " ");
        if (its == length && its > 0 && memcmp(at, word, its) == 0)
            return true;
        at += its;
    }
    return false;
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
        return flag_wrong(reader, word[0], "a whole number >= 1");
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
    if (strcmp(word[0], "SYSTEM") == 0 || strcmp(word[0], "INFINITE") == 0) /* what we do anyway */
        return OK;
    return isalpha((unsigned char)word[0][0]) ? flag_wrong(reader, word[0], "SYSTEM, INFINITE or a number")
                                              : number_set(reader, word);
}

/* "a,b": each of them shows something before the ranks start. */
static int display_take(struct reader *reader, char **word)
{
    struct run_options *options = reader->options;
    const struct {
        const char *name;
        bool *set;
    } known[] = {{"allocation", &options->show_hosts}, {"map", &options->show_map}, {"map-devel", &options->show_map},
                 {"bind", &options->report_bindings},  {"bindings", &options->report_bindings}};
    char *rest = strdup(word[0]);
    for (char *at; (at = strsep(&rest, ","));) {
        bool found = false;
        for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
            if (strcmp(known[i].name, at) == 0)
                found = *known[i].set = true;
        if (!found)
            return flag_wrong(reader, word[0], "allocation, map or bind");
    }
    return OK;
}

/* ---- what has no meaning here, and what we do not do ---- */

/* One of the words that the row has. */
static int word_check(struct reader *reader, char **word)
{
    return word_is_of(word[0], reader->row->fixed) ? OK : flag_wrong(reader, word[0], reader->row->fixed);
}

static int number_check(struct reader *reader, char **word)
{
    int number;
    return vboot_number(word[0], &number) && number >= 0 ? OK : flag_wrong(reader, word[0], "a whole number");
}

/* A helper reads the same words: only the head tells, and looks at what is of its own host. */
static int flag_warn(struct reader *reader, char **word)
{
    if (!reader->options->told)
        LOG_WARN("%s %s has no effect: %s", reader->flag, word[0], reader->row->fixed);
    return OK;
}

static int file_check(struct reader *reader, char **word)
{
    bool good = reader->options->told || access(word[0], R_OK) == 0;
    return good ? OK : flag_wrong(reader, word[0], "a file that can be read");
}

static int card_check(struct reader *reader, char **word)
{
    bool good = reader->options->told || if_nametoindex(word[0]);
    return good ? OK : flag_wrong(reader, word[0], "a network card of this host");
}

static int architecture_check(struct reader *reader, char **word)
{
    struct utsname ours;
    return uname(&ours) < 0 || strcmp(word[0], ours.machine) == 0 ? OK : flag_wrong(reader, word[0], ours.machine);
}

/* "2:8:2,16": numbers of ranks that will do as well. */
static int triplets_check(struct reader *reader, char **word)
{
    return *word[0] && strspn(word[0], "0123456789:,") == strlen(word[0])
               ? OK
               : flag_wrong(reader, word[0], "numbers and first:last:step, with commas");
}

/* --mca NAME VALUE: of another library. */
static int parameter_check(struct reader *reader, char **word)
{
    for (const char *at = word[0]; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
            return flag_wrong(reader, word[0], "the name of a parameter");
    return *word[0] ? OK : flag_wrong(reader, word[0], "the name of a parameter");
}

static int kinds_check(struct reader *reader, char **word)
{
    for (const char *at = word[0]; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, "mpi", 3) != 0 && strncmp(at, "system", 6) != 0)
            return flag_warn(reader, word);
    return OK;
}

static int launcher_take(struct reader *reader, char **word)
{
    bool slurm = strcmp(word[0], "slurm") == 0, remote = strcmp(word[0], "ssh") == 0 || strcmp(word[0], "rsh") == 0;
    if (remote || slurm)
        reader->options->agent = slurm ? "srun" : word[0];
    else if (!reader->options->batch)
        reader->options->batch = "none"; /* fork: all ranks are on this host, unless others are named */
    return remote || slurm || strcmp(word[0], "fork") == 0
               ? OK
               : flag_wrong(reader, word[0], "ssh, rsh, slurm or fork; --agent COMMAND names another way");
}

static int gpus_check(struct reader *reader, char **word)
{
    return word_is_of(word[0], "auto 0") ? OK
                                         : flag_wrong(reader, word[0], "auto or 0: GPUs are not given to ranks");
}

/* ---- environment: of one part, or what all parts have in common ---- */

static int name_check(const struct reader *reader, const char *name, size_t length)
{
    return length && !memchr(name, '=', length) ? OK : flag_wrong(reader, name, "the name of a variable");
}

static int text_add(struct reader *reader, char **word)
{
    int error = name_check(reader, word[0], strcspn(word[0], "="));
    if (error != OK)
        return error;
    list_add(flag_place(reader), word[0]);
    return OK;
}

static int variable_take(struct reader *reader, char **word)
{
    struct run_app *part = flag_place(reader);
    char *text;
    int error = name_check(reader, word[0], strlen(word[0]));
    if (error != OK)
        return error;
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
    int error = OK;
    part->bare = true;
    for (char *name; error == OK && (name = strsep(&rest, ","));)
        if (*name) {
            error = name_check(reader, name, strlen(name));
            list_add(&part->only, name);
        }
    return error;
}

/* The log of launcher and ranks, unless the environment says how much is told. */
static int verbose_set(struct reader *reader, char **word)
{
    (void)word;
    if (!vbase_environment("VIADUCT_LOG")) {
        vbase_log_level = LOG_LEVEL_INFO;
        list_add(&reader->options->common.set, "VIADUCT_LOG=info");
    }
    return OK;
}

/* ---- input and output ---- */

static int stdin_take(struct reader *reader, char **word)
{
    int *rank = &reader->options->stdin_rank;
    if (strcmp(word[0], "none") == 0)
        *rank = -1;
    else if (!vboot_number(word[0], rank) || *rank < 0)
        return flag_wrong(reader, word[0], "a rank number or 'none'");
    return OK;
}

/* %r, %h and %g stand for something. */
static int pattern_set(struct reader *reader, char **word)
{
    for (const char *at = word[0]; (at = strchr(at, '%')); at++)
        if (isalpha((unsigned char)at[1]) && !strchr("rhg", at[1]))
            return flag_wrong(reader, word[0], "%r (rank), %h (host) or %g (0) in it");
    return text_set(reader, word);
}

/* To stdout, stderr, or a file. */
static int pid_report(struct reader *reader, char **word)
{
    bool out = strcmp(word[0], "-") == 0, file = !out && strcmp(word[0], "+") != 0;
    if (reader->options->told)
        return OK;
    FILE *to = file ? fopen(word[0], "we") : out ? stdout : stderr;
    bool good = to && fprintf(to, "%d\n", (int)getpid()) > 0 && fflush(to) == 0;
    if (file && to)
        fclose(to);
    return good ? OK : flag_wrong(reader, word[0], "-, + or a file that can be written");
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

static int abi_take(struct reader *reader, char **word)
{
    reader->options->abi_none = strcmp(word[0], "none") == 0;
    return reader->options->abi_none || strcmp(word[0], "auto") == 0 ? OK : flag_wrong(reader, word[0], "auto or none");
}

/* What it is tells its name. That it can be written is tried now, not when the job has ended. */
static int report_take(struct reader *reader, char **word)
{
    const char *end = strrchr(word[0], '.');
    bool page = end && word_is_of(end, ".html .htm"), trace = end && strcmp(end, ".json") == 0;
    if (!page && !trace)
        return flag_wrong(reader, word[0], "a file whose name ends with .html (a page) or .json (a trace)");
    *(page ? &reader->options->report_page : &reader->options->report_trace) = word[0];
    if (reader->options->told)
        return OK;
    struct stat status;
    bool there = lstat(word[0], &status) == 0;
    int fd = open(word[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return vbase_fail_errno(ERR_ARGUMENT, "%s: cannot write %s", reader->flag, word[0]);
    close(fd);
    if (!there)
        unlink(word[0]);
    return OK;
}

static char *name_joined(const char *name, const char *end)
{
    char *text;
    if (asprintf(&text, "%s%s", name, end) < 0)
        abort();
    return text;
}

/* --output tag,timestamp,merge,file=NAME,dir=NAME */
static int output_option_take(struct reader *reader, char **word)
{
    struct run_options *options = reader->options;
    char *rest = strdup(word[0]); /* names stay in it */
    for (char *at; (at = strsep(&rest, ",:"));) {
        bool known = true;
        if (word_is_of(at, "tag rank tag-detailed tag-fullname tag_detailed tag_fullname"))
            options->label = RUN_LABEL;
        else if (strcmp(at, "timestamp") == 0)
            options->timestamp = true;
        else if (word_is_of(at, "merge merge-stderr-to-stdout"))
            options->merge = true;
        else if (strncmp(at, "dir=", 4) == 0 && at[4])
            options->out_directory = at + 4;
        else if (strncmp(at, "file=", 5) == 0 && at[5]) {
            options->pattern[0] = name_joined(at + 5, ".%r.out");
            options->pattern[1] = name_joined(at + 5, ".%r.err");
        } else
            known = !*at || word_is_of(at, "nocopy raw");
        if (!known)
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
    return vbase_fail(ERR_ARGUMENT, "%s is not offered: %s", reader->flag, reader->row->fixed);
}

static const struct flag flags[] = {
    {"n np c nprocs", 1, number_set, PART(count)},
    {"ppn N npernode perhost ranks-per-proc", 1, number_set, OPTION(per_node)},
    {"pernode", 0, number_set, OPTION(per_node), "1"},
    {"ppr", 1, placing_take_ppr},
    {"usize", 1, universe_take, OPTION(universe)},
    {"host hosts H", 1, hosts_read_list},
    {"hostfile machinefile machine f default-hostfile", 1, hosts_read_file},
    {"nolocal skip-launch-node", 0, yes_set, OPTION(elsewhere)},
    {"nooversubscribe", 0, yes_set, OPTION(slots_limit)},
    {"agent launcher-exec bootstrap-exec", 1, text_set, OPTION(agent)},
    {"launcher bootstrap", 1, launcher_take},
    {"rmk", 1, batch_name_take},
    {"fanout", 1, number_set, OPTION(fanout)},
    {"patience", 1, number_set, OPTION(patience)},
    {"wdir wd", 1, text_set, PART(directory)},
    {"path", 1, text_set, PART(path)},
    {"pset", 1, process_set_take, PART(process_set)},
    {"configfile app file", 1, options_read_file},
    {"abi", 1, abi_take},

    {"x", 1, text_add, PART(set)},
    {"env", 2, variable_take, WHOLE_PART},
    {"genv", 2, variable_take, OPTION(common)},
    {"envlist", 1, names_take, WHOLE_PART},
    {"genvlist", 1, names_take, OPTION(common)},
    {"envnone", 0, yes_set, PART(bare)},
    {"genvnone", 0, yes_set, OPTION(common.bare)},

    {"stdin s", 1, stdin_take},
    {"l prepend-rank tag-output tag-output-detailed tag-output-fullname", 0, text_set, OPTION(label), RUN_LABEL},
    {"prepend-pattern", 1, pattern_set, OPTION(label)},
    {"timestamp-output", 0, yes_set, OPTION(timestamp)},
    {"merge-stderr-to-stdout merge-stderr-to-stdout-raw", 0, yes_set, OPTION(merge)},
    {"outfile-pattern", 1, pattern_set, OPTION(pattern[0])},
    {"errfile-pattern", 1, pattern_set, OPTION(pattern[1])},
    {"output-filename output-directory", 1, directory_take},
    {"output", 1, output_option_take},
    {"report-pid", 1, pid_report},
    {"report", 1, report_take},
    {"v verbose", 0, verbose_set},

    {"bind-to binding", 1, placing_take_bind},
    {"bind-to-core", 0, placing_take_bind, NOTHING, "core"},
    {"bind-to-socket", 0, placing_take_bind, NOTHING, "socket"},
    {"bind-to-none", 0, placing_take_bind, NOTHING, "none"},
    {"map-by", 1, placing_take_map},
    {"bycore", 0, placing_take_map, NOTHING, "core"},
    {"bysocket", 0, placing_take_map, NOTHING, "socket"},
    {"byslot", 0, placing_take_map, NOTHING, "slot"},
    {"bynode rr", 0, placing_take_map, NOTHING, "node"},
    {"rank-by", 1, placing_take_rank},
    {"rankfile rf", 1, rankfile_take},
    {"cpus-per-proc cpus-per-rank", 1, number_set, OPTION(placing.width)},
    {"use-hwthread-cpus", 0, yes_set, OPTION(placing.threads)},
    {"cpu-set cpu-list", 1, text_set, OPTION(placing.cpu_list)},
    {"report-bindings", 0, yes_set, OPTION(report_bindings)},
    {"display-map display-devel-map display-diffable-map", 0, yes_set, OPTION(show_map)},
    {"display-allocation display-devel-allocation", 0, yes_set, OPTION(show_hosts)},
    {"display", 1, display_take},

    {"timeout", 1, flag_take_timeout},
    {"get-stack-traces", 0, yes_set, OPTION(stack_traces)},
    {"print-all-exitcodes", 0, yes_set, OPTION(print_exitcodes)},
    {"disable-auto-cleanup continuous enable-recovery", 0, yes_set, OPTION(keep_going)},
    {"version V info", 0, text_print, NOTHING, "viaduct run (mpiexec) " VIADUCT_VERSION "\n"},
    {"help h", 0, text_print, NOTHING, run_help},

    /* what we do anyway, or has nothing to do with us */
    {"allow-run-as-root d debug-daemons disable-hostname-propagation disable-recovery disable-x do-not-resolve envall "
     "genvall hostname-propagation leave-session-attached mpmd noprefix novm overload-allowed oversubscribe pmi-port q "
     "quiet report-child-jobs-separately report-state-on-timeout show-progress skip-hosts-check",
     0, flag_pass_over},
    {"am amca tune", 1, file_check},
    {"arch", 1, architecture_check},
    {"demux", 1, word_check, NOTHING, "poll select"},
    {"gpus-per-proc", 1, gpus_check},
    {"iface", 1, card_check},
    {"initial-errhandler", 1, word_check, NOTHING, "mpi_errors_are_fatal"},
    {"launch-agent", 1, flag_warn, NOTHING, "helpers are started by the path of this program"},
    {"localhost", 1, flag_warn, NOTHING, "each host finds its own name"},
    {"max-restarts", 1, word_check, NOTHING, "0"},
    {"max-vm-size", 1, number_check},
    {"membind", 1, word_check, NOTHING, "none"},
    {"memory-alloc-kinds", 1, kinds_check, NOTHING, "the kinds of memory are mpi and system"},
    {"personality", 1, word_check, NOTHING, "ompi ompi5 prte prrte"},
    {"prefix", 1, flag_warn, NOTHING, "all hosts have the same files at the same paths"},
    {"soft", 1, triplets_check},
    {"topolib", 1, word_check, NOTHING, "hwloc"},
    {"gmca gpmixmca gprtemca mca omca pmixmca prtemca", 2, parameter_check},

    /* what we do not do */
    {"xterm", 1, flag_refuse, NOTHING, "mpiexec -n 4 xterm -hold -e ./program does it"},
    {"display-topo", 0, flag_refuse, NOTHING, "lstopo shows the machine"},
    {"enable-x", 0, flag_refuse, NOTHING, "--agent 'ssh -X' does it"},
    {"index-argv-by-rank", 0, flag_refuse, NOTHING, "a script can build the words from $PMI_RANK"},
    {"preload-binary", 0, flag_refuse, NOTHING, "all hosts must have the same files at the same paths"},
    {"preload-files", 1, flag_refuse, NOTHING, "all hosts must have the same files at the same paths"},
    {"set-cwd-to-session-dir", 0, flag_refuse, NOTHING, "-wdir names a folder"},
    {"nameserver ompi-server", 1, flag_refuse, NOTHING, "names are published within a job"},
    {"npersocket", 1, flag_refuse, NOTHING, "-n N --map-by socket spreads ranks over the sockets"},
    {"order-nodes", 1, flag_refuse, NOTHING, "hosts are filled in the order in which they are named"},
    {"report-events report-uri", 1, flag_refuse, NOTHING, "no other program can ask this launcher"},
    {"rtos runtime-options", 1, flag_refuse, NOTHING, "--help lists the flags that there are"},
    {"with-ft", 1, flag_refuse, NOTHING, "--enable-recovery lets the other ranks go on"},
};

/* For completion in a shell: each name as people write it, and how many words follow. */
void flags_print_words(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
        if (flags[i].take == flag_refuse)
            continue;
        for (const char *at = flags[i].names; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            printf("%s%.*s %d\n", length == 1 ? "-" : "--", (int)length, at, flags[i].words);
            at += length;
        }
    }
}

/* ---- finding them ---- */

static const struct flag *row_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        if (word_is_of(name, flags[i].names))
            return &flags[i];
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
    if (!row)
        return flag_unknown(word[0], name);
    if (text[length] == '=' && row->words != 1)
        return vbase_fail(ERR_ARGUMENT, "%s: --%s takes %s", word[0], name, row->words ? "two words" : "no value");
    char *value = (char *)(uintptr_t)(row->words ? text + length + 1 : row->fixed);
    bool apart = row->words && text[length] != '='; /* its words follow it */
    reader->flag = word[0];
    reader->row = row;
    *used = apart ? 1 + row->words : 1;
    if (left < *used)
        return vbase_fail(ERR_ARGUMENT, "%s needs %d value%s after it", word[0], row->words, row->words > 1 ? "s" : "");
    return row->take(reader, apart ? word + 1 : &value);
}
