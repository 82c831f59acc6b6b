/* without CALL... -- PROGRAM ARGUMENT...: runs a program, and all it starts, with these system calls refused (EPERM).
 * CALL is one of the names below. Exit status 126 when the kernel does not let us. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} known[] = {
    {"process_vm_readv", SYS_process_vm_readv}, {"process_vm_writev", SYS_process_vm_writev},
    {"memfd_create", SYS_memfd_create},         {"pidfd_open", SYS_pidfd_open},
    {"kcmp", SYS_kcmp},                         {"membarrier", SYS_membarrier},
    {"sched_setaffinity", SYS_sched_setaffinity},
};

static int refuse(unsigned number)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    int a = 1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 126;
    for (; a < argc && strcmp(argv[a], "--"); a++) {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k].name, argv[a]))
            k++;
        if (k == sizeof known / sizeof *known || refuse(known[k].number) != 0) {
            fprintf(stderr, "without: cannot refuse %s: %s\n", argv[a], strerror(errno));
            return 126;
        }
    }
    if (a + 1 >= argc)
        return 126;
    execvp(argv[a + 1], argv + a + 1);
    perror(argv[a + 1]);
    return 127;
}
