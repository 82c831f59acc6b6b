/* viaduct sock: starts a program with the preload library, and says to it what may be upgraded. */
#include "run/preload.h"
#include "verbs.h"
#include <getopt.h>

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

struct words { /* what goes into VIADUCT_SOCK */
    char text[2048];
    size_t length;
};

static bool words_add(struct words *words, const char *key, const char *value)
{
    if (strpbrk(value, " \t") || !*value)
        return false;
    int n = snprintf(words->text + words->length, sizeof(words->text) - words->length, "%s%s:%s",
                     words->length ? " " : "", key, value);
    words->length += (size_t)n;
    return words->length < sizeof(words->text);
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
    struct words words = {.length = 0};
    char library[PATH_MAX];
    bool fine = true;
    for (int got; (got = getopt_long(argc, argv, "+h", options, NULL)) >= 0;)
        switch (got) {
        case 'o': fine = fine && words_add(&words, "only", optarg); break;
        case 'n': fine = fine && words_add(&words, "not", optarg); break;
        case 'u': fine = fine && words_add(&words, "user", optarg); break;
        case 'a': fine = fine && words_add(&words, "after", optarg); break;
        case 'l': return sock_list();
        case 'h': fputs(usage, stdout); return 0;
        default: return 2;
        }
    if (!fine || optind >= argc) {
        fputs(usage, stderr);
        return 2;
    }
    if (preload_find(SOCK_LIBRARY, library) != OK) {
        fprintf(stderr, "viaduct sock: %s\n", vbase_error_detail());
        return 1;
    }
    if (!preload_set(library) || (words.length && setenv("VIADUCT_SOCK", words.text, 1) != 0))
        return 1;
    execvp(argv[optind], argv + optind);
    int why = errno;
    fprintf(stderr, "viaduct sock: %s: %s\n", argv[optind], strerror(why));
    return why == ENOENT ? 127 : 126;
}
