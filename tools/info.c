/* viaduct info: what this installation is, what it can do here, and its tables. */
#include "verbs.h"
#include "boot/boot.h"
#include "boot/handover.h"
#include "vi/shm/segment.h"
#include "coll/coll.h"
#include "vi/call/report.h"
#include "vi/vi.h"
#include "mpi/not_yet.def"
#include <gnu/libc-version.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

extern char **environ;

static void print_errors(void)
{
#define ERROR(name, code, scope, sentence, remedy)                                                                     \
    printf("%4d  %-12s %-10s %s\n%29s%s\n", code, #name, #scope, sentence, "", remedy);
#include "base/error.def"
#undef ERROR
}

static void print_counters(void)
{
    for (size_t i = 0; i < vbase_counter_count; i++)
        printf("%-18s %-9s %s\n", vbase_counter_table[i].name, vbase_counter_table[i].unit,
               vbase_counter_table[i].help);
}

static void print_coll(void)
{
    static const char *const crowd[] = {"no", "yes", "either"};
    puts("collective             nodes    ranks   crowd   from bytes  way (the last row that fits)");
    for (const struct coll_choice *row = vcoll_choices(); row->name; row++) {
        char ranks[16] = "any";
        if (row->ranks)
            snprintf(ranks, sizeof ranks, "<= %d", row->ranks);
        printf("%-22s %-8s %-7s %-7s %10llu  %s\n", row->name, row->nodes ? "several" : "one", ranks, crowd[row->crowd],
               (unsigned long long)row->from, vcoll_way_name(row->way));
    }
}

static void print_tunables(void)
{
    puts("name               unit          near      slow       far    remote  what for (row of the bench)");
    for (int i = 0; i < TUNABLES; i++) {
        const struct base_tunable *row = &vbase_tunable_table[i];
        printf("%-18s %-8s", row->name, row->unit);
        for (int line = 0; line < CLASSES; line++)
            printf(" %9llu", (unsigned long long)row->value[line]);
        printf("  %s (%s)\n", row->text, row->row);
    }
}

static void print_settings(void) { vbase_settings_print(stdout, false); }
static void print_man(void) { vbase_settings_print(stdout, true); }

/* ---- shared memory ---- */

static void print_segment(int ranks)
{
    struct stat status;
    int fd = -1;
    if (shm_segment_create(ranks, &fd) != OK || fstat(fd, &status) < 0)
        printf("segment     for %d ranks: not possible: %s\n", ranks, vbase_error_detail());
    else
        printf("segment     for %d ranks: a file of %.1f GiB, mapped piece by piece, memory only where touched\n",
               ranks, (double)status.st_size / (1 << 30));
    base_close(fd);
}

/* Really reads a word of a child: what seccomp, Yama or a namespace forbids, only a try tells. */
static int single_copy_try(void)
{
    static volatile uint64_t word;
    uint64_t copy = 0;
    int error = 0;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    struct iovec here = {&copy, sizeof copy}, there = {(void *)(uintptr_t)&word, sizeof word};
    if (child < 0 || process_vm_readv(child, &here, 1, &there, 1, 0) != sizeof word)
        error = errno;
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return error;
}

/* A border between two ways in each class of a line, or as it was set. */
static void print_border(const char *what, enum base_tunable_name border, uint64_t set, const char *text)
{
    printf("%-8s", what);
    for (enum base_class line = CLASS_NEAR; line <= CLASS_FAR; line++)
        printf(" %9llu", (unsigned long long)(set ? set : vbase_tuned(border, line)));
    printf("  %s\n", text);
}

/* Which way a message goes, by its size. */
static void print_ways(bool single)
{
    puts("bytes         near      slow       far  (what a cache line between the two processors costs)");
    print_border("row", TUNABLE_SHM_ROW_MOST, 0, "at most: in the lines behind the head");
    print_border("eager", TUNABLE_EAGER_MOST, vbase_settings.eager,
                 "at most: in a block beside the head; larger ones are asked for");
    if (single)
        print_border("once", TUNABLE_SINGLE_FROM, vbase_settings.single_from,
                     "at least: copied once, by the kernel; below twice, by both ends at the same time");
}

static void print_shm(void)
{
    char yama[16];
    int refused = single_copy_try();
    print_segment(2);
    print_segment(16);
    print_segment(256);
    if (refused)
        printf("one copy    refused by the kernel (%s): large messages are copied twice, in a pipeline\n",
               strerror(refused));
    else
        puts("one copy    process_vm_readv works between processes of one user");
    print_ways(!refused);
    bool there = vbase_file_read(yama, sizeof yama, "/proc/sys/kernel/yama/ptrace_scope");
    printf("Yama        ptrace_scope %s\n", there ? strtok(yama, "\n") : "absent");
}

/* ---- the network ---- */

static void print_line(void *context, const char *text)
{
    (void)context;
    puts(text);
}

/* Who knows the job's secret, here and now. */
static void print_secret(void)
{
    if (vbase_environment(HANDOVER_SEAT_VARIABLE))
        puts("secret      of this job: from the launcher, over inherited descriptors and its agent (ssh); no "
             "other process has it");
    else if (vbase_environment("PMI_FD") || vbase_environment("PMIX_NAMESPACE"))
        puts(
            "secret      of this job: rank 0 puts it into the key-value space of another launcher. A process\n"
            "            that can read that space can join the job");
    else
        puts("secret      by viaduct run: over inherited descriptors and its agent (ssh), no other process has it.\n"
             "            Under another launcher (PMI, PMIx): in its key-value space, and a process that can read\n"
             "            that space can join the job");
}

/* The devices of transports that need some. */
static void print_devices(void)
{
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++) {
        if (!provider->report)
            continue;
        printf("\n%-15s %-10s %-9s %-28s\n", provider->name, "kind", "speed", "address");
        if (vi_provider_allowed(provider))
            provider->report(print_line, NULL);
        else
            printf("not used: %s%s\n",
                   vbase_settings.transports ? "VIADUCT_TRANSPORTS leaves it out" : "there is nothing in ",
                   vbase_settings.transports ? "" : provider->devices);
    }
}

static void print_net(void)
{
    const char *ports = vbase_environment("MPIEXEC_PORT_RANGE");
    uint64_t sent[COUNT_CARDS] = {0};
    jobs_count_cards(sent);
    if (call_report_host(&(struct call_reporter){.line = print_line, .sent = sent}) != OK)
        printf("interfaces  not known: %s\n", vbase_error_detail());
    print_devices();
    puts("\nAn address of this list that a peer has, too, is not used with this peer. Which pairs of cards work is\n"
         "known only once a connection is attempted: VIADUCT_LOG=info names the pairs that came up, and why others\n"
         "did not.\n");
    printf("ports       %s (MPIEXEC_PORT_RANGE), one for each job\n", ports && ports[0] ? ports : "any");
    print_secret();
}

/* ---- MPI ---- */

static void print_mpi(void)
{
    static const char *const names[] = {
#define TEXT(unused, name) #name,
#define TEXT_OF(unused, of, name) #name,
        NOT_YET_FUNCTIONS(TEXT, ) NOT_YET_OF_FUNCTIONS(TEXT_OF, ) NO_FILE_FUNCTIONS(TEXT, )
    };
    puts("Implemented: all functions of MPI 5.0 but these.\n\n"
         "Not yet: they return MPI_ERR_UNSUPPORTED_OPERATION");
    for (size_t i = 0, at = 0; i < ARRAY_LENGTH(names); i++) {
        if (at + strlen(names[i]) > 110) {
            puts("");
            at = 0;
        }
        at += (size_t)printf("  %s", names[i]);
    }
    puts("");
}

/* ---- all together ---- */

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
    printf("\ntransports ");
    for (const struct vi_provider *provider = vi_providers; provider->name; provider++)
        printf(" %s", provider->name);
    puts("");
    if (vbase_environment(BOOT_SETS_VARIABLE))
        printf("sets        %s (process sets of this job, by rank)\n", vbase_environment(BOOT_SETS_VARIABLE));
    puts("launch      mpiexec of Viaduct; PMI-1 (hydra, srun --mpi=pmi2, flux); PMIx (mpirun of Open MPI, prterun), or "
         "none");
    puts("more        viaduct info --settings, --errors, --counters, --tunables, --coll, --shm, --net, --mpi; --all of "
         "them");
}

/* What else is asked first of a host that is not known. */
static void print_system(void)
{
    static const struct {
        const char *name;
        int resource;
        const char *option;
    } limits[] = {{"open files", RLIMIT_NOFILE, "-n"},     {"processes", RLIMIT_NPROC, "-u"},
                  {"locked memory", RLIMIT_MEMLOCK, "-l"}, {"address space", RLIMIT_AS, "-v"},
                  {"file size", RLIMIT_FSIZE, "-f"},       {"stack", RLIMIT_STACK, "-s"}};
    char text[4096];
    printf("libc        %s\nuser        %s\n", gnu_get_libc_version(), geteuid() == 0 ? "root" : "not root");
    for (size_t i = 0; i < ARRAY_LENGTH(limits); i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) < 0)
            continue;
        printf("limit       %s (ulimit %s): ", limits[i].name, limits[i].option);
        printf(limit.rlim_cur == RLIM_INFINITY ? "none\n" : "%llu\n", (unsigned long long)limit.rlim_cur);
    }
    if (vbase_file_read(text, sizeof text, "/proc/meminfo"))
        printf("memory      %.*s\n", (int)strcspn(text, "\n"), text);
    if (vbase_file_read(text, sizeof text, "/proc/self/cgroup"))
        printf("cgroup      %.*s\n", (int)strcspn(text, "\n"), text);
    const char *model = vbase_file_read(text, sizeof text, "/proc/cpuinfo") ? strstr(text, "model name") : NULL;
    if (model)
        printf("processor   %.*s\n", (int)strcspn(model, "\n"), model);
    printf("program     %s\nbuild       %.16s\n", vbase_self(), vbase_build_id);
}

/* The variables of this library that are set, and the names of those by which launchers are seen. Values of others
 * may be secrets. */
static void print_environment(void)
{
    static const char *const begin[] = {"PMI_", "PMIX_", "SLURM_", "OMPI_", "HYDRA_", "MPIEXEC_", "MPICH_", "LD_"};
    for (char **at = environ; *at; at++) {
        if (strncmp(*at, "VIADUCT_", 8) == 0 && strncmp(*at, "VIADUCT_JOB_", 12) != 0)
            puts(*at);
        for (size_t i = 0; i < ARRAY_LENGTH(begin); i++)
            if (strncmp(*at, begin[i], strlen(begin[i])) == 0)
                printf("%.*s is set\n", (int)strcspn(*at, "="), *at);
    }
}

/* One text for a report of a fault. */
static void print_all(void)
{
    static const struct {
        const char *title;
        void (*print)(void);
    } parts[] = {{"installation", print_plain}, {"system", print_system},       {"environment", print_environment},
                 {"settings", print_settings},  {"shared memory", print_shm},   {"network", print_net},
                 {"tunables", print_tunables},  {"collectives", print_coll},    {"MPI", print_mpi}};
    puts("This text names the host, its addresses and the settings; read it before you send it.");
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        printf("\n==== %s ====\n", parts[i].title);
        parts[i].print();
    }
}

static const struct page {
    const char *flag;
    void (*print)(void);
    const char *help;
} pages[] = {
    {"--settings", print_settings, "every VIADUCT_ variable: value, unit, meaning"},
    {"--settings-man", print_man, "the same as a piece of a man page"},
    {"--errors", print_errors, "every error: code, name, scope, sentence, what to do"},
    {"--shm", print_shm, "shared memory: how large a segment may be, what the kernel allows"},
    {"--net", print_net, "the network: every interface and RDMA port, used or not and why; where the secret lies"},
    {"--mpi", print_mpi, "the functions of MPI: implemented and not yet"},
    {"--tunables", print_tunables, "every tuned threshold: its value for each class of distance, what it is for"},
    {"--coll", print_coll, "which way collectives take: the table"},
    {"--counters", print_counters, "every counter: name, unit, meaning"},
    {"--all", print_all, "what a report of a fault needs, in one text"},
};

void info_print_words(void)
{
    for (size_t i = 0; i < ARRAY_LENGTH(pages); i++)
        puts(pages[i].flag);
}

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
