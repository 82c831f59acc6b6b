/* Host names, host files, and which rank goes where. No name is resolved here: that is up to the agent. Syntaxes:
 * "a:4,b", "a slots=4", "a:4", '#' begins a comment.
 *
 * A program is placed on the hosts of its own part, else on those of the first part that names some. Hosts are filled
 * in their order up to their slots (or -ppn); when all are full they are filled once more: slots set the distribution
 * and limit nothing. */
#include "run/flags.h"
#include "run/job.h"
#include <ctype.h>
#include <strings.h>

static bool is_here(const char *name)
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) < 0)
        own[0] = 0;
    size_t plain = strcspn(own, "."), length = strlen(name);
    return strcasecmp(name, "localhost") == 0 || strncasecmp(name, "localhost.", 10) == 0 ||
           strncmp(name, "127.", 4) == 0 || strcmp(name, "::1") == 0 || strcasecmp(name, own) == 0 ||
           (length >= plain && plain > 0 && strncasecmp(name, own, plain) == 0 &&
            (name[plain] == 0 || name[plain] == '.'));
}

static int host_add(struct run_options *options, const char *name, bool here)
{
    options->host = run_grown(options->host, options->hosts, sizeof *options->host);
    options->host[options->hosts] = (struct run_host){.name = strdup(name),
                                                      .here = here,
                                                      .number = options->hosts,
                                                      .via = options->hosts,
                                                      .in.fd = -1,
                                                      .complaints.fd = -1,
                                                      .wire.watch.fd = -1,
                                                      .out = {{.watch.fd = -1, .rank = -1, .fresh = true},
                                                              {.watch.fd = -1, .rank = -1, .fresh = true, .which = 1}}};
    return options->hosts++;
}

/* The number of the host of this name; made if it is new. */
static int host_number(struct run_options *options, const char *name)
{
    bool here = is_here(name);
    for (int i = 0; i < options->hosts; i++)
        if (here ? options->host[i].here : strcmp(options->host[i].name, name) == 0)
            return i;
    return host_add(options, name, here);
}

static void host_offer(struct run_options *options, struct run_app *app, const char *name, int slots)
{
    int host = host_number(options, name);
    for (int i = 0; i < app->offers; i++)
        if (app->offer[i].host == host) {
            app->offer[i].slots += slots;
            return;
        }
    app->offer = run_grown(app->offer, app->offers, sizeof *app->offer);
    app->offer[app->offers++] = (struct run_offer){host, slots};
}

/* One host with its slots: "name", "name:4", "name slots=4 max_slots=8". */
static int host_read(struct run_options *options, struct run_app *app, char *text)
{
    int count = 1;
    char *more = text + strcspn(text, " \t");
    if (*more)
        *more++ = 0;
    char *colon = strchr(text, ':');
    if (colon && colon != strrchr(text, ':'))
        colon = NULL; /* an IPv6 address */
    if (colon) {
        *colon = 0;
        if (!vboot_number(colon + 1, &count) && strcmp(colon + 1, "*") != 0)
            count = -1;
    }
    for (char *slots = more; (slots = strstr(slots, "slots")); slots += 5)
        if ((slots == more || strchr(" \t", slots[-1])) && sscanf(slots + 5, " = %d", &count) != 1) /* not max_slots */
            count = -1;
    if (count < 0)
        return vbase_fail(ERR_ARGUMENT, "host %s: the number of slots makes no sense", text);
    if (*text == '-') /* an agent would take it for a flag */
        return vbase_fail(ERR_ARGUMENT, "%s is not the name of a host", text);
    host_offer(options, app, text, count);
    return OK;
}

int hosts_read_list(struct reader *reader, char **word)
{
    char *copy = strdup(word[0]), *rest = copy;
    int error = OK;
    for (char *host; copy && error == OK && (host = strsep(&rest, ","));)
        if (*host)
            error = host_read(reader->options, reader->app, host);
    free(copy);
    if (error == OK && reader->app->offers == 0)
        error = vbase_fail(ERR_ARGUMENT, "%s \"%s\" names no host", reader->flag, word[0]);
    return error;
}

int hosts_read_file(struct reader *reader, char **word)
{
    char *line = NULL;
    size_t size = 0;
    int error = OK;
    if (reader->options->told)
        return OK; /* the head has read it */
    FILE *file = fopen(word[0], "re");
    if (!file)
        return vbase_fail(ERR_ARGUMENT, "cannot read the host file %s", word[0]);
    while (error == OK && getline(&line, &size, file) > 0) {
        char *start = line + strspn(line, " \t");
        start[strcspn(start, "#\n\r")] = 0;
        if (*start)
            error = host_read(reader->options, reader->app, start);
    }
    free(line);
    fclose(file);
    if (error == OK && reader->app->offers == 0)
        error = vbase_fail(ERR_ARGUMENT, "the host file %s names no host", word[0]);
    return error;
}

static const struct run_app *offers_for(const struct run_options *options, const struct run_app *app)
{
    for (int i = 0; app->offers == 0 && i < options->apps; i++)
        if (options->app[i].offers > 0)
            return &options->app[i];
    return app;
}

int hosts_slots(const struct run_options *options, const struct run_app *app)
{
    const struct run_app *from = offers_for(options, app);
    int slots = 0;
    for (int i = 0; i < from->offers; i++)
        slots += options->per_node ? options->per_node : from->offer[i].slots;
    return slots ? slots : options->per_node ? options->per_node : 1;
}

static int host_choose(const struct run_options *options, const struct run_app *from)
{
    bool in_turn = options->map_by && strncmp(options->map_by, "node", 4) == 0;
    int best = -1;
    for (int i = 0, fewest = INT32_MAX; i < from->offers; i++) {
        int capacity = in_turn ? 1 : options->per_node ? options->per_node : from->offer[i].slots;
        int rounds = capacity ? options->host[from->offer[i].host].ranks / capacity : INT32_MAX;
        if (rounds < fewest) {
            fewest = rounds;
            best = from->offer[i].host;
        }
    }
    return best >= 0 ? best : from->offer[0].host;
}

/* A helper takes the places from the head. */
static void places_take(struct run_job *job, const struct run_order *told)
{
    job->options.hosts = 0;
    for (int i = 0; i < told->hosts; i++)
        host_add(&job->options, job->told_hosts[i], i == told->here);
    for (int i = 0; i < job->size; i++) {
        job->rank[i].host = told->number[told->apps + i];
        job->rank[i].seat = job->rank[i].host == told->here ? job->local++ : 0;
    }
    job->here = told->here;
    job->charges = told->charges;
    job->charge = &job->told->number[told->apps + told->size];
}

void hosts_place(struct run_job *job)
{
    struct run_options *options = &job->options;
    if (job->told) {
        places_take(job, job->told);
        return;
    }
    for (int i = 0; i < job->size; i++) {
        const struct run_app *from = offers_for(options, job->rank[i].app);
        int host = from->offers ? host_choose(options, from) : host_number(options, "localhost");
        job->rank[i].host = host;
        job->rank[i].seat = options->host[host].ranks++;
    }
    job->here = -1;
    job->charge = run_zeros((size_t)options->hosts, sizeof(int));
    for (int i = 0; i < options->hosts; i++)
        if (options->host[i].here)
            job->here = i;
        else if (options->host[i].ranks > 0)
            job->charge[job->charges++] = i;
    job->local = job->here >= 0 ? options->host[job->here].ranks : 0;
}
