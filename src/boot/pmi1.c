/* The client of the PMI-1 wire; see pmi1.h. */
#include "boot/pmi1.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MEANWHILE_MS 5 /* between two calls of what goes on during a barrier */

/* One line, one write: a launcher may take what one read gives it for one command. */
static int say(struct boot_pmi *pmi, const char *line, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(pmi->fd, line, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK)
            sent = write(pmi->fd, line, length);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return vbase_fail_errno(ERR_LAUNCHER, "the launcher went away: writing to it");
        line += sent;
        length -= (size_t)sent;
    }
    return OK;
}

static int hear(struct boot_pmi *pmi, const char **line)
{
    while (!(*line = vboot_lines_next(&pmi->lines))) {
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

/* Says a line and hears the answer, which must be cmd=REPLY. */
static int ask(struct boot_pmi *pmi, const char *reply, const char **answer, const char *format, ...) PRINTF_LIKE(4, 5);
static int ask(struct boot_pmi *pmi, const char *reply, const char **answer, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof line)
        return vbase_fail(ERR_ARGUMENT, "a PMI line would be longer than %zu bytes", sizeof line);
    int error = say(pmi, line, (size_t)length);
    if (error == OK)
        error = hear(pmi, answer);
    if (error == OK && !vboot_line_is(*answer, reply))
        error = vbase_fail(ERR_LAUNCHER, "expected cmd=%s of the launcher, it said \"%.120s\"", reply, *answer);
    return error;
}

/* An answer without rc is a good one. */
static bool refused(const char *answer)
{
    int rc;
    return vboot_line_int(answer, "rc", &rc) && rc != 0;
}

int vboot_pmi_start(struct boot_pmi *pmi, int deadline_ms)
{
    const char *answer;
    const char hello[] = "cmd=init pmi_version=1 pmi_subversion=1\n";
    int error = say(pmi, hello, sizeof hello - 1);
    if (error != OK)
        return error;
    struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
    if (pmi->lines.start == pmi->lines.end && poll(&ready, 1, deadline_ms) == 0)
        return vbase_fail(ERR_LAUNCHER, "no answer to PMI init within %d ms", deadline_ms);
    error = hear(pmi, &answer);
    if (error != OK)
        return error;
    if (!vboot_line_is(answer, "response_to_init") || refused(answer))
        return vbase_fail(ERR_LAUNCHER, "the launcher does not speak PMI 1.1, it said \"%.120s\"", answer);

    if ((error = ask(pmi, "maxes", &answer, "cmd=get_maxes\n")) != OK)
        return error;
    if (!vboot_line_int(answer, "keylen_max", &pmi->key_max) || pmi->key_max < 16)
        pmi->key_max = 64;
    if (!vboot_line_int(answer, "vallen_max", &pmi->value_max) || pmi->value_max < 128)
        pmi->value_max = 256;

    pmi->appnum = pmi->universe = -1;
    if ((error = ask(pmi, "appnum", &answer, "cmd=get_appnum\n")) != OK)
        return error;
    bool known = vboot_line_int(answer, "appnum", &pmi->appnum);
    if ((error = ask(pmi, "universe_size", &answer, "cmd=get_universe_size\n")) != OK)
        return error;
    known &= vboot_line_int(answer, "size", &pmi->universe);
    (void)known; /* both may stay unknown */

    if ((error = ask(pmi, "my_kvsname", &answer, "cmd=get_my_kvsname\n")) != OK)
        return error;
    if (!vboot_line_text(answer, "kvsname", pmi->space, sizeof pmi->space))
        return vbase_fail(ERR_LAUNCHER, "the launcher names no key-value space: \"%.120s\"", answer);
    pmi->started = true;
    return OK;
}

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value)
{
    const char *answer;
    if (strlen(key) >= (size_t)pmi->key_max || strlen(value) >= (size_t)pmi->value_max)
        return vbase_fail(ERR_ARGUMENT, "the launcher takes keys of %d and values of %d bytes; %s has %zu",
                          pmi->key_max, pmi->value_max, key, strlen(value) + 1);
    int error = ask(pmi, "put_result", &answer, "cmd=put kvsname=%s key=%s value=%s\n", pmi->space, key, value);
    if (error == OK && refused(answer))
        error = vbase_fail(ERR_LAUNCHER, "the launcher refused to keep %s: \"%.120s\"", key, answer);
    return error;
}

int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size)
{
    const char *answer;
    char text[LINE_MAX_BYTES];
    int error = ask(pmi, "get_result", &answer, "cmd=get kvsname=%s key=%s\n", pmi->space, key);
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

int vboot_pmi_barrier(struct boot_pmi *pmi, void (*meanwhile)(void))
{
    static const char arrival[] = "cmd=barrier_in\n";
    const char *answer;
    struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
    int error = say(pmi, arrival, sizeof arrival - 1);
    while (error == OK && meanwhile && pmi->lines.start == pmi->lines.end && poll(&ready, 1, MEANWHILE_MS) == 0)
        meanwhile();
    if (error == OK)
        error = hear(pmi, &answer);
    if (error == OK && !vboot_line_is(answer, "barrier_out"))
        error = vbase_fail(ERR_LAUNCHER, "expected cmd=barrier_out of the launcher, it said \"%.120s\"", answer);
    if (error == OK && refused(answer))
        error = vbase_fail(ERR_LAUNCHER, "the launcher's barrier failed: \"%.120s\"", answer);
    return error;
}

void vboot_pmi_abort(struct boot_pmi *pmi, int status)
{
    char line[64];
    int length = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    if (say(pmi, line, (size_t)length) != OK)
        return; /* then the launcher is gone, and the job with it */
}

void vboot_pmi_finish(struct boot_pmi *pmi)
{
    const char *answer;
    if (pmi->fd < 0)
        return;
    if (pmi->started && ask(pmi, "finalize_ack", &answer, "cmd=finalize\n") != OK)
        pmi->started = false; /* a goodbye that nobody hears is a goodbye */
    close(pmi->fd);
    pmi->fd = -1;
}

/* The only place where a name is looked up: the launcher chose to be reached by one. */
static int connect_to(const char *host, const char *port, int *out)
{
    struct addrinfo hint = {.ai_socktype = SOCK_STREAM}, *list;
    int failed = getaddrinfo(host, port, &hint, &list);
    if (failed)
        return vbase_fail(ERR_LAUNCHER, "the launcher's host %s of PMI_PORT: %s", host, gai_strerror(failed));
    int fd = -1;
    for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol);
        if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) < 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return vbase_fail_errno(ERR_LAUNCHER, "connecting to the launcher at PMI_PORT=%s:%s", host, port);
    *out = fd;
    return OK;
}

int vboot_pmi_dial(struct boot_pmi *pmi, const char *port, const char *id)
{
    char host[256];
    const char *colon = strrchr(port, ':'), *answer;
    if (!colon || colon == port || (size_t)(colon - port) >= sizeof host)
        return vbase_fail(ERR_LAUNCHER, "PMI_PORT=%s is not host:port", port);
    memcpy(host, port, (size_t)(colon - port));
    host[colon - port] = 0;
    int error = connect_to(host, colon + 1, &pmi->fd);
    if (error == OK)
        error = ask(pmi, "initack", &answer, "cmd=initack pmiid=%s\n", id);
    pmi->rank = pmi->size = -1;
    for (int i = 0; i < 8 && error == OK && !(pmi->rank >= 0 && pmi->size >= 0 && i >= 3); i++) {
        error = hear(pmi, &answer); /* set size=, set rank=, set debug=, in any order */
        if (error == OK && vboot_line_is(answer, "set") && !vboot_line_int(answer, "size", &pmi->size) &&
            !vboot_line_int(answer, "rank", &pmi->rank))
            continue; /* debug and the like */
    }
    if (error == OK && (pmi->rank < 0 || pmi->size < 1 || pmi->rank >= pmi->size))
        error = vbase_fail(ERR_LAUNCHER, "the launcher gives no rank and size over PMI_PORT");
    return error;
}
