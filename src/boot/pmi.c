/* The client of the PMI wire; see pmi.h. */
#include "boot/pmi.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#define MEANWHILE_MS 5 /* between two calls of what goes on during a barrier */

/* One command, one write: a launcher may take what one read gives it for one command. */
static int say_bytes(struct boot_pmi *pmi, const char *bytes, size_t length)
{
    if (pmi->fd < 0)
        return vbase_fail(ERR_LAUNCHER, "the connection to the launcher is not there");
    while (length > 0) {
        ssize_t sent = send(pmi->fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK)
            sent = write(pmi->fd, bytes, length);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return vbase_fail_errno(ERR_LAUNCHER, "the launcher went away: writing to it");
        bytes += sent;
        length -= (size_t)sent;
    }
    return OK;
}

/* A line, without its end. */
static int say(struct boot_pmi *pmi, const char *format, va_list list)
{
    char line[LINE_MAX_BYTES];
    int length = vsnprintf(line, sizeof line, format, list);
    if (length < 0 || length >= LINE_MAX_BYTES - 1)
        return vbase_fail(ERR_ARGUMENT, "a PMI line would be longer than %d bytes", LINE_MAX_BYTES);
    line[length++] = '\n';
    return say_bytes(pmi, line, (size_t)length);
}

PRINTF_LIKE(2, 3) static int tell(struct boot_pmi *pmi, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int error = say(pmi, format, list);
    va_end(list);
    return error;
}

static int hear(struct boot_pmi *pmi, int deadline_ms, const char **line)
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

/* An answer without rc is a good one. */
static bool refused(const char *answer)
{
    int rc;
    return vboot_line_int(answer, "rc", &rc) && rc != 0;
}

static int hear_reply(struct boot_pmi *pmi, int deadline_ms, const char *reply, const char **answer)
{
    int error;
    while ((error = hear(pmi, deadline_ms, answer)) == OK && !vboot_line_is(*answer, reply)) {
        if (!pmi->fencing || !vboot_line_is(*answer, "barrier_out"))
            return vbase_fail(ERR_LAUNCHER, "expected cmd=%s of the launcher, it said \"%.120s\"", reply, *answer);
        pmi->fencing = false;
        pmi->fence_failed = refused(*answer);
    }
    return error;
}

/* Says a line and hears the answer, which must be cmd=REPLY. */
PRINTF_LIKE(4, 5) static int ask(struct boot_pmi *pmi, const char *reply, const char **answer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int error = say(pmi, format, list);
    va_end(list);
    return error != OK ? error : hear_reply(pmi, pmi->deadline_ms, reply, answer);
}

/* What the job is. */
static int learn(struct boot_pmi *pmi)
{
    const char *answer;
    int error = ask(pmi, "maxes", &answer, "cmd=get_maxes");
    if (error != OK)
        return error;
    if (!vboot_line_int(answer, "keylen_max", &pmi->key_max) || pmi->key_max < 16)
        pmi->key_max = 64;
    if (!vboot_line_int(answer, "vallen_max", &pmi->value_max) || pmi->value_max < 128)
        pmi->value_max = 256;

    if ((error = ask(pmi, "appnum", &answer, "cmd=get_appnum")) != OK)
        return error;
    bool known = vboot_line_int(answer, "appnum", &pmi->appnum);
    if ((error = ask(pmi, "universe_size", &answer, "cmd=get_universe_size")) != OK)
        return error;
    known &= vboot_line_int(answer, "size", &pmi->universe);
    (void)known; /* both may stay unknown */

    if ((error = ask(pmi, "my_kvsname", &answer, "cmd=get_my_kvsname")) != OK)
        return error;
    if (!vboot_line_text(answer, "kvsname", pmi->space, sizeof pmi->space))
        return vbase_fail(ERR_LAUNCHER, "the launcher names no key-value space: \"%.120s\"", answer);
    return OK;
}

int vboot_pmi_start(struct boot_pmi *pmi)
{
    const char *answer;
    int version;
    pmi->appnum = pmi->universe = -1;
    int error = ask(pmi, "response_to_init", &answer, "cmd=init pmi_version=1 pmi_subversion=1");
    if (error == OK && (refused(answer) || (vboot_line_int(answer, "pmi_version", &version) && version != 1)))
        error = vbase_fail(ERR_LAUNCHER, "the launcher does not speak PMI 1.1, it said \"%.120s\"", answer);
    if (error == OK)
        error = learn(pmi);
    pmi->started = error == OK;
    return error;
}

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value)
{
    const char *answer;
    if (strlen(key) >= (size_t)pmi->key_max || strlen(value) >= (size_t)pmi->value_max)
        return vbase_fail(ERR_ARGUMENT, "the launcher takes keys of %d and values of %d bytes; %s has %zu",
                          pmi->key_max, pmi->value_max, key, strlen(value) + 1);
    int error = ask(pmi, "put_result", &answer, "cmd=put kvsname=%s key=%s value=%s", pmi->space, key, value);
    if (error == OK && refused(answer))
        error = vbase_fail(ERR_LAUNCHER, "the launcher refused to keep %s: \"%.120s\"", key, answer);
    return error;
}

int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size)
{
    const char *answer;
    char text[LINE_MAX_BYTES];
    int error = ask(pmi, "get_result", &answer, "cmd=get kvsname=%s key=%s", pmi->space, key);
    if (error != OK)
        return error;
    if (refused(answer) || !vboot_line_text(answer, "value", text, sizeof text))
        return vbase_fail(ERR_NOT_FOUND, "the launcher knows no key %s", key);
    size_t length = strnlen(text, size ? size - 1 : 0);
    if (size) {
        memcpy(value, text, length);
        value[length] = 0;
    }
    return OK;
}

int vboot_pmi_fence(struct boot_pmi *pmi, void (*meanwhile)(void))
{
    const char *answer;
    struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
    int error = tell(pmi, "cmd=barrier_in");
    pmi->fencing = true;
    pmi->fence_failed = false;
    while (error == OK && meanwhile && pmi->fencing && pmi->lines.start == pmi->lines.end &&
           poll(&ready, 1, MEANWHILE_MS) == 0)
        meanwhile();
    if (error == OK && pmi->fencing) {
        error = hear_reply(pmi, 0, "barrier_out", &answer);
        pmi->fence_failed = error == OK && refused(answer);
    }
    pmi->fencing = false;
    return error == OK && pmi->fence_failed ? vbase_fail(ERR_LAUNCHER, "the launcher's barrier failed") : error;
}

void vboot_pmi_abort(struct boot_pmi *pmi, int status)
{
    if (tell(pmi, "cmd=abort exitcode=%d", status) != OK)
        return; /* then the launcher is gone, and the job with it */
}

void vboot_pmi_finish(struct boot_pmi *pmi)
{
    const char *answer;
    if (pmi->fd < 0)
        return;
    if (pmi->started && ask(pmi, "finalize_ack", &answer, "cmd=finalize") != OK)
        pmi->started = false; /* a goodbye that nobody hears is a goodbye */
    close(pmi->fd);
    pmi->fd = -1;
}
