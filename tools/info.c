/* viaduct info: what this installation is, what it can do here, and its tables. */
#include "verbs.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/settings.h"
#include "base/topology.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void print_errors(void)
{
#define ERROR(name, code, scope, sentence, remedy) printf("%4d  %-12s %-10s %s\n%29s%s\n", code, #name, #scope, sentence, "", remedy);
#include "base/error.def"
#undef ERROR
}

static void print_counters(void)
{
    for (size_t i = 0; i < vbase_counter_count; i++)
        printf("%-18s %-9s %s\n", vbase_counter_table[i].name, vbase_counter_table[i].unit, vbase_counter_table[i].help);
}

static void print_settings(void) { vbase_settings_print(stdout, false); }
static void print_man(void) { vbase_settings_print(stdout, true); }

static void print_plain(void)
{
    struct utsname system;
    const struct base_topology *topology = vbase_topology();
    printf("Viaduct %s, built with %s %s for %s\n", VIADUCT_VERSION,
#ifdef __clang__
           "clang", __clang_version__,
#else
           "gcc", __VERSION__,
#endif
#if defined(__x86_64__)
           "x86-64"
#elif defined(__aarch64__)
           "aarch64"
#else
           "this machine"
#endif
    );
    if (uname(&system) == 0)
        printf("host        %s, %s %s\n", system.nodename, system.sysname, system.release);
    printf("processors  %d to use, %d in the affinity mask, %d in the machine", topology->cpus, topology->cpus_allowed,
           topology->cpus_online);
    if (topology->cpus_quota > 0)
        printf(", %.2f by the cgroup's quota", topology->cpus_quota);
    printf("\ncaches      L1d %zu KiB, L2 %zu KiB, L3 %zu KiB, line %zu\n", topology->l1d >> 10, topology->l2 >> 10,
           topology->l3 >> 10, topology->line);
    puts("launch      PMI-1 (mpiexec of Viaduct, hydra, Slurm --mpi=pmi2, flux), or none");
    puts("more        viaduct info --settings, --errors, --counters, --shm");
}

static const struct page {
    const char *flag;
    void (*print)(void);
    const char *help;
} pages[] = {
    {"--settings", print_settings, "every VIADUCT_ variable: value, unit, meaning"},
    {"--settings-man", print_man, "the same as a piece of a man page"},
    {"--errors", print_errors, "every error: code, name, scope, sentence, what to do"},
    {"--counters", print_counters, "every counter: name, unit, meaning"},
};

int verb_info(int argc, char **argv)
{
    if (vbase_settings_read() != OK) {
        fprintf(stderr, "viaduct: %s\n", vbase_error_detail());
        return 2;
    }
    if (argc < 2) {
        print_plain();
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
        if (strcmp(argv[1] + strspn(argv[1], "-"), pages[i].flag + 2) == 0) {
            pages[i].print();
            return 0;
        }
    bool asked = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    fprintf(asked ? stdout : stderr, "usage: viaduct info [PAGE]\n");
    for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
        fprintf(asked ? stdout : stderr, "  %-15s %s\n", pages[i].flag, pages[i].help);
    return asked ? 0 : 2;
}
