/* Which launcher started us? Reads the environment, and refuses to take N ranks of a foreign launcher for N jobs of one
 * rank.
 *
 * Order: our own launcher's seat; the PMI wire (PMI_FD); PMIx (PMIX_NAMESPACE and PMIX_RANK); signs of a launcher that
 * speaks something else; nothing: solo. A process that a rank started with our descriptors closed is no rank. */
#include "boot/inside.h"
#include <fcntl.h>
#include <sys/stat.h>

static int environment_number(const char *name, int otherwise)
{
    int value;
    const char *text = vbase_environment(name);
    return text && vboot_number(text, &value) ? value : otherwise;
}

static void descriptor_set_close_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0)
        fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

static bool descriptor_is_socket(int fd)
{
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* The seat is taken once. A wrapper script that starts two programs is the usual cause of a second attempt. */
static int seat_take(struct boot_own *own, int index)
{
    struct boot_handover *header = own->handover.header;
    struct boot_seat *seat = &own->handover.seat[index];
    uint32_t empty = SEAT_EMPTY;
    /* release: the launcher that sees JOINED (acquire, after our death) sees what we wrote before; nothing is read back
     * here, so no acquire */
    if (!atomic_compare_exchange_strong_explicit(&seat->state, &empty, SEAT_JOINED, memory_order_release,
                                                 memory_order_relaxed))
        return vbase_fail(ERR_STATE,
                          "process %u was rank %u of this job already, and a rank can be only one MPI program",
                          seat->pid, header->rank[index]);
    seat->pid = (uint32_t)getpid();
    own->seat = seat;
    own->starter = &vboot_starter_ours;
    own->job.kind = BOOT_VIADUCT;
    own->job.rank = (int)header->rank[index];
    own->job.size = (int)header->size;
    own->job.universe = header->universe;
    own->job.appnum = seat->appnum;
    own->job.survives = header->survives;
    own->job.launcher_pid = (int)header->launcher_pid;
    /* relaxed: a hint to be careful, set before this rank sends anything */
    if (seat->child != seat->pid)
        atomic_store_explicit(&header->strays, 1, memory_order_relaxed);
    own->job.direct_children = atomic_load_explicit(&header->strays, memory_order_relaxed) == 0;
    own->job.local_index = index;
    own->job.local_count = (int)header->local_count;
    memcpy(own->job.secret, header->secret, SECRET_SIZE);
    return OK;
}

/* From now on a program that this process starts finds no seat. The text is changed in place: setenv would move the
 * environment while other threads read it. */
static void seat_mark_taken(const char *text)
{
    char *place = (char *)(uintptr_t)text;
    if (strlen(place) >= sizeof HANDOVER_TAKEN - 1)
        memcpy(place, HANDOVER_TAKEN, sizeof HANDOVER_TAKEN);
}

/* A launcher of another build, such as that of a host around a container, may use other structures: only its seat is
 * used. The ranks of the node make the rest themselves, as under a foreign launcher. */
static void descriptors_take(struct boot_own *own, int node_fd, int seat_fd)
{
    bool same = memcmp(own->handover.header->build, vbase_build_id, sizeof own->handover.header->build) == 0;
    int *place[] = {&own->job.node_fd, &own->job.seat_fd}, given[] = {node_fd, seat_fd};
    for (size_t i = 0; i < ARRAY_LENGTH(place); i++)
        if (same)
            descriptor_set_close_on_exec(*place[i] = given[i]);
        else base_close(given[i]);
    if (!same)
        LOG_INFO("the launcher is of another build of Viaduct (%.16s, this is %.16s): its shared memory is not used",
                 own->handover.header->build, vbase_build_id);
}

static int viaduct_join(struct boot_own *own, const char *text)
{
    int job_fd, node_fd, index, seat_fd, end = 0;
    if (sscanf(text, "%d,%d,%d,%d%n", &job_fd, &node_fd, &index, &seat_fd, &end) != 4 || text[end])
        return vbase_fail(ERR_LAUNCHER, "%s=%s is not what Viaduct's launcher writes: unset it", HANDOVER_SEAT_VARIABLE,
                          text);
    int error = vboot_handover_open(job_fd, &own->handover);
    if (error == ERR_LAUNCHER)
        return vbase_fail(
            ERR_LAUNCHER,
            "this program is below rank %s of a job, but the job's descriptors were closed on the way to it",
            vbase_environment("PMI_RANK") ? vbase_environment("PMI_RANK") : "?");
    if (error != OK)
        return error;
    if (index < 0 || (uint32_t)index >= own->handover.header->local_count)
        return vbase_fail(ERR_PROTOCOL, "the job has %u seats here, not one of number %d",
                          own->handover.header->local_count, index);
    error = seat_take(own, index);
    if (error != OK)
        return error;
    own->pmi.fd = environment_number("PMI_FD", -1);
    if (!descriptor_is_socket(own->pmi.fd))
        own->pmi.fd = -1;
    own->pmi.key_max = HANDOVER_KEY_MAX;
    own->pmi.value_max = HANDOVER_VALUE_MAX;
    descriptors_take(own, node_fd, seat_fd);
    descriptor_set_close_on_exec(job_fd);
    descriptor_set_close_on_exec(own->pmi.fd);
    seat_mark_taken(text);
    return OK;
}

static int pmi_join(struct boot_own *own)
{
    const char *fd = vbase_environment("PMI_FD");
    int number;
    own->starter = &vboot_starter_pmi;
    if (!vboot_number(fd, &number) || !descriptor_is_socket(number))
        return vbase_fail(ERR_LAUNCHER,
                          "PMI_FD=%s is no open connection to a launcher: was this program started by a rank?", fd);
    own->pmi.deadline_ms = ANSWER_DEADLINE_MS;
    own->pmi.fd = number;
    own->job.kind = BOOT_PMI;
    own->job.rank = environment_number("PMI_RANK", -1);
    own->job.size = environment_number("PMI_SIZE", -1);
    descriptor_set_close_on_exec(number);
    if (own->job.rank < 0 || own->job.rank >= own->job.size)
        return vbase_fail(ERR_LAUNCHER, "the launcher gives a PMI connection, but PMI_RANK and PMI_SIZE are no "
                                        "numbers, or the rank is not below the size");
    return vboot_pmi_start(own);
}

/* The variables are changed so that a program which this process starts is no rank: libpmix would take it for one. */
static int pmix_join(struct boot_own *own)
{
    char *rank = (char *)(uintptr_t)vbase_environment("PMIX_RANK");
    if (*rank == '-')
        return vbase_fail(ERR_LAUNCHER, "this program was started by a rank of PMIX_NAMESPACE=%s, and only that is one",
                          vbase_environment("PMIX_NAMESPACE"));
    int error = vboot_pmix_join(own);
    if (error == OK)
        *rank = '-'; /* in place, as in seat_mark_taken */
    return error;
}

/* One rank is a job of one rank, under any launcher. */
static bool job_is_single(void)
{
    return environment_number("SLURM_STEP_NUM_TASKS", 0) == 1 || environment_number("OMPI_COMM_WORLD_SIZE", 0) == 1 ||
           environment_number("PMI_SIZE", 0) == 1;
}

/* Fails if a launcher of several ranks started us whose protocol we do not speak, or that has none. */
static int foreign_refuse(void)
{
    static const struct {
        const char *sign, *launcher, *remedy;
        bool counts; /* the variable's value is a number of ranks: 1 is harmless */
    } known[] = {
        {"SLURM_STEP_NUM_TASKS", "Slurm's srun", "srun --mpi=pmi2", true},
        {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", "Viaduct's mpiexec", true},
        {"PMIX_RANK", "a PMIx launcher", "Viaduct's mpiexec", false},
        {"PMIX_NAMESPACE", "a PMIx launcher", "Viaduct's mpiexec", false},
        {"PALS_RANKID", "HPE's PALS", "its PMIx (mpiexec --pmi=pmix)", false},
        {"PMI_SIZE", "a PMI launcher without a connection", "Viaduct's mpiexec", true},
        {"PMI_PORT", "a PMI launcher that is called by its port", "mpiexec without -pmi-port", false},
        {"MPI_LOCALNRANKS", "an MPI launcher", "Viaduct's mpiexec", true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++) {
        const char *text = vbase_environment(known[i].sign);
        if (text && (known[i].counts ? environment_number(known[i].sign, 0) > 1 : !job_is_single()))
            return vbase_fail(ERR_LAUNCHER,
                              "started by %s (%s=%s), which offers neither PMI nor PMIx to this program: use %s, or "
                              "VIADUCT_FOREIGN=yes for jobs of one rank each",
                              known[i].launcher, known[i].sign, text, known[i].remedy);
    }
    return OK;
}

static void solo_join(struct boot_own *own)
{
    if (own->starter)
        own->starter->finish(own, false);
    own->starter = &vboot_starter_solo;
    own->job.kind = BOOT_SOLO;
    own->job.rank = 0;
    own->job.size = 1;
    own->job.appnum = own->job.universe = -1;
}

int vboot_launcher_find(struct boot_own *own)
{
    const char *seat = vbase_environment(HANDOVER_SEAT_VARIABLE);
    int error = OK;
    if (seat && strcmp(seat, HANDOVER_TAKEN) == 0)
        ; /* started by a rank, without a launcher of its own */
    else if (seat) {
        error = viaduct_join(own, seat);
        if (error == ERR_MISMATCH && vbase_environment("PMI_FD"))
            error = pmi_join(own); /* a launcher of another version: both have PMI-1 */
    } else if (vbase_environment("PMI_FD"))
        error = pmi_join(own);
    else if (vbase_environment("PMIX_NAMESPACE") && vbase_environment("PMIX_RANK") && !job_is_single())
        error = pmix_join(own);
    else
        error = foreign_refuse();
    if (error != OK && vbase_settings.foreign) {
        LOG_INFO("running as a job of one rank (VIADUCT_FOREIGN): %s", vbase_error_detail());
        solo_join(own);
        error = OK;
    }
    if (error == OK && !own->starter)
        solo_join(own);
    return error;
}
