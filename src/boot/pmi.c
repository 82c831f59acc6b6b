/* The client of the PMI wire; see pmi.h. */
#include "boot/pmi.h"
#include "base/clock.h"
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

enum command { PUT, GET, FENCE, GOODBYE, COMMANDS };

/* What is asked and what must be answered: in 1.1 and in 2.0. */
static const struct words {
    const char *ask, *answer;
} words[2][COMMANDS] = {
    {{"put", "put_result"}, {"get", "get_result"}, {"barrier_in", "barrier_out"}, {"finalize", "finalize_ack"}},
    {{"kvs-put", "kvs-put-response"},
     {"kvs-get", "kvs-get-response"},
     {"kvs-fence", "kvs-fence-response"},
     {"finalize", "finalize-response"}},
};

static const struct words *words_of(const struct boot_pmi *pmi, enum command command)
{
    return &words[pmi->lines.framed][command];
}

static const char *space_word(const struct boot_pmi *pmi) { return pmi->lines.framed ? "jobid" : "kvsname"; }

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

/* A line of 1.1, without its end; it leaves as a frame when 2.0 is spoken: neither keys nor values hold ' ' or ';'. */
static int say(struct boot_pmi *pmi, const char *format, va_list list)
{
    char text[FRAME_HEAD + LINE_MAX_BYTES], head[FRAME_HEAD + 1], *line = text + FRAME_HEAD;
    int length = vsnprintf(line, LINE_MAX_BYTES, format, list);
    if (length < 0 || length >= LINE_MAX_BYTES - 1)
        return vbase_fail(ERR_ARGUMENT, "a PMI line would be longer than %d bytes", LINE_MAX_BYTES);
    line[length++] = pmi->lines.framed ? ';' : '\n';
    if (!pmi->lines.framed)
        return say_bytes(pmi, line, (size_t)length);
    for (char *at = line; (at = memchr(at, ' ', (size_t)(line + length - at)));)
        *at = ';';
    snprintf(head, sizeof head, "%*d", FRAME_HEAD, length);
    memcpy(text, head, FRAME_HEAD);
    return say_bytes(pmi, text, FRAME_HEAD + (size_t)length);
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
        if (!pmi->fencing || !vboot_line_is(*answer, words_of(pmi, FENCE)->answer))
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

static int learn_1(struct boot_pmi *pmi)
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

static int learn_2(struct boot_pmi *pmi, const char *job)
{
    const char *answer;
    pmi->key_max = 64;
    pmi->value_max = 1024;
    int error = ask(pmi, "fullinit-response", &answer, "cmd=fullinit pmijobid=%s pmirank=%d threaded=FALSE", job, pmi->rank);
    if (error != OK)
        return error;
    if (refused(answer) || !vboot_line_int(answer, "rank", &pmi->rank) || !vboot_line_int(answer, "size", &pmi->size))
        return vbase_fail(ERR_LAUNCHER, "the launcher gives no rank and size: \"%.120s\"", answer);
    bool known = vboot_line_int(answer, "appnum", &pmi->appnum);
    if ((error = ask(pmi, "info-getjobattr-response", &answer, "cmd=info-getjobattr key=universeSize")) != OK)
        return error;
    known &= vboot_line_int(answer, "value", &pmi->universe);
    (void)known; /* both may stay unknown */
    if ((error = ask(pmi, "job-getid-response", &answer, "cmd=job-getid")) != OK)
        return error;
    if (refused(answer) || !vboot_line_text(answer, "jobid", pmi->space, sizeof pmi->space))
        return vbase_fail(ERR_LAUNCHER, "the launcher names no job: \"%.120s\"", answer);
    return OK;
}

static int greet(struct boot_pmi *pmi, int version, bool *agreed)
{
    const char *answer;
    int spoken;
    int error = ask(pmi, "response_to_init", &answer, "cmd=init pmi_version=%d pmi_subversion=%d", version, version == 1);
    if (error != OK)
        return error;
    *agreed = !refused(answer) && (!vboot_line_int(answer, "pmi_version", &spoken) || spoken == version);
    return *agreed || version == 2 ? OK
                                   : vbase_fail(ERR_LAUNCHER, "the launcher does not speak PMI 1.1, it said \"%.120s\"", answer);
}

int vboot_pmi_start(struct boot_pmi *pmi, const char *job)
{
    bool agreed = false;
    pmi->appnum = pmi->universe = -1;
    int error = job ? greet(pmi, 2, &agreed) : OK;
    pmi->lines.framed = agreed;
    if (error == OK && !agreed)
        error = greet(pmi, 1, &agreed);
    if (error == OK)
        error = pmi->lines.framed ? learn_2(pmi, job) : learn_1(pmi);
    pmi->started = error == OK;
    return error;
}

int vboot_pmi_put(struct boot_pmi *pmi, const char *key, const char *value)
{
    const struct words *put = words_of(pmi, PUT);
    const char *answer;
    if (strlen(key) >= (size_t)pmi->key_max || strlen(value) >= (size_t)pmi->value_max)
        return vbase_fail(ERR_ARGUMENT, "the launcher takes keys of %d and values of %d bytes; %s has %zu",
                          pmi->key_max, pmi->value_max, key, strlen(value) + 1);
    int error = ask(pmi, put->answer, &answer, "cmd=%s %s=%s key=%s value=%s", put->ask, space_word(pmi), pmi->space, key, value);
    if (error == OK && refused(answer))
        error = vbase_fail(ERR_LAUNCHER, "the launcher refused to keep %s: \"%.120s\"", key, answer);
    return error;
}

int vboot_pmi_get(struct boot_pmi *pmi, const char *key, char *value, size_t size)
{
    const struct words *get = words_of(pmi, GET);
    const char *answer;
    char text[LINE_MAX_BYTES];
    int error = ask(pmi, get->answer, &answer, "cmd=%s %s=%s key=%s", get->ask, space_word(pmi), pmi->space, key);
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
    const struct words *fence = words_of(pmi, FENCE);
    const char *answer;
    struct pollfd ready = {.fd = pmi->fd, .events = POLLIN};
    int error = tell(pmi, "cmd=%s", fence->ask);
    pmi->fencing = true;
    pmi->fence_failed = false;
    while (error == OK && meanwhile && pmi->fencing && pmi->lines.start == pmi->lines.end &&
           poll(&ready, 1, MEANWHILE_MS) == 0)
        meanwhile();
    if (error == OK && pmi->fencing) {
        error = hear_reply(pmi, 0, fence->answer, &answer);
        pmi->fence_failed = error == OK && refused(answer);
    }
    pmi->fencing = false;
    return error == OK && pmi->fence_failed ? vbase_fail(ERR_LAUNCHER, "the launcher's barrier failed") : error;
}

void vboot_pmi_abort(struct boot_pmi *pmi, int status)
{
    if (tell(pmi, pmi->lines.framed ? "cmd=abort isworld=TRUE exitcode=%d" : "cmd=abort exitcode=%d", status) != OK)
        return; /* then the launcher is gone, and the job with it */
}

void vboot_pmi_finish(struct boot_pmi *pmi)
{
    const struct words *goodbye = words_of(pmi, GOODBYE);
    const char *answer;
    if (pmi->fd < 0)
        return;
    if (pmi->started && ask(pmi, goodbye->answer, &answer, "cmd=%s", goodbye->ask) != OK)
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
        error = ask(pmi, "initack", &answer, "cmd=initack pmiid=%s", id);
    pmi->rank = pmi->size = -1;
    for (int i = 0; i < 8 && error == OK && !(pmi->rank >= 0 && pmi->size >= 0 && i >= 3); i++) {
        error = hear(pmi, pmi->deadline_ms, &answer); /* set size=, set rank=, set debug=, in any order */
        if (error == OK && vboot_line_is(answer, "set") && !vboot_line_int(answer, "size", &pmi->size) &&
            !vboot_line_int(answer, "rank", &pmi->rank))
            continue; /* debug and the like */
    }
    if (error == OK && (pmi->rank < 0 || pmi->size < 1 || pmi->rank >= pmi->size))
        error = vbase_fail(ERR_LAUNCHER, "the launcher gives no rank and size over PMI_PORT");
    return error;
}
