/* The client of PMI, version 1.1: lock-step, one command asked ("cmd=get kvsname=12.0 key=card-3\n"), one answered.
 * hydra, Slurm's pmi2, flux and our own launcher have it; nothing of PMI 2.0 is needed. Written for what launchers
 * really do: every command leaves with a single write, the version is exactly 1.1, keys come in any order, a missing
 * key is told by rc or by no value. Every answer but a fence's has a deadline; a launcher that vanishes gives
 * ERR_LAUNCHER. */
#include "boot/inside.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#define ABORT_PATIENCE_MS 1000

/* A line, without its end. One command, one write: a launcher may take what one read gives it for one command. */
static int line_say(struct boot_pmi *pmi, const char *format, va_list list)
{
    char line[LINE_MAX_BYTES];
    int length = vsnprintf(line, sizeof line, format, list), sent = 0;
    if (length < 0 || length >= LINE_MAX_BYTES - 1)
        return vbase_fail(ERR_ARGUMENT, "a PMI line would be longer than %d bytes", LINE_MAX_BYTES);
    if (pmi->fd < 0)
        return vbase_fail(ERR_LAUNCHER, "there is no connection to the launcher (PMI_FD)");
    line[length++] = '\n';
    while (sent < length) {
        ssize_t some = send(pmi->fd, line + sent, (size_t)(length - sent), MSG_NOSIGNAL);
        if (some < 0 && errno != EINTR)
            return vbase_fail_errno(ERR_LAUNCHER, "writing to the launcher: it has ended");
        sent += some > 0 ? (int)some : 0;
    }
    return OK;
}

PRINTF_LIKE(2, 3) static int line_tell(struct boot_pmi *pmi, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int error = line_say(pmi, format, list);
    va_end(list);
    return error;
}

static int line_hear(struct boot_pmi *pmi, int deadline_ms, const char **line)
{
    uint64_t end = vbase_clock_ns() / 1000000 + (uint64_t)deadline_ms;
    while (!(*line = vboot_lines_next(&pmi->lines))) {
        struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
        uint64_t now = vbase_clock_ns() / 1000000;
        if (deadline_ms > 0 && (now >= end || poll(&ready, 1, (int)(end - now)) == 0))
            return vbase_fail(ERR_LAUNCHER, "no answer of the launcher within %d ms", deadline_ms);
        long got = vboot_lines_fill(&pmi->lines, pmi->fd);
        if (got == ERR_PROTOCOL)
            return ERR_LAUNCHER;
        if (got == 0)
            return vbase_fail(ERR_LAUNCHER, "the launcher closed its connection");
        if (got < 0)
            return vbase_fail_errno(ERR_LAUNCHER, "reading from the launcher");
    }
    return OK;
}

/* The value of KEY in an answer; OTHERWISE where it has none, or one below LEAST. */
static int answer_number(const char *answer, const char *key, int least, int otherwise)
{
    int value;
    return vboot_line_int(answer, key, &value) && value >= least ? value : otherwise;
}

/* An answer without rc is a good one. */
static bool answer_is_refused(const char *answer) { return answer_number(answer, "rc", INT_MIN, 0) != 0; }

static int reply_hear(struct boot_pmi *pmi, int deadline_ms, const char *reply, const char **answer)
{
    int error;
    while ((error = line_hear(pmi, deadline_ms, answer)) == OK && !vboot_line_is(*answer, reply)) {
        if (!pmi->fencing || !vboot_line_is(*answer, "barrier_out"))
            return vbase_fail(ERR_LAUNCHER, "expected cmd=%s of the launcher, it said \"%.120s\"", reply, *answer);
        pmi->fencing = false;
        pmi->fence_failed = answer_is_refused(*answer);
    }
    return error;
}

/* Says a line and hears the answer, which must be cmd=REPLY. */
PRINTF_LIKE(4, 5)
static int reply_ask(struct boot_pmi *pmi, const char *reply, const char **answer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int error = line_say(pmi, format, list);
    va_end(list);
    return error != OK ? error : reply_hear(pmi, pmi->deadline_ms, reply, answer);
}

/* What the job is. */
static int job_learn(struct boot_pmi *pmi, struct boot_job *job)
{
    const char *answer;
    int error = reply_ask(pmi, "maxes", &answer, "cmd=get_maxes");
    if (error != OK)
        return error;
    pmi->key_max = answer_number(answer, "keylen_max", 16, 64);
    pmi->value_max = answer_number(answer, "vallen_max", 128, 256);
    if ((error = reply_ask(pmi, "appnum", &answer, "cmd=get_appnum")) != OK)
        return error;
    job->appnum = answer_number(answer, "appnum", INT_MIN, -1);
    if ((error = reply_ask(pmi, "universe_size", &answer, "cmd=get_universe_size")) != OK)
        return error;
    job->universe = answer_number(answer, "size", INT_MIN, -1);
    if ((error = reply_ask(pmi, "my_kvsname", &answer, "cmd=get_my_kvsname")) != OK)
        return error;
    if (!vboot_line_text(answer, "kvsname", pmi->space, sizeof pmi->space))
        return vbase_fail(ERR_LAUNCHER, "the launcher names no key-value space: \"%.120s\"", answer);
    return OK;
}

int vboot_pmi_start(struct boot_own *own)
{
    const char *answer;
    int error = reply_ask(&own->pmi, "response_to_init", &answer, "cmd=init pmi_version=1 pmi_subversion=1");
    if (error == OK && (answer_is_refused(answer) || answer_number(answer, "pmi_version", INT_MIN, 1) != 1))
        error = vbase_fail(ERR_LAUNCHER, "the launcher does not speak PMI 1.1, it said \"%.120s\"", answer);
    if (error == OK)
        error = job_learn(&own->pmi, &own->job);
    own->pmi.started = error == OK;
    return error;
}

int vboot_pmi_put(struct boot_own *own, const char *key, const char *value)
{
    struct boot_pmi *pmi = &own->pmi;
    const char *answer;
    if (strlen(key) >= (size_t)pmi->key_max || strlen(value) >= (size_t)pmi->value_max)
        return vbase_fail(ERR_ARGUMENT, "the launcher takes keys of %d and values of %d bytes; %s has %zu",
                          pmi->key_max, pmi->value_max, key, strlen(value) + 1);
    int error = reply_ask(pmi, "put_result", &answer, "cmd=put kvsname=%s key=%s value=%s", pmi->space, key, value);
    if (error == OK && answer_is_refused(answer))
        error = vbase_fail(ERR_LAUNCHER, "the launcher refused to keep %s: \"%.120s\"", key, answer);
    return error;
}

int vboot_pmi_get(struct boot_own *own, int rank, const char *key, char *value, size_t size)
{
    const char *answer;
    char text[LINE_MAX_BYTES];
    int error = reply_ask(&own->pmi, "get_result", &answer, "cmd=get kvsname=%s key=%s", own->pmi.space, key);
    (void)rank; /* one space for all */
    if (error != OK)
        return error;
    if (answer_is_refused(answer) || !vboot_line_text(answer, "value", text, sizeof text))
        return vbase_fail(ERR_NOT_FOUND, "the launcher knows no key %s", key);
    if (size)
        snprintf(value, size, "%s", text);
    return OK;
}

int vboot_pmi_fence_begin(struct boot_own *own, struct boot_fence *fence)
{
    int error = line_tell(&own->pmi, "cmd=barrier_in");
    own->pmi.fencing = error == OK;
    own->pmi.fence_failed = false;
    fence->descriptor = own->pmi.fd;
    return error;
}

/* The answer may lie in the buffer already, or have been heard when something else was asked. */
void vboot_pmi_fence_look(struct boot_own *own, struct boot_fence *fence)
{
    const char *answer;
    struct boot_pmi *pmi = &own->pmi;
    struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
    if (pmi->fencing && !memchr(pmi->lines.data + pmi->lines.start, '\n', pmi->lines.end - pmi->lines.start) &&
        poll(&ready, 1, 0) <= 0)
        return;
    if (pmi->fencing) {
        fence->error = reply_hear(pmi, 0, "barrier_out", &answer);
        pmi->fence_failed = !fence->error && answer_is_refused(answer);
    }
    pmi->fencing = false;
    if (pmi->fence_failed)
        fence->error = vbase_fail(ERR_LAUNCHER, "the launcher's barrier failed");
    fence->over = true;
}

void vboot_pmi_abort(struct boot_own *own, int status, const char *message)
{
    struct pollfd gone = {.fd = own->pmi.fd};
    (void)message;
    if (own->pmi.fd >= 0 && line_tell(&own->pmi, "cmd=abort exitcode=%d", status) == OK && !own->seat)
        poll(&gone, 1, ABORT_PATIENCE_MS); /* until the launcher kills us or hangs up */
}

void vboot_pmi_finish(struct boot_own *own, bool goodbye)
{
    const char *answer;
    struct boot_pmi *pmi = &own->pmi;
    if (pmi->fd < 0)
        return;
    if (goodbye && pmi->started)
        (void)reply_ask(pmi, "finalize_ack", &answer, "cmd=finalize"); /* its answer does not matter */
    close(pmi->fd);
    pmi->fd = -1;
}

const struct boot_starter vboot_starter_pmi = {vboot_pmi_put,        vboot_pmi_get,   vboot_pmi_fence_begin,
                                               vboot_pmi_fence_look, vboot_pmi_abort, vboot_pmi_finish};
