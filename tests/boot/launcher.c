/* Who started us: our launcher's seat, foreign launchers, nobody; each in a process of its own with its own variables.
 */
#include "base/error.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/handover.h"
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 8
struct world {                  /* variables, what must come of them */
    const char *variable[MOST]; /* name, value, ... */
    int error;
    const char *says; /* a piece of the detail */
};

static const struct world worlds[] = {
    {{0}, OK, NULL},
    {{"PMIX_RANK", "0"}, ERR_LAUNCHER, "a PMIx launcher (PMIX_RANK=0)"}, /* with PMIX_NAMESPACE: boot/pmix.sh */
    {{"PMIX_RANK", "-1", "PMIX_NAMESPACE", "x"}, ERR_LAUNCHER, "was started by a rank of PMIX_NAMESPACE=x"},
    {{"PMIX_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1"}, OK, NULL},
    {{"OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "1"},
     ERR_LAUNCHER,
     "Open MPI's mpirun (OMPI_COMM_WORLD_SIZE=4)"},
    {{"OMPI_COMM_WORLD_SIZE", "4", "VIADUCT_FOREIGN", "yes"}, OK, NULL},
    {{"SLURM_STEP_NUM_TASKS", "2"}, ERR_LAUNCHER, "srun"},
    {{"SLURM_STEP_NUM_TASKS", "1", "SLURM_NTASKS", "16"}, OK, NULL},
    {{"SLURM_NTASKS", "16", "SLURM_PROCID", "0"}, OK, NULL},
    {{"PMI_SIZE", "3", "PMI_RANK", "0"}, ERR_LAUNCHER, "without a connection"},
    {{"PMI_FD", "77", "PMI_SIZE", "3", "PMI_RANK", "0"}, ERR_LAUNCHER, "PMI_FD=77"},
    {{"PMI_FD", "rubbish", "PMI_SIZE", "3"}, ERR_LAUNCHER, "PMI_FD=rubbish"},
    {{"PMI_FD", "77", "PMI_SIZE", "3", "VIADUCT_FOREIGN", "yes"}, OK, NULL},
    {{"PMI_PORT", "host:4711", "PMI_ID", "0"}, ERR_LAUNCHER, "called by its port"},
    {{"VIADUCT_JOB_SEAT", "taken", "PMI_FD", "77", "PMI_SIZE", "3"}, OK, NULL},
    {{"VIADUCT_JOB_SEAT", "80,81,0,-1", "PMI_RANK", "2"}, ERR_LAUNCHER, "below rank 2"},
    {{"VIADUCT_JOB_SEAT", "rubbish"}, ERR_LAUNCHER, "rubbish"},
    {{"VIADUCT_JOB_SEAT", "1,2,3,4,5"}, ERR_LAUNCHER, "1,2,3,4,5"},
};

static int in_child(int (*act)(const void *context), const void *context)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exit(act(context));
    waitpid(pid, &status, 0);
    return status;
}

static int live_in(const void *context)
{
    const struct world *world = context;
    struct boot_job *job;
    for (int i = 0; i < MOST && world->variable[i]; i += 2)
        setenv(world->variable[i], world->variable[i + 1], 1);
    CHECK_EQUAL(vbase_settings_read(), OK);
    int error = vboot_open(&job);
    CHECK_EQUAL(error, world->error);
    if (world->says && !strstr(vbase_error_detail(), world->says))
        fprintf(stderr, "\"%s\" does not say \"%s\"\n", vbase_error_detail(), world->says), check_failed++;
    if (error == OK) {
        char value[8];
        CHECK(job->kind == BOOT_SOLO && job->rank == 0 && job->size == 1);
        CHECK(job->local_count == 1 && job->local_index == 0 && job->local_ranks[0] == 0);
        CHECK_EQUAL(vboot_put(job, "key", "12345"), OK);
        CHECK_EQUAL(vboot_fence(job), OK);
        CHECK_EQUAL(vboot_get(job, 0, "key", value, 4), OK);
        CHECK_TEXT(value, "123");
        CHECK_EQUAL(vboot_get(job, 0, "other", value, 4), ERR_NOT_FOUND);
        vboot_close(job);
    }
    return check_done();
}

/* ---- a seat ---- */

static struct boot_handover_map map;
static int node_fd;

static void offer_seat(int seat)
{
    char text[64];
    snprintf(text, sizeof text, "%d,%d,%d,-1", map.fd, node_fd, seat);
    setenv(HANDOVER_SEAT_VARIABLE, text, 1);
    fcntl(map.fd, F_SETFD, 0);
}

static int sit_down(const void *context)
{
    const int *seat = context;
    struct boot_job *job;
    offer_seat(*seat);
    int error = vboot_open(&job);
    CHECK_EQUAL(error, OK);
    if (error != OK)
        return 1;
    CHECK_EQUAL(job->kind, BOOT_VIADUCT);
    CHECK_EQUAL(job->rank, *seat);
    CHECK_EQUAL(job->size, 3);
    CHECK_EQUAL(job->local_count, 3);
    CHECK_EQUAL(job->local_ranks[2], 2);
    CHECK_EQUAL(job->launcher_pid, getppid());
    CHECK_EQUAL(job->node_fd, node_fd);
    CHECK(memcmp(job->secret, map.header->secret, SECRET_SIZE) == 0);
    CHECK_TEXT(getenv(HANDOVER_SEAT_VARIABLE), HANDOVER_TAKEN);
    CHECK((fcntl(map.fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK_EQUAL(vboot_fence(job), OK);
    vboot_close(job);
    return check_done();
}

static int sit_down_late(const void *context)
{
    struct boot_job *job;
    offer_seat(*(const int *)context);
    CHECK_EQUAL(vboot_open(&job), ERR_STATE);
    CHECK(strstr(vbase_error_detail(), "was rank 1 of this job already") != NULL);
    return check_done();
}

static void seats(void)
{
    static const int seat[3] = {0, 1, 2};
    pid_t pid[3];
    CHECK_EQUAL(vboot_handover_create(3, 3, &map), OK);
    CHECK((fcntl(map.fd, F_GETFD) & FD_CLOEXEC) != 0);
    node_fd = memfd_create("node", 0);
    fflush(NULL);
    for (int i = 0; i < 3; i++)
        if ((pid[i] = fork()) == 0)
            exit(sit_down(&seat[i]));
    for (int i = 0; i < 3; i++) {
        int status;
        waitpid(pid[i], &status, 0);
        CHECK_EQUAL(status, 0);
        CHECK_EQUAL(map.seat[i].state, SEAT_LEFT);
        CHECK_EQUAL(map.seat[i].pid, pid[i]);
    }
    CHECK_EQUAL(in_child(sit_down_late, &seat[1]), 0);
}

static int be_told(const void *context)
{
    struct boot_job *job;
    alarm(10);
    offer_seat(*(const int *)context);
    CHECK_EQUAL(vboot_open(&job), OK);
    CHECK_EQUAL(vboot_fence(job), ERR_PEER_DEAD);
    CHECK_EQUAL(vboot_deaths(job), 1);
    CHECK(vboot_dead(job, 1) && !vboot_dead(job, 0));
    vboot_close(job);
    return check_done();
}

/* Who has come to the fence hears of a death there, also one who has looked for deaths and is about to sleep: he is told at once when
 * he has arrived, and sees the epoch moved. */
static void mourners(void)
{
    static const int seat = 0;
    for (int i = 0; i < 100 && !check_failed; i++) {
        int status = -1;
        CHECK_EQUAL(vboot_handover_create(2, 2, &map), OK);
        uint32_t epoch = map.header->fence_epoch;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            exit(be_told(&seat));
        while (map.header->fence_count == 0 && waitpid(pid, &status, WNOHANG) == 0)
            ;
        vboot_handover_dead(&map, 1);
        CHECK(map.header->fence_epoch != epoch);
        if (status == -1)
            waitpid(pid, &status, 0);
        CHECK_EQUAL(status, 0);
        vboot_handover_close(&map);
    }
}

/* A description with any byte changed is refused or makes sense; it never leads outside of itself. */
static void changed_bytes(void)
{
    struct boot_handover_map other;
    size_t head = map.header->seats_at;
    unsigned char *bytes = (unsigned char *)map.header;
    int refused = 0;
    for (size_t at = 0; at < head; at++)
        for (int change = 1; change < 256; change <<= 1) {
            bytes[at] ^= (unsigned char)change;
            int error = vboot_handover_open(map.fd, &other);
            if (error == OK) {
                CHECK(other.header->local_count <= 3 && other.header->local_count > 0);
                for (uint32_t i = 0; i < other.header->local_count; i++)
                    CHECK(other.header->rank[i] < other.header->size);
                other.fd = -1;
                vboot_handover_close(&other);
            } else
                refused++;
            bytes[at] ^= (unsigned char)change;
        }
    CHECK(refused > 100);
    CHECK_EQUAL(vboot_handover_open(node_fd, &other), ERR_LAUNCHER);
    vboot_handover_close(&map);
}

int main(void)
{
    static const char *const foreign[] = {"PMI_FD",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "PMI_PORT",
                                          "PMIX_RANK",
                                          "PMIX_NAMESPACE",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "SLURM_STEP_NUM_TASKS",
                                          HANDOVER_SEAT_VARIABLE};
    for (size_t i = 0; i < ARRAY_LENGTH(foreign); i++)
        unsetenv(foreign[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(worlds); i++)
        if (in_child(live_in, &worlds[i]) != 0) {
            fprintf(stderr, "in world %zu\n", i);
            check_failed++;
        }
    seats();
    changed_bytes();
    mourners();
    return check_done();
}
