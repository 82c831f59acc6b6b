/* The PMI line parser: what it must find, what it must refuse, and 200,000 lines of garbage.
 * timeout: 30 */
#include "boot/line.h"
#include "base/error.h"
#include "check.h"
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

static void finds(void)
{
    char text[16];
    int number;
    const char *line = "value=(vector,(0,1,4)) rc=-1 cmd=get_result other= xrc=7 msg=a=b";
    CHECK(vboot_line_is(line, "get_result"));
    CHECK(!vboot_line_is(line, "get"));
    CHECK(!vboot_line_is(line, "get_result_"));
    CHECK(vboot_line_int(line, "rc", &number));
    CHECK_EQUAL(number, -1);
    CHECK(vboot_line_text(line, "msg", text, sizeof text));
    CHECK_TEXT(text, "a=b");
    CHECK(!vboot_line_text(line, "ms", text, sizeof text));
    CHECK(!vboot_line_text(line, "value", text, sizeof text)); /* 16 bytes and a NUL do not fit 16 */
    CHECK_TEXT(text, "a=b");
    CHECK(!vboot_line_text("", "cmd", text, sizeof text));
    CHECK(!vboot_line_text("cmd", "cmd", text, sizeof text));
    CHECK(vboot_line_text("  a=1  \t b=2\r", "b", text, sizeof text));
    CHECK_TEXT(text, "2");
    CHECK(vboot_line_text("a= b=2", "a", text, sizeof text));
    CHECK_TEXT(text, "");
}

static void numbers(void)
{
    int number = 5;
    const char *bad[] = {"", "-", "+1", " 1", "1 ", "1x", "0x10", "2147483648", "-2147483649", "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        CHECK(!vboot_number(bad[i], &number));
    CHECK_EQUAL(number, 5);
    CHECK(vboot_number("2147483647", &number) && number == INT_MAX);
    CHECK(vboot_number("-2147483648", &number) && number == INT_MIN);
}

/* Lines arrive in pieces of every size and come out whole. */
static void pieces(void)
{
    const char *sent = "cmd=a x=1\ncmd=b\n\ncmd=c y=22\n", *expected[] = {"cmd=a x=1", "cmd=b", "", "cmd=c y=22"};
    for (size_t step = 1; step <= strlen(sent); step++) {
        static struct boot_lines lines;
        int pipe_fd[2], seen = 0;
        lines = (struct boot_lines){0};
        CHECK(pipe2(pipe_fd, O_CLOEXEC) == 0);
        for (size_t at = 0; at < strlen(sent); at += step) {
            size_t part = strlen(sent) - at < step ? strlen(sent) - at : step;
            CHECK(write(pipe_fd[1], sent + at, part) == (ssize_t)part);
            CHECK_EQUAL(vboot_lines_fill(&lines, pipe_fd[0]), part);
            for (const char *line; (line = vboot_lines_next(&lines)); seen++)
                if (seen < 4)
                    CHECK_TEXT(line, expected[seen]);
        }
        CHECK_EQUAL(seen, 4);
        close(pipe_fd[1]);
        CHECK_EQUAL(vboot_lines_fill(&lines, pipe_fd[0]), 0);
        close(pipe_fd[0]);
    }
}

static void too_long(void)
{
    static struct boot_lines lines;
    static char bytes[LINE_MAX_BYTES + 100];
    int pipe_fd[2];
    memset(bytes, 'x', sizeof bytes);
    CHECK(pipe2(pipe_fd, O_CLOEXEC) == 0);
    CHECK(write(pipe_fd[1], bytes, sizeof bytes) == sizeof bytes);
    CHECK_EQUAL(vboot_lines_fill(&lines, pipe_fd[0]), LINE_MAX_BYTES);
    CHECK(vboot_lines_next(&lines) == NULL);
    CHECK_EQUAL(vboot_lines_fill(&lines, pipe_fd[0]), ERR_PROTOCOL);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
}

/* Random tokens: what the parser finds must be what a slow second parser finds. */
static bool slow_find(char *line, const char *key, char *value)
{
    char *save, *token;
    for (token = strtok_r(line, " \t\r", &save); token; token = strtok_r(NULL, " \t\r", &save)) {
        char *equal = strchr(token, '=');
        if (equal && (size_t)(equal - token) == strlen(key) && memcmp(token, key, strlen(key)) == 0) {
            strcpy(value, equal + 1);
            return true;
        }
    }
    return false;
}

static void garbage(void)
{
    const char letters[] = "abcrmdk==  \t\r123-\x80\x01";
    unsigned long long state = check_seed();
    for (int round = 0; round < 200000; round++) {
        char line[64], copy[64], fast[64] = "-", slow[64] = "-";
        size_t length = 0;
        do {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            line[length++] = letters[state % (sizeof letters - 1)];
        } while (length < sizeof line - 1 && state % 50);
        line[length] = 0;
        strcpy(copy, line);
        bool found = vboot_line_text(line, "rc", fast, sizeof fast);
        CHECK_EQUAL(found, slow_find(copy, "rc", slow));
        CHECK_TEXT(fast, slow);
    }
}

int main(void)
{
    finds();
    numbers();
    pieces();
    too_long();
    garbage();
    return check_done();
}
