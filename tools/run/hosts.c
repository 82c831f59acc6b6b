/* Host names, host files, and which rank goes where. No name is resolved: that is up to the agent. Syntaxes:
 * "a:4,b", "a slots=4 max_slots=8", "[::1]:4", '#' begins a comment. (But our own name with a domain is looked up: is
 * it this host?)
 *
 * A program is placed on the hosts of its own part, else on those of the first part that names some. Hosts are filled
 * in their order up to their slots (or -ppn); when all are full they are filled once more: slots set the distribution
 * and limit nothing, max_slots do. */
#include "run/flags.h"
#include "run/job.h"
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

/* Can a socket have this address? Then it is ours. */
static bool address_is_here(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool here = fd >= 0 && bind(fd, address->ai_addr, address->ai_addrlen) == 0;
    base_close(fd);
    return here;
}

static bool addresses_are_here(const char *name, int how)
{
    struct addrinfo hints = {.ai_flags = how, .ai_socktype = SOCK_DGRAM}, *all = NULL;
    bool here = getaddrinfo(name, NULL, &hints, &all) == 0;
    for (const struct addrinfo *at = all; at && here; at = at->ai_next)
        here = address_is_here(at);
    if (all)
        freeaddrinfo(all);
    return here;
}

/* Our name, an address of ours, or our name with a domain that leads to addresses of ours: else another host of a
 * cluster whose first name is the same. */
static bool is_here(const char *name)
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) < 0)
        own[0] = 0;
    size_t plain = strcspn(own, ".");
    bool first = plain > 0 && strncasecmp(name, own, plain) == 0;
    return strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0 || (first && !name[plain]) ||
           addresses_are_here(name, first && name[plain] == '.' ? 0 : AI_NUMERICHOST);
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
    if (*name == '-' || !*name) /* an agent would take it for a flag */
        return vbase_fail(ERR_ARGUMENT, "'%s' is not the name of a host", name);
    for (int i = 0; i < options->hosts; i++)
        if (strcmp(options->host[i].name, name) == 0)
            return i;
    bool here = is_here(name); /* it may ask the network */
    for (int i = 0; i < options->hosts && here; i++)
        if (options->host[i].here)
            return i;
    return host_add(options, name, here);
}

/* A sum that is too large stays so, as far as the message that says so. */
static int slots_sum(int a, int b)
{
    return (int64_t)a + b > RANKS_MOST ? RANKS_MOST + 1 : a + b;
}

static int host_offer(struct run_options *options, struct run_app *app, const char *name, int slots)
{
    int host = host_number(options, name);
    if (host < 0)
        return host;
    for (int i = 0; i < app->offers; i++)
        if (app->offer[i].host == host) {
            app->offer[i].slots = slots_sum(app->offer[i].slots, slots);
            return OK;
        }
    app->offer = run_grown(app->offer, app->offers, sizeof *app->offer);
    app->offer[app->offers++] = (struct run_offer){host, slots};
    return OK;
}

/* The words behind a name: "slots=4 max_slots = 8". */
static int host_words_read(const char *name, const char *at, int *slots, int *most)
{
    while (*(at += strspn(at, " \t"))) {
        char word[16], number[16];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "= \t"), at);
        bool limit = strcmp(word, "max_slots") == 0 || strcmp(word, "max-slots") == 0;
        int *to = strcmp(word, "slots") == 0 ? slots : limit ? most : NULL;
        if (!to)
            return vbase_fail(ERR_ARGUMENT, "host %s: '%.*s' is not known: slots=N and max_slots=N are", name,
                              (int)strcspn(at, " \t"), at);
        at += strlen(word);
        at += strspn(at, " \t");
        bool equals = *at == '=';
        at += equals + strspn(at + equals, " \t");
        snprintf(number, sizeof number, "%.*s", (int)strcspn(at, " \t"), at);
        if (!equals || !vboot_number(number, to) || *to < 1)
            return vbase_fail(ERR_ARGUMENT, "host %s: expected a number of 1 or more after %s=", name, word);
        at += strcspn(at, " \t");
    }
    return OK;
}

/* One host with its slots: "name", "name:4", "name slots=4 max_slots=8", "[an IPv6 address]:4". */
static int host_read(struct run_options *options, struct run_app *app, char *text)
{
    int count = 1, most = 0;
    char *more = text + strcspn(text, " \t"), *close = *text == '[' ? strchr(text, ']') : NULL;
    if (*more)
        *more++ = 0;
    char *colon = strchr(text, ':');
    if (close && (!close[1] || close[1] == ':')) {
        colon = close[1] ? close + 1 : NULL;
        *close = 0;
        text++;
    } else if (colon && colon != strrchr(text, ':'))
        colon = NULL; /* an IPv6 address */
    if (colon) {
        *colon = 0;
        if (!vboot_number(colon + 1, &count) && strcmp(colon + 1, "*") != 0)
            count = -1;
    }
    if (count < 1)
        return vbase_fail(ERR_ARGUMENT, "host %s: expected a number of slots of 1 or more after the colon", text);
    int error = host_words_read(text, more, &count, &most) ?: host_offer(options, app, text, count);
    if (error == OK && most) {
        struct run_host *host = &options->host[host_number(options, text)];
        host->most = host->most && host->most < most ? host->most : most;
    }
    return error;
}

int hosts_add(struct reader *reader, const char *name, int slots)
{
    return host_offer(reader->options, reader->app, name, slots);
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
        return vbase_fail_errno(ERR_ARGUMENT, "cannot read the host file %s", word[0]);
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
    int slots = options->lines;
    for (int i = 0; i < from->offers && !options->lines; i++) {
        int most = options->host[from->offer[i].host].most;
        int here = options->per_node ? options->per_node : from->offer[i].slots;
        slots = slots_sum(slots, most && most < here ? most : here);
    }
    return slots ? slots : options->per_node ? options->per_node : 1;
}

static bool host_is_full(const struct run_host *host) { return host->most && host->ranks >= host->most; }

/* Of what FROM offers, the host that has the fewest rounds of ranks; -1: none. */
static int host_choose(const struct run_options *options, const struct run_app *from)
{
    bool in_turn = options->placing.map == BY_NODE;
    int best = -1;
    for (int i = 0, fewest = INT32_MAX; i < from->offers; i++) {
        const struct run_host *host = &options->host[from->offer[i].host];
        int capacity = in_turn ? 1 : options->per_node ? options->per_node : from->offer[i].slots;
        int rounds = capacity ? host->ranks / capacity : INT32_MAX - 1;
        if (rounds < fewest && !(options->elsewhere && host->here) && !host_is_full(host)) {
            fewest = rounds;
            best = from->offer[i].host;
        }
    }
    return best;
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

/* "h0", or "+n1": the second that was named. */
static int host_of_line(struct run_options *options, const char *name)
{
    int number;
    if (strncmp(name, "+n", 2) != 0)
        return host_number(options, name);
    if (vboot_number(name + 2, &number) && number >= 0 && number < options->hosts)
        return number;
    return vbase_fail(ERR_ARGUMENT, "rank file: %s is none of the hosts that were named", name);
}

static int rank_place(struct run_options *options, const struct run_rank *rank)
{
    const struct run_app *from = offers_for(options, rank->app);
    if (options->lines && rank->rank >= options->lines)
        return vbase_fail(ERR_ARGUMENT, "the rank file has no line for rank %d", rank->rank);
    int host = options->lines ? host_of_line(options, options->line[rank->rank].host)
               : from->offers ? host_choose(options, from)
                              : options->elsewhere ? -1 : host_number(options, "localhost");
    bool full = host >= 0 ? host_is_full(&options->host[host]) : !options->elsewhere;
    if ((host >= 0 && !full) || (host < 0 && options->lines))
        return host;
    for (int i = 0; i < from->offers; i++)
        full |= !options->host[from->offer[i].host].here;
    return full ? vbase_fail(ERR_ARGUMENT, "no host can have rank %d: all have max_slots ranks", rank->rank)
                : vbase_fail(ERR_ARGUMENT, "no host but this one is named (-nolocal, -skip-launch-node)");
}

/* Those of one program whose hosts are dealt anew: one host after the other, or in turn. COUNT ranks from FIRST. */
static void hosts_renumber(struct run_job *job, struct run_rank *first, int count)
{
    int *left = run_zeros((size_t)job->options.hosts, sizeof *left);
    bool in_turn = job->options.placing.rank == BY_NODE;
    for (int i = 0; i < count; i++)
        left[first[i].host]++;
    for (int i = 0, host = 0; i < count; host = (host + 1) % job->options.hosts)
        for (int most = in_turn ? 1 : count; most > 0 && left[host] > 0; most--, left[host]--)
            first[i++].host = host;
    free(left);
}

int hosts_offer(const struct run_app *app, int host)
{
    int slots = 0;
    for (int i = 0; i < app->offers; i++)
        slots += app->offer[i].host == host ? app->offer[i].slots : 0;
    return slots;
}

/* --nooversubscribe. A host that nobody named offers its processors. */
static int slots_check(const struct run_options *options, int size)
{
    cpu_set_t allowed;
    int slots = 0;
    for (int i = 0; i < options->hosts; i++)
        for (int j = 0; j < options->apps; j++)
            slots = slots_sum(slots, hosts_offer(&options->app[j], i));
    if (slots == 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        slots = CPU_COUNT(&allowed);
    return size <= slots ? OK
                         : vbase_fail(ERR_ARGUMENT, "%d ranks are more than %d slots (nooversubscribe)", size, slots);
}

int hosts_place(struct run_job *job)
{
    struct run_options *options = &job->options;
    if (job->told) {
        places_take(job, job->told);
        return OK;
    }
    for (int i = 0; i < job->size; i++) {
        int host = rank_place(options, &job->rank[i]);
        if (host < 0)
            return host;
        job->rank[i].host = host;
        options->host[host].ranks++;
    }
    if (options->placing.rank && !options->lines)
        for (int i = 0, first = 0; i < options->apps; first += options->app[i++].count)
            hosts_renumber(job, &job->rank[first], options->app[i].count);
    for (int i = 0; i < options->hosts; i++)
        options->host[i].ranks = 0;
    for (int i = 0; i < job->size; i++)
        job->rank[i].seat = options->host[job->rank[i].host].ranks++;
    job->here = -1;
    job->charge = run_zeros((size_t)options->hosts, sizeof(int));
    for (int i = 0; i < options->hosts; i++)
        if (options->host[i].here)
            job->here = i;
        else if (options->host[i].ranks > 0)
            job->charge[job->charges++] = i;
    job->local = job->here >= 0 ? options->host[job->here].ranks : 0;
    return options->slots_limit ? slots_check(options, job->size) : OK;
}
