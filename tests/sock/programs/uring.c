/* A program whose plugin begins to use liburing while a connection is in shared memory: from then on TCP carries the
 * bytes. For tests/sock/uring.sh.
 *   uring PLUGIN CALL     prints how bytes came before and behind that call, and what it said
 *   uring none            prints what the call says where there is no liburing */
#include "../lib/way.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    if (argc == 2 && strcmp(argv[1], "none") == 0) {
        int (*begin)(unsigned, void *, unsigned) =
            (int (*)(unsigned, void *, unsigned))dlsym(RTLD_DEFAULT, "io_uring_queue_init");
        printf("%d\n", begin ? begin(1, NULL, 0) : 0);
        return 0;
    }
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*begin)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_begin") : NULL;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (!begin || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        serve(accept(listener, NULL, NULL));
        _exit(0);
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0); /* which the child does not have */
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return 2;
    printf("%s,", way(fd));
    printf(" %d,", begin(atoi(argv[2])));
    printf(" %s\n", way(fd));
    close(fd);
    waitpid(child, NULL, 0);
    return 0;
}
