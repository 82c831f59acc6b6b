/* The program `viaduct`: a table of verbs. Under the names mpiexec, mpirun and mprun it is `viaduct run`. */
#include "run/flags.h"
#include "verbs.h"
#include <ctype.h>

static int verb_help(int argc, char **argv);
static int verb_words(int argc, char **argv);

static const struct verb {
    const char *name;
    int (*act)(int argc, char **argv);
    const char *help;
} verbs[] = {
    {"run", verb_run, "start a parallel program: viaduct run -n 4 ./program (also called mpiexec, mpirun, mprun)"},
    {"info", verb_info, "what this installation is and what it can do here"},
    {"doctor", verb_doctor, "can jobs run on these hosts, and which ways lead there: viaduct doctor HOST..."},
    {"jobs", verb_jobs, "the jobs of this user on this host, and what the ranks of one do: viaduct jobs [PID]"},
    {"stuck", verb_stuck, "which ranks of a job wait for which, and why it does not end: viaduct stuck [PID]"},
    {"top", verb_top, "what the ranks of a job send and receive, second by second: viaduct top [PID]"},
    {"sock", verb_sock, "start a sockets program over shared memory: viaduct sock -- PROGRAM"},
    {"help", verb_help, "this list"},
    {"words", verb_words, NULL},     /* for completion in a shell alone */
    {"helper", verb_helper, NULL},   /* for the launcher alone */
    {"examine", verb_examine, NULL}, /* for the doctor alone */
};

static int verb_help(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("Viaduct " VIADUCT_VERSION ", a communication library for clusters. usage: viaduct VERB [...]\n");
    for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
        if (verbs[i].help)
            printf("  %-8s %s\n", verbs[i].name, verbs[i].help);
    puts("\nviaduct VERB --help tells more about one of them.");
    return 0;
}

/* viaduct words [VERB]: the verbs, or what can follow one; a word a line. Completion asks, so it knows what this build
 * knows. */
static int verb_words(int argc, char **argv)
{
    static const struct {
        const char *verb, *words;
    } options[] = {{"jobs", "--help"}, {"stuck", "--help"}, {"top", "-b --json -n --help"},
                   {"sock", "--only --not --also-user --after --list --help"}};
    const char *verb = argc > 1 ? argv[1] : NULL;
    for (size_t i = 0; !verb && i < ARRAY_LENGTH(verbs); i++)
        if (verbs[i].help)
            puts(verbs[i].name);
    if (verb && strcmp(verb, "run") == 0)
        flags_print_words();
    if (verb && strcmp(verb, "info") == 0)
        info_print_words();
    for (size_t i = 0; verb && strcmp(verb, "settings") == 0 && i < vbase_setting_count; i++) {
        fputs("VIADUCT_", stdout);
        for (const char *at = vbase_setting_table[i].name; *at; at++)
            putchar(toupper((unsigned char)*at));
        putchar('\n');
    }
    for (size_t i = 0; verb && i < ARRAY_LENGTH(options); i++)
        if (strcmp(verb, options[i].verb) == 0)
            puts(options[i].words);
    return 0;
}

static int unknown_verb(const char *name)
{
    const char *names[ARRAY_LENGTH(verbs)];
    for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
        names[i] = verbs[i].name;
    const char *near = vbase_name_nearest(name, names, ARRAY_LENGTH(verbs));
    fprintf(stderr, "viaduct: no verb %s%s%s%s; viaduct help lists them\n", name, near ? " (maybe: " : "",
            near ? near : "", near ? "?)" : "");
    return 2;
}

int main(int argc, char **argv)
{
    const char *called = argc > 0 ? basename(argv[0]) : "viaduct";
    if (strncmp(called, "mpiexec", 7) == 0 || strncmp(called, "mpirun", 6) == 0 || strncmp(called, "mprun", 5) == 0)
        return verb_run(argc, argv);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return verb_help(argc, argv);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("viaduct " VIADUCT_VERSION);
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].act(argc - 1, argv + 1);
    return unknown_verb(argv[1]);
}
