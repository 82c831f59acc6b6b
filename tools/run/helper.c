/* `viaduct helper`: what an agent starts on another host. It reads the job from its standard input, launches the ranks
 * of its own host, as `viaduct run` does, and passes their output to the head. When its input ends, or nothing comes
 * for too long, the head is gone: it kills all and ends. It trusts the head, which has the user's own key to this
 * host. */
#include "run/job.h"
#include "verbs.h"
#include <fcntl.h>

extern char **environ;

/* Variables of this host, not of the user's shell at the head. */
static bool variable_stays(const char *variable)
{
    static const char *const own[] = {"HOSTNAME=", "SSH_", "XDG_", "DISPLAY=", "VIADUCT_NODE=", "VIADUCT_JOB_"};
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        if (strncmp(variable, own[i], strlen(own[i])) == 0)
            return true;
    return false;
}

static void environment_take(char **theirs, int count, const char *id)
{
    char **old = environ;
    static char *none[1];
    environ = none;
    for (char **at = old; *at; at++)
        if (variable_stays(*at))
            putenv(*at);
    for (int i = 0; i < count; i++)
        if (!variable_stays(theirs[i]) && strchr(theirs[i], '='))
            putenv(theirs[i]);
    setenv(HANDOVER_ID_VARIABLE, id, 1); /* ours is made as of a job within it */
}

static int helper_refuse(const char *why)
{
    fprintf(stderr, "%s\n", why);
    return 1;
}

/* From now on standard input is for a rank, if one reads it, and standard output is unused. */
static bool streams_move(struct run_job *job)
{
    int input[2];
    job->head.fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int wire = fcntl(1, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (job->head.fd < 0 || wire < 0 || null < 0 || pipe2(input, O_CLOEXEC) < 0)
        return false;
    sink_wire(&job->sink[0], wire);
    sink_wire(&job->rank_input, input[1]);
    job->rank_input.wanted = input_more;
    dup2(input[0], 0);
    dup2(null, 1);
    close(input[0]);
    close(null);
    return true;
}

/* The job's frame, the first that comes; never freed. NULL: something else came. */
static struct run_order *order_read(struct run_job *job, size_t *length)
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

int verb_helper(int argc, char **argv)
{
    static struct run_job job = {.input.fd = -1};
    size_t length;
    (void)argc, (void)argv;
    struct run_order *told = order_read(&job, &length);
    if (!told)
        return helper_refuse(
            "viaduct helper: no launcher is connected; mpiexec starts this verb on other hosts, users do not");
    if (length < sizeof *told || memcmp(told->build, vbase_build_id, sizeof told->build) != 0)
        return helper_refuse("its Viaduct is of another build: install the same files on all hosts");
    char **text = order_texts(told, length);
    if (!text)
        return helper_refuse(
            "the description of the job that the launcher sent is invalid: install the same Viaduct on all hosts");
    char **variable = text + ORDER_TEXTS, **word = variable + told->variables;
    job.told = told;
    job.told_rankfile = text[3];
    job.options.told_files = text[4];
    job.told_hosts = word + told->words;
    environment_take(variable, told->variables, text[1]);
    snprintf(job.space, sizeof job.space, "%s", text[2]);
    if (chdir(text[0]) < 0) {
        fprintf(stderr, "cannot go to %s there: %s\n", text[0], strerror(errno));
        return 1;
    }
    /* only now: a refusal before this is reported as a host on which nothing could be started */
    if (write(1, HELPER_HELLO, strlen(HELPER_HELLO)) < 0)
        return 1;
    if (!streams_move(&job))
        return helper_refuse("no file descriptors left (ulimit -n)");
    return run_job(&job, told->words, word);
}
