/* viaduct sock: starts a program with the preload library, and says to it what may be upgraded. */
#include "run/preload.h"
#include "verbs.h"
#include <ctype.h>
#include <getopt.h>
#include <pwd.h>

static const char usage[] =
    "usage: viaduct sock [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
    "       viaduct sock --list\n"
    "Starts a sockets program whose connections to others started so, on this host, go through shared memory.\n\n"
    "  --only PORTS      only connections of which one end has one of these ports: 80,8000-8100\n"
    "  --not PORTS       no connections of which one end has one of these ports\n"
    "  --also-user NAME  also connections to programs of this user; else one's own and root's\n"
    "  --after CALLS     look for the other end after so many calls that move data (8)\n"
    "  --list            show the connections of programs started so: bytes in shared memory, or why none\n\n"
    "Everything else stays TCP. VIADUCT_SOCK=off in the environment of a child turns it off there.\n";

enum word { WORD_ONLY, WORD_NOT, WORD_USER, WORD_AFTER, WORDS };

static struct { /* what goes into VIADUCT_SOCK */
    const char *key, *option, *expected;
    char text[512];
} words[WORDS] = {{"only", "--only", "ports, like 80,8000-8100", ""},
                  {"not", "--not", "ports, like 80,8000-8100", ""},
                  {"user", "--also-user", "users of this host", ""},
                  {"after", "--after", "a number of calls", ""}};

/* At *TEXT, which moves behind it. */
static bool number_read(const char **text, unsigned long most, unsigned long *number)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoul(*text, &end, 10);
    *text = end;
    return errno == 0 && *number <= most;
}

static bool is_number(const char *text)
{
    unsigned long number;
    return number_read(&text, UINT32_MAX, &number) && !*text;
}

static bool are_ports(const char *text)
{
    unsigned long low, high;
    do {
        if (!number_read(&text, UINT16_MAX, &low))
            return false;
        high = low;
        if (*text == '-' && (text++, !number_read(&text, UINT16_MAX, &high)))
            return false;
    } while (low <= high && *text++ == ',');
    return low <= high && !text[-1];
}

static bool are_users(const char *text)
{
    size_t length;
    do {
        char name[256];
        length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        if (length >= sizeof name || strpbrk(name, " \t") || !(is_number(name) || getpwnam(name)))
            return false;
        text += length;
    } while (*text++);
    return true;
}

/* Ports and users add up. */
static bool word_add(enum word which, const char *value)
{
    char *text = words[which].text;
    if (!(which == WORD_AFTER ? is_number : which == WORD_USER ? are_users : are_ports)(value)) {
        fprintf(stderr, "viaduct sock: invalid value '%s' of %s: expected %s\n", value, words[which].option,
                words[which].expected);
        return false;
    }
    size_t length = which == WORD_AFTER ? 0 : strlen(text);
    if (snprintf(text + length, sizeof words->text - length, "%s%s", length ? "," : "", value) <
        (int)(sizeof words->text - length))
        return true;
    fprintf(stderr, "viaduct sock: the values of %s are longer than %zu letters\n", words[which].option,
            sizeof words->text - 1);
    return false;
}

static bool words_set(void)
{
    char all[sizeof words];
    size_t length = 0;
    for (int i = 0; i < WORDS; i++)
        if (*words[i].text)
            length += (size_t)sprintf(all + length, "%s%s:%s", length ? " " : "", words[i].key, words[i].text);
    return length == 0 || setenv("VIADUCT_SOCK", all, 1) == 0;
}

/* Behind what is there already. */
static bool preload_set(const char *library)
{
    const char *before = vbase_environment("LD_PRELOAD");
    char *text = NULL;
    if (before && strstr(before, library))
        return true;
    if (asprintf(&text, "%s%s%s", before && *before ? before : "", before && *before ? ":" : "", library) < 0)
        return false;
    return setenv("LD_PRELOAD", text, 1) == 0;
}

int verb_sock(int argc, char **argv)
{
    static const struct option options[] = {{"only", required_argument, NULL, 'o'},
                                            {"not", required_argument, NULL, 'n'},
                                            {"also-user", required_argument, NULL, 'u'},
                                            {"after", required_argument, NULL, 'a'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    char library[PATH_MAX];
    bool fine = true;
    for (int got; (got = getopt_long(argc, argv, "+h", options, NULL)) >= 0;)
        switch (got) {
        case 'o': fine = fine && word_add(WORD_ONLY, optarg); break;
        case 'n': fine = fine && word_add(WORD_NOT, optarg); break;
        case 'u': fine = fine && word_add(WORD_USER, optarg); break;
        case 'a': fine = fine && word_add(WORD_AFTER, optarg); break;
        case 'l': return sock_list();
        case 'h': fputs(usage, stdout); return 0;
        default: return 2;
        }
    if (!fine)
        return 2;
    if (optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (preload_find(SOCK_LIBRARY, library) != OK) {
        fprintf(stderr, "viaduct sock: %s\n", vbase_error_detail());
        return 1;
    }
    if (!preload_set(library) || !words_set())
        return 1;
    execvp(argv[optind], argv + optind);
    int why = errno;
    fprintf(stderr, "viaduct sock: %s: %s\n", argv[optind], strerror(why));
    return why == ENOENT ? 127 : 126;
}
