/* What a rank finds in its environment.
 *
 * All of ours, unless told otherwise, except what another launcher set for us: started by a rank of another job we
 * start a job of our own. Then the variables that hold rank and size, ours and those that scripts know from other
 * launchers. */
#include "boot/boot.h"
#include "run/bytes.h"
#include "run/job.h"
#include "run/preload.h"
#include <libgen.h>

extern char **environ;

#define TEXT_SIZE 80

enum fact { FACT_RANK, FACT_SEAT, FACT_PMI_FD, FACT_SIZE, FACT_LOCAL_SIZE, FACT_COUNT };

/* What each rank is told besides its seat. These override what the user sets, but for the sizes, which the user may
 * set. */
static const struct {
    const char *name;
    enum fact fact;
} said[] = {
    {"PMI_FD", FACT_PMI_FD},
    {"PMI_RANK", FACT_RANK},
    {"MPI_LOCALRANKID", FACT_SEAT},
    {"OMPI_COMM_WORLD_RANK", FACT_RANK},
    {"OMPI_COMM_WORLD_LOCAL_RANK", FACT_SEAT},
    {"OMPI_COMM_WORLD_NODE_RANK", FACT_SEAT},
    {"PMI_SIZE", FACT_SIZE},
    {"MPI_LOCALNRANKS", FACT_LOCAL_SIZE},
    {"OMPI_COMM_WORLD_SIZE", FACT_SIZE},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", FACT_LOCAL_SIZE},
    {"OMPI_UNIVERSE_SIZE", FACT_SIZE},
};
#define SAID ARRAY_LENGTH(said)
#define OURS (SAID + 2) /* and the seat, and the page of a profile */

/* Where a program loads Open MPI's own library after all (it names the path, is setuid, or --abi=none), each rank of it
 * would be rank 0 of 1, and nobody would notice: that library asks no launcher but its own. Open MPI 4 looks there for
 * a server when it is alone, prints what it was given, and ends with an error. Open MPI 5 is alone where PMIx has no
 * name of a job; with a name and no rank it says that it needs its mpirun, and ends with an error, too. A server of
 * PMIx (mpirun or srun, called by a rank) sets both for what it starts. */
#define OPEN_MPI_ALONE "OMPI_MCA_ess_singleton_server"
#define OPEN_MPI_SENTENCE \
    "file:mpiexec of Viaduct cannot make one job of ranks that have loaded Open MPI's own library; use its mpirun"
#define PMIX_NOBODY "PMIX_NAMESPACE=mpiexec of Viaduct, which has no PMIx"

/* Set by other launchers, or a job around us. A name that ends with '*' stands for all that begin so. */
static const char *const not_passed[] = {
    "VIADUCT_JOB_*",   "PMI_*",           "PMIX_*",          "OMPI_COMM_WORLD_*", "OMPI_UNIVERSE_SIZE",
    "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD", "PRTE_LAUNCHED",     "OMPI_APP_CTX_NUM_PROCS",
    OPEN_MPI_ALONE,
};

static size_t name_length(const char *text) { return strcspn(text, "="); }

static bool same_name(const char *a, const char *b)
{
    size_t length = name_length(a);
    return length == name_length(b) && memcmp(a, b, length) == 0;
}

static bool variable_is_ours(const char *variable)
{
    for (size_t i = 0; i < ARRAY_LENGTH(not_passed); i++) {
        size_t length = strlen(not_passed[i]);
        if (not_passed[i][length - 1] == '*' ? strncmp(variable, not_passed[i], length - 1) == 0
                                             : same_name(variable, not_passed[i]))
            return true;
    }
    return false;
}

static bool list_has(const struct run_list *list, const char *variable)
{
    for (int i = 0; i < list->count; i++)
        if (same_name(list->item[i], variable))
            return true;
    return false;
}

static bool variable_is_passed_on(const struct run_job *job, const struct run_app *app, const char *variable)
{
    const struct run_app *common = &job->options.common;
    if (variable_is_ours(variable))
        return false;
    if (app->bare || common->bare)
        return list_has(&app->only, variable) || list_has(&common->only, variable);
    return true;
}

/* A later word replaces an earlier one of the same name. */
static void variable_set(struct run_environment *environment, int *count, const char *variable)
{
    for (int i = 0; i < *count; i++)
        if (same_name(environment->list[i], variable)) {
            environment->list[i] = (char *)(uintptr_t)variable;
            return;
        }
    environment->list[(*count)++] = (char *)(uintptr_t)variable;
}

static void variables_set(struct run_environment *environment, int *count, const struct run_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const char *item = list->item[i];
        if (item[name_length(item)] == '=') {
            variable_set(environment, count, item);
            continue;
        }
        for (char **at = environ; *at; at++)
            if (same_name(*at, item))
                variable_set(environment, count, *at);
    }
}

/* Texts of ours, the sizes or all else, of the first so many; the last two are no row of the table. */
static void ours_add(struct run_environment *environment, int *count, bool sizes, size_t texts)
{
    for (size_t i = 0; i < texts; i++)
        if (sizes == (i < SAID && said[i].fact >= FACT_SIZE))
            environment->list[(*count)++] = environment->ours + i * TEXT_SIZE;
}

static bool app_is_of_set(const struct run_app *app, const char *set)
{
    return app->process_set && strcmp(app->process_set, set) == 0;
}

/* "name=first-last,first-last": the ranks of SET. */
static void process_set_add(struct run_bytes *text, const struct run_job *job, const char *set)
{
    char run[40];
    const char *apart = "=";
    bytes_add(text, set, strlen(set));
    for (int first = 0, end; first < job->size; first = end + 1) {
        for (end = first; end < job->size && app_is_of_set(job->rank[end].app, set);)
            end++;
        if (end == first)
            continue;
        bytes_add(text, run, (size_t)snprintf(run, sizeof run, "%s%d-%d", apart, first, end - 1));
        apart = ",";
    }
}

/* The process sets of the job; NULL: there are none. Several parts may name the same. */
static char *process_sets(const struct run_job *job)
{
    struct run_bytes text = {0};
    for (int i = 0; i < job->options.apps; i++) {
        const char *set = job->options.app[i].process_set;
        bool seen = !set;
        for (int j = 0; j < i && !seen; j++)
            seen = app_is_of_set(&job->options.app[j], set);
        if (seen)
            continue;
        const char *before = text.length ? ";" : BOOT_SETS_VARIABLE "=";
        bytes_add(&text, before, strlen(before));
        process_set_add(&text, job, set);
    }
    if (text.length)
        bytes_add(&text, "", 1);
    return text.data;
}

/* "NAME=FIRST:what the user has there". */
static char *front_add(struct run_environment *environment, int *count, const char *name, const char *first)
{
    const char *user = "";
    char *text;
    for (int i = 0; i < *count; i++)
        if (same_name(environment->list[i], name))
            user = environment->list[i] + strlen(name) + 1;
    if (asprintf(&text, "%s=%s%s%s", name, first, *user ? ":" : "", user) < 0)
        abort(); /* as run_zeros */
    variable_set(environment, count, text);
    return text;
}

/* The library of a profile stands before what the user preloads: a tool calls MPI by its PMPI names, which pass by all
 * that stands behind it. In the folder lies nothing but this MPI under the names that MPICH's and Open MPI's have: the
 * loader takes it for programs that were built for those, and for no others. */
static void fronts_add(struct run_environment *environment, int *count, const struct run_job *job)
{
    char abi[PATH_MAX];
    if (job->profile.fd >= 0)
        environment->front[0] = front_add(environment, count, "LD_PRELOAD", job->profile.preload);
    if (!job->options.abi_none && preload_find("viaduct/abi/libmpich.so.12", abi) == OK)
        environment->front[1] = front_add(environment, count, "LD_LIBRARY_PATH", dirname(abi));
}

void environment_build(struct run_environment *out, const struct run_job *job, const struct run_app *app)
{
    const struct run_app *common = &job->options.common;
    size_t texts = job->profile.fd >= 0 ? OURS : OURS - 1;
    static char id[200];
    int count = 0, places = (int)OURS + 6 + app->set.count + common->set.count;
    for (char **at = environ; *at; at++)
        places++;
    *out = (struct run_environment){.list = run_zeros((size_t)places + 1, sizeof(char *)),
                                    .ours = run_zeros(OURS, TEXT_SIZE)};
    ours_add(out, &count, false, texts);
    for (char **at = environ; *at; at++)
        if (variable_is_passed_on(job, app, *at))
            out->list[count++] = *at;
    variables_set(out, &count, &common->set);
    variables_set(out, &count, &app->set);
    ours_add(out, &count, true, texts);
    snprintf(id, sizeof id, "%s=%s", HANDOVER_ID_VARIABLE, job->id);
    out->list[count++] = id;
    out->sets = process_sets(job);
    if (out->sets)
        out->list[count++] = out->sets;
    if (job->size > 1) {
        out->list[count++] = OPEN_MPI_ALONE "=" OPEN_MPI_SENTENCE;
        out->list[count++] = PMIX_NOBODY;
    }
    fronts_add(out, &count, job);
    const char *path = vbase_environment("PATH"), *front = app->path ? app->path : "";
    if (!path) /* as shells do */
        path = "/usr/local/bin:/usr/bin:/bin";
    for (int i = 0; i < count; i++)
        if (strncmp(out->list[i], "PATH=", 5) == 0)
            path = out->list[i] + 5;
    if (asprintf(&out->search, "PATH=%s%s%s:.", front, *front ? ":" : "", path) < 0)
        abort(); /* as run_zeros */
}

void environment_for(struct run_environment *environment, const struct run_job *job, int rank, int pmi_fd, int seat_fd)
{
    int seat = job->rank[rank].seat;
    const int value[FACT_COUNT] = {rank, seat, pmi_fd, job->size, job->local};
    for (size_t i = 0; i < SAID; i++)
        snprintf(environment->ours + i * TEXT_SIZE, TEXT_SIZE, "%s=%d", said[i].name, value[said[i].fact]);
    snprintf(environment->ours + SAID * TEXT_SIZE, TEXT_SIZE, "%s=%d,%d,%d,%d", HANDOVER_SEAT_VARIABLE,
             job->handover.fd, job->node_fd, seat, seat_fd);
    profile_variable(job, rank, environment->ours + (SAID + 1) * TEXT_SIZE, TEXT_SIZE);
}

void environment_free(struct run_environment *environment)
{
    free(environment->list);
    free(environment->ours);
    free(environment->search);
    free(environment->sets);
    free(environment->front[0]);
    free(environment->front[1]);
    *environment = (struct run_environment){0};
}
