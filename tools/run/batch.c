/* The hosts that a batch system has given to the job that this launcher is part of. They count where none is named;
 * ranks are as many as slots there. Most systems write a host file; Slurm and Grid Engine have words of their own. The
 * same system may have an agent that reaches its hosts without a password.
 *
 * Slurm packs names: "a[1-3,07]b,login" is a1b, a2b, a3b, a07b, login. Their slots, in that order: "4(x3),2,1". */
#include "run/flags.h"
#include <ctype.h>

#define NAME_MOST  256   /* letters of a host */
#define HOSTS_MOST 65536 /* that a list may name: more is a slip */

static int wrong(const struct reader *reader, const char *text)
{
    return vbase_fail(ERR_ARGUMENT, "cannot read the hosts of this job in %s=%s; -rmk none ignores it", reader->flag,
                      text);
}

static bool slots_are_sane(int slots) { return slots > 0 && slots <= RANKS_MOST; }

/* ---- Slurm ------------------------------------------------------------------------------------------------------- */

struct slurm {
    struct reader *reader;
    const char *text;  /* the whole list, for messages */
    const char *slots; /* the next host's, if LEFT is 0 */
    int each, left;    /* so many slots for so many hosts more */
    int hosts;
    char name[NAME_MOST];
};

/* The slots of the next host: 1 where nothing is said, 0 where it makes no sense. */
static int slurm_slots(struct slurm *slurm)
{
    int used = 0;
    if (slurm->left == 0 && *slurm->slots) {
        if (sscanf(slurm->slots, "%9d%n", &slurm->each, &used) != 1)
            return 0;
        slurm->slots += used;
        slurm->left = 1;
        if (sscanf(slurm->slots, "(x%9d)%n", &slurm->left, &used) == 1)
            slurm->slots += used;
        if ((*slurm->slots && *slurm->slots != ',') || slurm->left < 1)
            return 0;
        slurm->slots += *slurm->slots == ',';
    } else if (slurm->left == 0) {
        slurm->each = slurm->left = 1;
    }
    slurm->left--;
    return slots_are_sane(slurm->each) ? slurm->each : 0;
}

/* Whatever the LENGTH letters of PATTERN stand for, behind the DONE letters of the name. */
static int slurm_expand(struct slurm *slurm, size_t done, const char *pattern, size_t length)
{
    const char *open = memchr(pattern, '[', length);
    size_t plain = open ? (size_t)(open - pattern) : length;
    const char *close = open ? memchr(open, ']', length - plain) : NULL;
    if ((open && !close) || done + plain >= NAME_MOST - 24)
        return wrong(slurm->reader, slurm->text);
    memcpy(slurm->name + done, pattern, plain);
    done += plain;
    if (!open) {
        slurm->name[done] = 0;
        int slots = slurm_slots(slurm);
        if (slots == 0)
            slurm->reader->flag = "SLURM_TASKS_PER_NODE";
        return slots && ++slurm->hosts <= HOSTS_MOST && done
                   ? hosts_add(slurm->reader, slurm->name, slots)
                   : wrong(slurm->reader, slots ? slurm->text : vbase_environment("SLURM_TASKS_PER_NODE"));
    }
    int error = OK;
    for (const char *at = open + 1; at < close && error == OK; at += *at == ',') {
        unsigned first, last;
        int width = (int)strspn(at, "0123456789"), used = 0;
        if (width == 0 || width > 9 || sscanf(at, "%u%n", &first, &used) != 1)
            return wrong(slurm->reader, slurm->text);
        last = first;
        at += used;
        if (*at == '-' && isdigit((unsigned char)at[1]) && sscanf(at + 1, "%9u%n", &last, &used) == 1)
            at += used + 1;
        if ((*at != ',' && at != close) || last < first || last - first >= HOSTS_MOST)
            return wrong(slurm->reader, slurm->text);
        for (unsigned number = first; number <= last && error == OK; number++) {
            int digits = snprintf(slurm->name + done, NAME_MOST - done, "%0*u", width, number);
            error = slurm_expand(slurm, done + (size_t)digits, close + 1, length - (size_t)(close + 1 - pattern));
        }
    }
    return error;
}

/* Up to the next comma that is not within brackets. */
static size_t slurm_word(const char *text)
{
    size_t length = 0;
    for (bool within = false; text[length] && (within || text[length] != ','); length++)
        within = text[length] == '[' || (within && text[length] != ']');
    return length;
}

static int slurm_take(struct reader *reader, char **word)
{
    const char *slots = vbase_environment("SLURM_TASKS_PER_NODE");
    struct slurm slurm = {.reader = reader, .text = word[0], .slots = slots ? slots : ""};
    int error = OK;
    for (const char *at = word[0]; *at && error == OK; at += *at == ',') {
        size_t length = slurm_word(at);
        error = slurm_expand(&slurm, 0, at, length);
        at += length;
    }
    return error != OK || slurm.hosts ? error : wrong(reader, word[0]);
}

/* ---- host files -------------------------------------------------------------------------------------------------- */

/* Grid Engine: lines "host slots queue processors". */
static int grid_engine_take(struct reader *reader, char **word)
{
    char *line = NULL, name[NAME_MOST];
    size_t size = 0;
    int error = OK;
    FILE *file = fopen(word[0], "re");
    while (file && error == OK && getline(&line, &size, file) > 0) {
        int slots = 0, words = sscanf(line, "%255s %9d", name, &slots);
        if (words > 0)
            error = slots_are_sane(slots) ? hosts_add(reader, name, slots) : wrong(reader, word[0]);
    }
    free(line);
    if (file)
        fclose(file);
    return error != OK || reader->app->offers ? error : wrong(reader, word[0]);
}

/* The others: a line for each slot. */
static int file_take(struct reader *reader, char **word)
{
    return hosts_read_file(reader, word) == OK
               ? OK
               : vbase_fail(ERR_ARGUMENT, "the hosts of this job in %s: %s; -rmk none ignores it", reader->flag,
                            vbase_error_detail());
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static const struct batch {
    const char *name, *variable;
    int (*take)(struct reader *reader, char **word);
    const char *agent; /* reaches its hosts, if it is there; NULL: ssh does */
} batches[] = {
    {"slurm", "SLURM_JOB_NODELIST", slurm_take, "srun"},
    {"pbs", "PBS_NODEFILE", file_take, NULL},
    {"lsf", "LSB_DJOB_HOSTFILE", file_take, "blaunch"},
    {"sge", "PE_HOSTFILE", grid_engine_take, "qrsh -inherit -V"},
    {"oar", "OAR_NODEFILE", file_take, "oarsh"},
    {"cobalt", "COBALT_NODEFILE", file_take, NULL},
};

static bool is_none(const char *name) { return strcmp(name, "none") == 0 || strcmp(name, "user") == 0; }

int batch_name_take(struct reader *reader, char **word)
{
    bool known = is_none(word[0]);
    for (size_t i = 0; i < ARRAY_LENGTH(batches); i++)
        known |= strcmp(word[0], batches[i].name) == 0;
    reader->options->batch = word[0];
    return known ? OK : flag_wrong(reader, word[0], "slurm, pbs, lsf, sge, oar, cobalt, or none");
}

/* Is there such a program in PATH? */
static bool program_is_there(const char *words)
{
    char path[PATH_MAX];
    size_t length = strcspn(words, " ");
    bool there = false;
    for (const char *at = vbase_environment("PATH"); at && *at && !there; at += strcspn(at, ":"), at += *at == ':') {
        int printed = snprintf(path, sizeof path, "%.*s/%.*s", (int)strcspn(at, ":"), at, (int)length, words);
        there = printed < (int)sizeof path && access(path, X_OK) == 0;
    }
    return there;
}

int batch_read(struct reader *reader)
{
    struct run_options *options = reader->options;
    const char *wanted = options->batch ? options->batch : "";
    const char *missing = wanted;
    for (size_t i = 0; i < ARRAY_LENGTH(batches) && !is_none(wanted); i++) {
        const struct batch *batch = &batches[i];
        char *text = (char *)(uintptr_t)vbase_environment(batch->variable);
        if (*wanted && strcmp(wanted, batch->name) != 0)
            continue;
        missing = batch->variable;
        if (!text || !*text)
            continue;
        if (!options->agent && batch->agent && program_is_there(batch->agent))
            options->agent = batch->agent;
        reader->flag = batch->variable;
        return options->hosts || options->told ? OK : batch->take(reader, &text);
    }
    return !*wanted || is_none(wanted)
               ? OK
               : vbase_fail(ERR_ARGUMENT, "-rmk %s: %s is not set: this is no job of %s", wanted, missing, wanted);
}
