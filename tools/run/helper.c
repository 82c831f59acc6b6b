/* `viaduct helper`: what an agent starts on another host. It reads the job from its standard input, is the launcher of
 * its own host's ranks, as `viaduct run` is, and passes their words on to the head. When its input ends, or nothing comes
 * for too long, the head is gone: it kills all and ends. It believes the head, which has the user's own key to this host. */
#include "run/run.h"
#include "verbs.h"

extern char **environ;

/* What belongs to a host and not to the user's shell on the head. */
static bool stays(const char *variable)
{
    static const char *const own[] = {"HOSTNAME=", "SSH_", "XDG_", "DISPLAY=", "VIADUCT_NODE=", "VIADUCT_JOB_"};
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        if (strncmp(variable, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static void take_environment(char **theirs, int count, const char *id)
{
    char **old = environ;
    static char *none[1];
    environ = none;
    for (char **at = old; *at; at++)
        if (stays(*at))
            putenv(*at);
    for (int i = 0; i < count; i++)
        if (!stays(theirs[i]) && strchr(theirs[i], '='))
            putenv(theirs[i]);
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

/* The job's frame: the first that comes. It stays for ever; NULL: something else came. */
static struct run_order *hear_job(struct run_job *job, size_t *length)
{
    struct run_frame_header header;
    struct run_bytes copy = {0};
    bool broken = false;
    const char *body;
    while (!(body = frame_next(&job->heard, &header, &broken)))
        if (broken || !bytes_read(&job->heard, 0))
            return NULL;
    bytes_add(&copy, body, header.length);
    bytes_drop(&job->heard, sizeof header + header.length);
    *length = header.length;
    return header.kind == FRAME_JOB ? (struct run_order *)(void *)copy.data : NULL;
}

static bool all_within(const int32_t *number, int count, int32_t most)
{
    for (int i = 0; i < count; i++)
        if (number[i] < 0 || number[i] > most)
            return false;
    return true;
}

/* Its texts, which stay in it; NULL: it makes no sense. */
static char **understand(const struct run_order *order, size_t length)
{
    const int32_t part[] = {order->apps, order->size, order->charges, order->variables, order->words, order->hosts, order->here};
    int64_t ranks = 0;
    if (!all_within(part, ARRAY_LENGTH(part), 1 << 20))
        return NULL;
    int count = 3 + order->variables + order->words + order->hosts;
    const int32_t *host = order->number + order->apps, *charge = host + order->size;
    const char *at = (const char *)(charge + order->charges), *end = (const char *)order + length;
    if (at > end || order->here >= order->hosts || order->size == 0 || order->words == 0 ||
        !all_within(order->number, order->apps, order->size) ||
        !all_within(host, order->size + order->charges, order->hosts - 1))
        return NULL;
    for (int i = 0; i < order->apps; i++)
        ranks += order->number[i];
    for (int i = 0; i < order->charges; i++)
        if (charge[i] == order->here)
            return NULL;
    char **text = run_zeros((size_t)count, sizeof *text);
    for (int i = 0; i < count && at; i++) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        text[i] = (char *)(uintptr_t)at;
        at = stop ? stop + 1 : NULL;
    }
    return at && ranks == order->size ? text : NULL;
}

int verb_helper(int argc, char **argv)
{
    static struct run_job job = {.input.fd = -1};
    size_t length;
    (void)argc, (void)argv;
    struct run_order *told = hear_job(&job, &length);
    if (!told)
        return refuse("viaduct helper: nobody gives it a job; it is for the launcher alone");
    if (length < sizeof *told || memcmp(told->build, vbase_build_id, sizeof told->build) != 0)
        return refuse("its Viaduct is of another build: install the same files on all hosts");
    char **text = understand(told, length);
    if (!text)
        return refuse("the job that came makes no sense");
    char **variable = text + 3, **word = variable + told->variables;
    job.told = told;
    job.told_hosts = word + told->words;
    take_environment(variable, told->variables, text[1]);
    snprintf(job.space, sizeof job.space, "%s", text[2]);
    if (chdir(text[0]) < 0) {
        fprintf(stderr, "cannot go to %s there: %s\n", text[0], strerror(errno));
        return 1;
    }
    /* only now: what is refused before this is told as a host on which nothing could be started */
    if (write(1, HELPER_HELLO, strlen(HELPER_HELLO)) < 0)
        return 1;
    if (!move_streams(&job))
        return refuse("no descriptors left");
    return run_job(&job, told->words, word);
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
        remote_death(job, (const int *)(const void *)body, header->length / sizeof(int));
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
