/* Ranks under our launcher: what they share, how they end, and what the launcher says about it. Without arguments this
 * program is the test and starts itself as ranks.
 * timeout: 120
 * apart: 1 */
#include "base/clock.h"
#include "base/counters.h"
#include "base/error.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "check.h"
#include "vi/shm/segment.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the ranks ---- */

static struct boot_job *join(void)
{
    static struct boot_job *job; /* found by the leak sanitizer where a rank ends without closing it */
    if (vbase_settings_read() != OK || vboot_open(&job) != OK) {
        fprintf(stderr, "join: %s\n", vbase_error_detail());
        exit(99);
    }
    return job;
}

static int same_number(const char *name, int expected)
{
    const char *text = getenv(name);
    if (text && atoi(text) == expected)
        return 1;
    fprintf(stderr, "%s is %s, not %d\n", name, text ? text : "absent", expected);
    return 0;
}

static int rank_ring(void)
{
    struct boot_job *job = join();
    char key[32], value[32];
    CHECK(same_number("PMI_RANK", job->rank) && same_number("PMI_SIZE", job->size));
    CHECK(same_number("OMPI_COMM_WORLD_RANK", job->rank) && same_number("OMPI_COMM_WORLD_SIZE", job->size));
    CHECK(same_number("OMPI_COMM_WORLD_LOCAL_RANK", job->rank) && same_number("OMPI_COMM_WORLD_LOCAL_SIZE", job->size));
    CHECK(same_number("OMPI_COMM_WORLD_NODE_RANK", job->rank));
    CHECK(same_number("MPI_LOCALRANKID", job->rank) && same_number("MPI_LOCALNRANKS", job->size));
    CHECK_EQUAL(job->kind, BOOT_VIADUCT);
    CHECK_EQUAL(job->local_count, job->size);
    CHECK_EQUAL(job->direct_children, 1);
    CHECK_EQUAL(job->launcher_pid, getppid());
    CHECK(fcntl(job->node_fd, F_GETFD) == FD_CLOEXEC);
    for (int round = 0; round < 20; round++) {
        snprintf(key, sizeof key, "ring-%d-%d", job->rank, round);
        snprintf(value, sizeof value, "%d", job->rank * 1000 + round);
        CHECK_EQUAL(vboot_put(job, key, value), OK);
        CHECK_EQUAL(vboot_fence(job), OK);
        int next = (job->rank + 1) % job->size;
        snprintf(key, sizeof key, "ring-%d-%d", next, round);
        CHECK_EQUAL(vboot_get(job, next, key, value, sizeof value), OK);
        CHECK_EQUAL(atoi(value), next * 1000 + round);
    }
    vboot_close(job);
    return check_done();
}

static int rank_unfinished(void)
{
    return join()->rank == 1 ? 0 : (pause(), 0);
}

/* Its last call lies where the launcher looks: in its counters in the node's segment. */
static int rank_dies(int number)
{
    struct boot_job *job = join();
    if (job->rank == 1) {
        off_t at;
        CHECK_EQUAL(shm_segment_counters(job->node_fd, 1, &at), OK);
        CHECK_EQUAL(pwrite(job->node_fd, "MPI_Recv", 9, at + (off_t)offsetof(struct base_counters, last_call)), 9);
        CHECK_EQUAL(vboot_fence(job), OK);
        signal(number, SIG_DFL); /* a sanitizer's handler would come between */
        raise(number);
    }
    CHECK_EQUAL(vboot_fence(job), OK);
    pause();
    return 0;
}
static int rank_segv(void)
{
    return rank_dies(SIGSEGV);
}
static int rank_kill(void)
{
    return rank_dies(SIGKILL);
}

static int rank_abort(void)
{
    struct boot_job *job = join();
    CHECK_EQUAL(vboot_fence(job), OK);
    if (job->rank == 2)
        vboot_abort(job, 9, "the flux capacitor is empty");
    pause();
    return 0;
}

static int rank_desert(void)
{
    if (atoi(getenv("PMI_RANK")) == 1)
        return 0;
    join();
    pause();
    return 0;
}

/* After a good end the others may still speak, whatever the first one's status is. */
static int rank_late(void)
{
    struct boot_job *job = join();
    int rank = job->rank;
    CHECK_EQUAL(vboot_fence(job), OK);
    vboot_close(job);
    if (rank == 1)
        return 5;
    usleep(200000);
    printf("late word of %d\n", rank);
    return 0;
}

static int rank_solo(void)
{
    struct boot_job *job = join();
    static const char *const names[] = {[BOOT_SOLO] = "alone", [BOOT_VIADUCT] = "ours"};
    printf("kind %s of %d\n", names[job->kind], job->size);
    vboot_close(job);
    return 0;
}

/* A program that a rank starts: alone, or with a launcher of its own. */
/* With a shell between it is nobody's direct child. */
static int rank_stray(void)
{
    struct boot_job *job = join();
    CHECK_EQUAL(job->direct_children, 0);
    vboot_close(job);
    return check_done();
}

static int rank_parent(void)
{
    struct boot_job *job = join();
    char command[4096];
    CHECK_EQUAL(system("/proc/self/exe 2>/dev/null; true"), 0); /* a shell between is no problem */
    snprintf(command, sizeof command, "%s solo && %s/mpiexec -n 3 %s ring && echo nested", getenv("SELF"),
             getenv("VIADUCT_BIN"), getenv("SELF"));
    CHECK_EQUAL(system(command), 0);
    CHECK_EQUAL(vboot_fence(job), OK);
    vboot_close(job);
    return check_done();
}

/* Everything a server may be told, and much that it may not. Rank 0 then still gets good answers. */
static int rank_garbage(void)
{
    static const char *const words[] = {
        "cmd=",
        "init",
        " pmi_version=1",
        " pmi_subversion=1",
        "put",
        " key=a",
        " value=b",
        "get",
        "\n",
        " ",
        "barrier_in",
        "mcmd=spawn\n",
        "endcmd\n",
        "=",
        "cmd=get key=x\n",
        "cmd=lookup_name service=q\n",
        "\x01\xff",
        " rc=-1",
        "publish_name",
        "cmd=publish_name service=q port=p\n",
        "cmd=get_maxes\n",
        "finalize",
        " kvsname=viaduct",
        "cmd=unpublish_name service=q\n",
        "\r",
        "cmd=get_universe_size\ncmd=get_appnum\n",
    };
    int fd = atoi(getenv("PMI_FD")), rank = atoi(getenv("PMI_RANK"));
    unsigned long long state = 77 + (unsigned)rank;
    if (rank > 0) {
        char answers[4096];
        signal(SIGPIPE, SIG_IGN);
        for (int i = 0; i < 20000; i++) {
            state = state * 6364136223846793005ull + 1442695040888963407ull;
            const char *word = words[(state >> 33) % ARRAY_LENGTH(words)];
            if (send(fd, word, strlen(word), MSG_NOSIGNAL) < 0)
                break;
            while (recv(fd, answers, sizeof answers, MSG_DONTWAIT) > 0)
                ;
        }
        _exit(0);
    }
    struct boot_job *job = join();
    char value[16];
    for (int i = 0; i < 200; i++) {
        snprintf(value, sizeof value, "%d", i);
        CHECK_EQUAL(vboot_put(job, "mine", value), OK);
        CHECK_EQUAL(vboot_get(job, job->rank, "mine", value, sizeof value), OK);
        CHECK_EQUAL(atoi(value), i);
    }
    vboot_close(job);
    return check_done();
}

static const struct part {
    const char *name;
    int (*act)(void);
} parts[] = {
    {"ring", rank_ring},     {"unfinished", rank_unfinished}, {"segv", rank_segv},       {"kill", rank_kill},
    {"abort", rank_abort},   {"desert", rank_desert},         {"late", rank_late},       {"solo", rank_solo},
    {"parent", rank_parent}, {"stray", rank_stray},           {"garbage", rank_garbage},
};

/* ---- the test ---- */

static char said[1 << 16];

/* Runs it; the exit status; what was said lies in `said`. */
static int run(const char *format, const char *self)
{
    char command[8192];
    size_t length = 0;
    snprintf(command, sizeof command, format, self, self);
    strcat(command, " 2>&1");
    char *whole = NULL;
    if (asprintf(&whole, "%s/mpiexec %s", getenv("VIADUCT_BIN"), command) < 0)
        abort();
    FILE *pipe = popen(whole, "r");
    while (length < sizeof said - 1) {
        size_t got = fread(said + length, 1, sizeof said - 1 - length, pipe);
        if (got == 0)
            break;
        length += got;
    }
    said[length] = 0;
    free(whole);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_words(const char *words)
{
    if (strstr(said, words))
        return;
    fprintf(stderr, "not said: \"%s\" in:\n%s\n", words, said);
    check_failed++;
}

static int count_words(const char *words)
{
    int count = 0;
    for (const char *at = said; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* The job fails with this status and one sentence, and ends though other ranks would sleep for ever. */
static void fails(const char *command, const char *self, int status, const char *sentence)
{
    CHECK_EQUAL(run(command, self), status);
    expect_words(sentence);
    CHECK_EQUAL(count_words("viaduct: "), 1);
    CHECK_EQUAL(count_words("\n"), 1);
}

static void good_ends(const char *self)
{
    CHECK_EQUAL(run("-n 1 %s ring", self), 0);
    CHECK_EQUAL(run("-n 7 %s ring", self), 0);
    CHECK_TEXT(said, "");
    CHECK_EQUAL(run("-n 2 %s ring : -n 3 %s ring", self), 0);
    CHECK_EQUAL(run("-n 2 %s parent", self), 0);
    CHECK_EQUAL(count_words("kind alone of 1\n"), 2);
    CHECK_EQUAL(count_words("nested\n"), 2);
    CHECK_EQUAL(run("-n 3 %s garbage", self), 0);
    CHECK_EQUAL(run("-n 3 %s late", self), 5);
    CHECK_EQUAL(count_words("late word of "), 2);
    CHECK_EQUAL(run("-n 2 sh -c '%s stray; true'", self), 0);
    CHECK_TEXT(said, "");
    CHECK_EQUAL(run("-n 2 sh -c '%s solo'", self), 0);
    CHECK_EQUAL(count_words("kind ours of 2\n"), 2);
}

static void bad_ends(const char *self)
{
    fails("-n 3 %s unfinished", self, 1, "ended without MPI_Finalize, with exit status 0");
    fails("-n 3 %s segv", self, 139, "was killed by signal 11 (Segmentation fault)");
    expect_words("rank 1 (pid ");
    expect_words("its last MPI call was MPI_Recv");
    fails("-n 3 %s kill", self, 137, "was killed by signal 9 (Killed); its last MPI call was MPI_Recv");
    fails("-n 3 %s abort", self, 9, "ended the job with status 9: the flux capacitor is empty");
    fails("-n 3 %s desert", self, 1, "ended without MPI_Init, but rank ");
    CHECK(run("-n 1 sh -c '%s solo; %s solo'", self) == 99);
    expect_words("can be only one MPI program");
    CHECK(run("-n 1 sh -c 'exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; %s solo'", self) == 99);
    expect_words("descriptors were closed on the way to it");
}

int main(int argc, char **argv)
{
    static char self[4096];
    if (argc > 1) {
        for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
            if (strcmp(argv[1], parts[i].name) == 0)
                return parts[i].act();
        return 98;
    }
    if (getenv("PMI_RANK"))
        return 0;
    for (int fd = 3; fd < 256; fd++)
        close(fd); /* what we inherit may be anything, and a shell closes nothing above 9 */
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!getenv("VIADUCT_BIN") || length < 0) {
        puts("VIADUCT_BIN is not set");
        return 77;
    }
    setenv("SELF", self, 1);
    good_ends(self);
    bad_ends(self);
    return check_done();
}
