/* The log: a line is formatted on the stack and leaves with one write(2).
 *
 * No lock anywhere, so that a child after fork can log whatever other threads did at that moment. The thread that
 * writes the first line opens VIADUCT_LOG_FILE; if two do, one closes its descriptor again. While the rank is not known
 * and the file's name needs it, lines go to standard error. */
#include "base/base.h"
#include <fcntl.h>

#define LINE_SIZE 2048 /* below PIPE_BUF: a line into a pipe is never torn */

static const char *const level_name[] = {"error", "warn", "info", "debug"};
static const char *const level_word[] = {"error", "warning", "info", "debug"};

/* A library that lives in programs of others has no standard error: there the build says -1. */
#ifndef LOG_WITHOUT_FILE
#define LOG_WITHOUT_FILE STDERR_FILENO
#endif

int vbase_log_level = LOG_LEVEL_WARN;

static _Atomic int rank_now = -1;
static _Atomic int file_now = -1; /* VIADUCT_LOG_FILE once it is open */

static int level_of(const char *text)
{
    for (size_t i = 0; i < ARRAY_LENGTH(level_name); i++)
        if (strcmp(text, level_name[i]) == 0 || strcmp(text, level_word[i]) == 0)
            return (int)i;
    return -1;
}

void vbase_log_rank(int rank)
{
    atomic_store_explicit(&rank_now, rank, memory_order_relaxed); /* alone: nothing is published with it */
    vbase_trace_start(rank);
}

bool vbase_log_path(char *out, size_t size, const char *pattern, int rank)
{
    return (rank >= 0 || !strstr(pattern, "%r")) && vbase_expand(out, size, pattern, rank, "%h") < size;
}

/* -1: it cannot be opened, which is told once. */
static int file_open(const char *path)
{
    static _Atomic bool said; /* set before the line is written, which comes here again */
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644), why = errno;
    if (fd < 0 && !atomic_exchange_explicit(&said, true, memory_order_relaxed))
        LOG_WARN("the log file %s cannot be opened (%s): the log goes to standard error", path, strerror(why));
    return fd;
}

/* At the start, not with the first line: by the launcher, for the ranks of its host, or by a rank without one. */
static void file_check(void)
{
    char path[1024];
    for (char **text = environ; text && *text; text++)
        if (strncmp(*text, "VIADUCT_JOB_", 12) == 0)
            return;
    if (vbase_settings.log_file && vbase_log_path(path, sizeof(path), vbase_settings.log_file, 0))
        base_close(file_open(path));
}

int vbase_log_start(void)
{
    const char *text = vbase_settings.log ? vbase_settings.log : "warn";
    int level = level_of(text);
    if (level < 0) {
        const char *near = vbase_name_nearest(text, level_name, ARRAY_LENGTH(level_name));
        return vbase_fail(ERR_ARGUMENT,
                          "invalid value '%.100s' for VIADUCT_LOG: expected error, warn, info or debug%s%s%s", text,
                          near ? " (maybe: " : "", near ? near : "", near ? "?)" : "");
    }
    vbase_log_level = level;
    file_check();
    return OK;
}

static int log_descriptor(int rank)
{
    /* acquire: pairs with the release below; only the number itself is used, so relaxed would do */
    int fd = atomic_load_explicit(&file_now, memory_order_acquire);
    if (fd >= 0 || !vbase_settings.log_file)
        return fd >= 0 ? fd : LOG_WITHOUT_FILE;
    char path[1024];
    if (!vbase_log_path(path, sizeof(path), vbase_settings.log_file, rank))
        return LOG_WITHOUT_FILE;
    int mine = file_open(path);
    if (mine < 0)
        return LOG_WITHOUT_FILE;
    if (atomic_compare_exchange_strong_explicit(&file_now, &fd, mine, memory_order_release, memory_order_acquire))
        return mine;
    close(mine);
    return fd;
}

static void line_write(int fd, const char *line, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, line, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* a log that cannot be written must not stop the program */
        line += n;
        length -= (size_t)n;
    }
}

/* Bytes of the letter at AT in UTF-8; 0: no letter, or a command to a terminal (C0, DEL, C1). */
static size_t letter_length(const unsigned char *at, size_t left)
{
    size_t length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (*at < 0x80)
        return *at >= ' ' && *at != 127;
    if (*at < 0xc2 || *at > 0xf4 || left < length || (*at == 0xc2 && at[1] < 0xa0))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* longer than needed, a half of a pair of UTF-16, beyond the last letter */
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) || (*at == 0xf0 && at[1] < 0x90) ||
        (*at == 0xf4 && at[1] >= 0x90))
        return 0;
    return length;
}

void vbase_plain(char *text, size_t length)
{
    for (size_t at = 0, letter; at < length; at += letter ? letter : 1) {
        letter = letter_length((unsigned char *)text + at, length - at);
        if (letter == 0)
            text[at] = ' ';
    }
}

void vbase_log_write(enum base_log_level level, const char *format, ...)
{
    int saved = errno;
    int rank = atomic_load_explicit(&rank_now, memory_order_relaxed);
    char line[LINE_SIZE];
    int head = rank >= 0 ? snprintf(line, sizeof(line), "viaduct: [rank %d] %s: ", rank, level_word[level])
                         : snprintf(line, sizeof(line), "viaduct: %s: ", level_word[level]);
    size_t at = (size_t)head, room = sizeof(line) - at;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line + at, room, format, arguments);
    va_end(arguments);
    size_t length = n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
    vbase_plain(line + at, length);
    if (n > 0 && (size_t)n >= room)
        memcpy(line + at + length - 3, "...", 3);
    line[at + length] = '\n';
    line_write(log_descriptor(rank), line, at + length + 1);
    errno = saved;
}

bool vbase_log_gate_open(struct base_log_gate *gate, unsigned seconds, char more[LOG_MORE])
{
    uint64_t now = vbase_clock_ns();
    /* relaxed throughout: the gate guards nothing but itself; the exchange decides which of several threads writes */
    uint64_t next = atomic_load_explicit(&gate->next_ns, memory_order_relaxed);
    if (now < next || !atomic_compare_exchange_strong_explicit(&gate->next_ns, &next, now + seconds * 1000000000ull,
                                                               memory_order_relaxed, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&gate->held, 1, memory_order_relaxed);
        return false;
    }
    unsigned silent = atomic_exchange_explicit(&gate->held, 0, memory_order_relaxed);
    more[0] = '\0';
    if (silent)
        snprintf(more, LOG_MORE, " (%u more like this)", silent);
    return true;
}
