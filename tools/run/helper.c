/* `viaduct helper`: what an agent starts on another host. It reads the job from its standard input, is the launcher of
 * its own host's ranks, as `viaduct run` is, and passes their words on to the head. When its input ends, or nothing comes
 * for too long, the head is gone: it kills all and ends. It believes the head, which has the user's own key to this host. */
#include "run/run.h"
#include "verbs.h"

extern char **environ;

struct text { /* what is left of the job's frame */
    const char *at, *end;
};

static const char *next(struct text *text)
{
    const char *found = text->at, *stop = found ? memchr(found, 0, (size_t)(text->end - found)) : NULL;
    text->at = stop ? stop + 1 : NULL;
    return stop ? found : NULL;
}

/* A number from 0 to MOST, -1 if there is none. */
static int next_number(struct text *text, int most)
{
    int number;
    const char *word = next(text);
    return word && vboot_number(word, &number) && number >= 0 && number <= most ? number : -1;
}

static char **next_words(struct text *text, int *count)
{
    *count = next_number(text, 1 << 20);
    char **word = *count >= 0 ? calloc((size_t)*count + 1, sizeof(char *)) : NULL;
    for (int i = 0; word && i < *count; i++)
        if (!(word[i] = (char *)(uintptr_t)next(text)))
            return NULL;
    return word;
}

/* What belongs to a host and not to the user's shell on the head. */
static bool stays(const char *variable)
{
    static const char *const own[] = {"HOSTNAME=", "SSH_", "XDG_", "DISPLAY=", "VIADUCT_NODE=", "VIADUCT_JOB_"};
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        if (strncmp(variable, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static void take_environment(char **theirs, const char *id)
{
    char **old = environ;
    static char *none[1];
    environ = none;
    for (char **at = old; *at; at++)
        if (stays(*at))
            putenv(*at);
    for (char **at = theirs; *at; at++)
        if (!stays(*at) && strchr(*at, '='))
            putenv(*at);
    setenv(HANDOVER_ID_VARIABLE, id, 1); /* ours is made as of a job within it */
}

static int refuse(const char *why)
{
    fprintf(stderr, "%s\n", why);
    return 1;
}

/* From now on standard input is a rank's, if it is to have one, and standard output is nobody's. */
static bool move_streams(struct run_job *job)
{
    int input[2];
    job->head.fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int wire = fcntl(1, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (job->head.fd < 0 || wire < 0 || null < 0 || pipe2(input, O_CLOEXEC) < 0)
        return false;
    output_wire(&job->sink[0], wire);
    output_wire(&job->rank_input, input[1]);
    dup2(input[0], 0);
    dup2(null, 1);
    close(input[0]);
    close(null);
    return true;
}

/* COUNT numbers, or as many as the first one says; NULL if there is one that cannot be. */
static int *next_numbers(struct text *text, int count)
{
    int *number = count >= 0 ? calloc((size_t)count + 1, sizeof(int)) : NULL;
    for (int i = 0; number && i < count; i++)
        if ((number[i] = next_number(text, 1 << 20)) < 0)
            return NULL;
    return number;
}

/* False: it makes no sense. Arrays and texts stay for ever. */
static bool take_places(struct run_job *job, struct text *text)
{
    int size = 0;
    job->told.apps = next_number(text, 1 << 20);
    job->told.count = next_numbers(text, job->told.apps);
    for (int i = 0; job->told.count && i < job->told.apps; i++)
        size += job->told.count[i];
    job->told.name = next_words(text, &job->told.hosts);
    job->told.host = next_numbers(text, size);
    job->here = next_number(text, job->told.hosts - 1);
    job->charges = next_number(text, job->told.hosts);
    job->charge = next_numbers(text, job->charges);
    for (int i = 0; job->told.host && i < size; i++)
        if (job->told.host[i] >= job->told.hosts)
            return false;
    for (int i = 0; job->charge && i < job->charges; i++)
        if (job->charge[i] >= job->told.hosts || job->charge[i] == job->here)
            return false;
    return job->told.count && job->told.name && job->told.host && job->charge && job->here >= 0 && size > 0;
}

/* The job's frame: the first that comes. */
static bool hear_job(struct run_job *job, struct text *text)
{
    struct run_frame_header header;
    struct run_bytes copy = {0}; /* its texts stay for ever */
    bool broken = false;
    const char *body;
    while (!(body = frame_next(&job->heard, &header, &broken)))
        if (broken || !bytes_read(&job->heard, 0))
            return false;
    bytes_add(&copy, body, header.length);
    bytes_drop(&job->heard, sizeof header + header.length);
    *text = (struct text){copy.data, copy.data + copy.length};
    return header.kind == FRAME_JOB;
}

int verb_helper(int argc, char **argv)
{
    static struct run_job job = {.input.fd = -1};
    struct text text;
    int words, variables;
    (void)argc, (void)argv;
    if (!hear_job(&job, &text))
        return refuse("viaduct helper: nobody gives it a job; it is for the launcher alone");
    const char *build = next(&text);
    if (!build || strcmp(build, vbase_build_id) != 0)
        return refuse("its Viaduct is of another build: install the same files on all hosts");
    if (text.end - text.at >= SECRET_SIZE) {
        memcpy(job.secret, text.at, SECRET_SIZE);
        text.at += SECRET_SIZE;
    }
    const char *directory = next(&text), *id = next(&text), *space = next(&text);
    char **environment = next_words(&text, &variables), **word = next_words(&text, &words);
    if (!environment || !word || !take_places(&job, &text))
        return refuse("the job that came makes no sense");
    take_environment(environment, id);
    snprintf(job.space, sizeof job.space, "%s", space);
    if (chdir(directory) < 0) {
        fprintf(stderr, "cannot go to %s there: %s\n", directory, strerror(errno));
        return 1;
    }
    /* only now: what is refused before this is told as a host on which nothing could be started */
    if (write(1, HELPER_HELLO, strlen(HELPER_HELLO)) < 0)
        return 1;
    if (!move_streams(&job))
        return refuse("no descriptors left");
    return run_job(&job, words, word);
}

/* ---- while the job runs ---- */

static void obey(struct run_job *job, const struct run_frame_header *header, const char *body)
{
    job->head_silent = 0;
    job->head_rests = header->kind == FRAME_SIGNAL && frame_number(header, body) == SIGTSTP; /* with the terminal's user */
    if (header->kind == FRAME_SIGNAL)
        run_signal(job, frame_number(header, body));
    else if (header->kind == FRAME_FENCE)
        remote_release(job, body, header->length);
    else if (header->kind == FRAME_DEATH)
        remote_death(job, body, header->length);
    else if (header->kind != FRAME_STDIN || remote_input(job, body, header->length))
        return;
    else if (header->length > 0)
        output_push(job, &job->rank_input, body, header->length);
    else if (job->rank_input.watch.fd >= 0) {
        job->rank_input.broken = true;
        run_watch_close(job, &job->rank_input.watch);
    }
}

/* False: what came is no frame. */
static bool obey_all(struct run_job *job)
{
    struct run_frame_header header;
    bool broken = false;
    for (const char *body; (body = frame_next(&job->heard, &header, &broken));) {
        obey(job, &header, body);
        bytes_drop(&job->heard, sizeof header + header.length);
    }
    return !broken;
}

void helper_orphaned(struct run_job *job)
{
    epoll_ctl(job->epoll, EPOLL_CTL_DEL, job->head.fd, NULL);
    job->sink[0].broken = true; /* nobody reads it */
    run_signal(job, SIGKILL);
    remote_forget(job); /* they see the end as we do */
}

static void head_ready(struct run_job *job, struct run_watch *watch)
{
    bool more = bytes_read(&job->heard, watch->fd);
    if (!obey_all(job) || !more)
        helper_orphaned(job);
}

int helper_listen(struct run_job *job)
{
    job->head.ready = head_ready;
    int error = run_watch_add(job, &job->head, EPOLLIN);
    if (error == OK && !obey_all(job)) /* what came together with the job */
        error = vbase_fail(ERR_PROTOCOL, "what the head says makes no sense");
    return error;
}
