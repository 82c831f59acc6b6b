/* Which processors each rank gets, on a machine of two sockets with four cores each, two hardware threads in a core: 0 to 7 are the
 * first threads, 8 to 15 the second ones; 0 to 3 are in socket 0. And what the lines of a rank file name there.
 * apart: 1 */
#include "run/bind.c"
#include "run/bytes.c"
#include "run/slots.c"
#include "check.h"
#include <sys/stat.h>

#define CPUS 16
#define SAID "%s/sys/devices/system/cpu/cpu%d/topology/%s"

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) /* of a machine that is not ours */
{
    (void)pid, (void)size;
    CPU_ZERO(set);
    for (int cpu = 0; cpu < CPUS; cpu++)
        CPU_SET(cpu, set);
    return 0;
}

static void machine_say(const char *root, int cpu, const char *what, int number)
{
    char path[300];
    snprintf(path, sizeof path, SAID, root, cpu, what);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0777);
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "%d\n", number) > 0 && fclose(file) == 0);
}

static uint32_t mask_of(const cpu_set_t *set)
{
    uint32_t mask = 0;
    for (int cpu = 0; cpu < CPUS; cpu++)
        mask |= CPU_ISSET(cpu, set) ? 1u << cpu : 0;
    return mask;
}

#define CORE(n) (0x101u << (n))
#define SOCKETS 0x0f0fu, 0xf0f0u

static const struct {
    struct run_placing how;
    uint32_t rank[4];
} cases[] = {
    {{.bind = BY_CORE}, {CORE(0), CORE(1), CORE(2), CORE(3)}},
    {{.bind = BY_HWTHREAD}, {1 << 0, 1 << 8, 1 << 1, 1 << 9}},
    {{.bind = BY_CORE, .threads = true}, {1 << 0, 1 << 8, 1 << 1, 1 << 9}},
    {{.bind = BY_SOCKET}, {SOCKETS, SOCKETS}},
    {{.map = BY_SOCKET}, {SOCKETS, SOCKETS}},
    {{.bind = BY_CORE, .map = BY_SOCKET}, {CORE(0), CORE(4), CORE(1), CORE(5)}},
    {{.bind = BY_CORE, .map = BY_SOCKET, .rank = BY_CORE}, {CORE(0), CORE(1), CORE(4), CORE(5)}},
    {{.bind = BY_CORE, .rank = BY_SOCKET}, {CORE(0), CORE(1), CORE(2), CORE(3)}},
    {{.width = 2}, {CORE(0) | CORE(1), CORE(2) | CORE(3), CORE(4) | CORE(5), CORE(6) | CORE(7)}},
    {{.width = 3, .map = BY_SOCKET},
     {CORE(0) | CORE(1) | CORE(2), CORE(4) | CORE(5) | CORE(6), CORE(0) | CORE(1) | CORE(2), CORE(4) | CORE(5) | CORE(6)}},
    {{.width = 2, .map = BY_SOCKET}, {CORE(0) | CORE(1), CORE(4) | CORE(5), CORE(2) | CORE(3), CORE(6) | CORE(7)}},
    {{.width = 2, .map = BY_SOCKET, .rank = BY_SLOT}, {CORE(0) | CORE(1), CORE(2) | CORE(3), CORE(4) | CORE(5), CORE(6) | CORE(7)}},
    {{.bind = BY_CORE, .cpu_list = "2,6"}, {1 << 2, 1 << 6, 1 << 2, 1 << 6}},
    {{.bind = BY_NONE, .map = BY_SOCKET}, {0}},
    {{.map = BY_NODE}, {0}},
};

static void plan_is(size_t i)
{
    static struct run_job job; /* what is planned is kept */
    job.options.placing = cases[i].how;
    job.local = 4;
    job.binding = (struct run_binding){NULL, 0};
    CHECK_EQUAL(binding_plan(&job), OK);
    for (int rank = 0; rank < 4; rank++) {
        const cpu_set_t *set = binding_of(&job.binding, rank);
        uint32_t got = set ? mask_of(set) : 0;
        if (got != cases[i].rank[rank])
            printf("case %zu, rank %d: %x, not %x\n", i, rank, got, cases[i].rank[rank]);
        CHECK(got == cases[i].rank[rank]);
    }
    free(job.binding.unit);
}

static void plan_fails(struct run_placing how)
{
    static struct run_job job;
    job.options.placing = how;
    job.local = 4;
    job.binding = (struct run_binding){NULL, 0};
    CHECK_EQUAL(binding_plan(&job), ERR_ARGUMENT);
    free(job.binding.unit);
}

static void slots_are(const char *text, uint32_t mask)
{
    static const struct run_placing all;
    struct run_place place[CPU_SETSIZE];
    cpu_set_t set;
    int places = places_read(&all, place), error = slots_parse(text, place, places, &set);
    CHECK_EQUAL(error, mask ? OK : ERR_ARGUMENT);
    if (mask && mask_of(&set) != mask)
        printf("slot=%s: %x, not %x\n", text ? text : "", mask_of(&set), mask);
    CHECK(!mask || mask_of(&set) == mask);
}

int main(void)
{
    char root[] = "/tmp/viaduct-machine-XXXXXX", command[64];
    CHECK(mkdtemp(root) != NULL);
    for (int cpu = 0; cpu < CPUS; cpu++) {
        machine_say(root, cpu, "core_id", cpu % 8);
        machine_say(root, cpu, "thread_siblings_list", cpu % 8);
        machine_say(root, cpu, "physical_package_id", cpu % 8 / 4);
        machine_say(root, cpu, cpu % 8 < 4 ? "../node0/here" : "../node1/here", 1);
    }
    vbase_settings.machine = root;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        plan_is(i);
    plan_fails((struct run_placing){.width = 9});
    plan_fails((struct run_placing){.width = 5, .map = BY_SOCKET});
    plan_fails((struct run_placing){.width = 2, .bind = BY_NONE});
    plan_fails((struct run_placing){.bind = BY_CORE, .cpu_list = "3-"});

    slots_are(NULL, 0xffff);
    slots_are("*", 0xffff);
    slots_are("0", CORE(0));
    slots_are("2-3,7", CORE(2) | CORE(3) | CORE(7));
    slots_are("1:0,2", CORE(4) | CORE(6));
    slots_are("1:*", 0xf0f0);
    slots_are("0:0;1:3", CORE(0) | CORE(7));
    slots_are("p9", 1 << 9);
    slots_are("p8-9,0", 1 << 8 | 1 << 9 | CORE(0));
    static const char *const wrong[] = {"8", "2:0", "p16", "x", "0-", "0:x", "0,", "0 1", "-1", "1:"};
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++)
        slots_are(wrong[i], 0);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return check_done();
}
