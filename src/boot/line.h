/* Lines of the PMI wire: "cmd=NAME key=value key=value\n", tokens apart by spaces, in any order.
 *
 * Used by the client (boot) and by the launcher's server. What comes in is hostile: lengths are bounded, nothing is
 * trusted to be there, unknown keys are passed over. No memory is allocated here. */
#pragma once

#include "base/base.h"

#define LINE_MAX_BYTES 4096

/* Collects bytes of one descriptor into lines. Start with zeros. */
struct boot_lines {
    size_t start, end; /* what is there and not yet taken */
    char data[LINE_MAX_BYTES];
};

/* Reads what FD has. How many bytes came; 0: end of file; -1: errno tells (EAGAIN for nothing now). ERR_PROTOCOL
 * when a line is longer than LINE_MAX_BYTES. Restarts after a signal. */
long vboot_lines_fill(struct boot_lines *lines, int fd) MUST_CHECK;

/* The next whole line, without its end; NULL: not there yet. Valid until the next fill. */
const char *vboot_lines_next(struct boot_lines *lines);

/* The value of KEY in LINE. False when it is absent or does not fit, VALUE is then untouched. */
bool vboot_line_text(const char *line, const char *key, char *value, size_t size) MUST_CHECK;
bool vboot_line_int(const char *line, const char *key, int *value) MUST_CHECK;

/* Does LINE say cmd=NAME? */
bool vboot_line_is(const char *line, const char *name);

/* A whole decimal number and nothing else. */
bool vboot_number(const char *text, int *value) MUST_CHECK;
