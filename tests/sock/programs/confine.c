/* Runs a program under a filter of system calls, which
 *   kill      ends it if it makes a memfd, or opens a netlink socket       refuse    says EPERM to that
 *   allow     has nothing against it                                       netlink   refuses the socket alone
 *   confine kill|refuse|allow|netlink PROGRAM [ARGUMENT...]     exit status 77: there are no filters here */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    unsigned answer = strcmp(how, "kill") == 0     ? SECCOMP_RET_KILL_PROCESS
                      : strcmp(how, "refuse") == 0 ? SECCOMP_RET_ERRNO | EPERM
                                                   : SECCOMP_RET_ALLOW;
    bool netlink_alone = strcmp(how, "netlink") == 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, netlink_alone ? 3 : 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, netlink_alone ? SECCOMP_RET_ERRNO | EAFNOSUPPORT : answer),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
    if (argc < 3)
        return 2;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(argv[2], argv + 2);
    return 127;
}
