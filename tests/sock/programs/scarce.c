/* A connection while something becomes scarce: 2 MiB go each way while the other side reads them late, as TCP's buffers
 * allow, and each byte is compared.
 *   scarce none
 *   scarce memory N      of pages that are committed ahead (MADV_POPULATE_WRITE), N times and no more
 *   scarce maps          no mapping is left; then the same on a new connection
 *   scarce chroot DIR    the process has changed its root; then the same on a new connection */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define LENGTH (2 << 20)

static int commits = 1 << 30;
static char sent[2][LENGTH], got[2][LENGTH]; /* no memory is wanted later */

int madvise(void *at, size_t size, int advice) /* of the library, too */
{
    if (advice == MADV_POPULATE_WRITE && commits-- <= 0) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, size, advice, 0, 0, 0);
}

static void end_with(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    exit(1);
}

static void connection_make(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length) ||
        connect(ends[0], (struct sockaddr *)&address, length) || (ends[1] = accept(listener, NULL, NULL)) < 0)
        end_with("connection");
    close(listener);
    for (int i = 0; i < 60; i++)
        for (int side = 0; side < 2; side++)
            if (write(ends[side], "x", 1) != 1 || read(ends[!side], got[0], 1) != 1)
                end_with("first bytes");
}

/* Both sides write before either reads. */
static void bursts(const int ends[2], int seed)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < LENGTH; i++)
            sent[side][i] = (char)(i * 7 + i / 251 + seed + side);
        for (ssize_t done = 0, n; done < LENGTH; done += n)
            if ((n = write(ends[side], sent[side] + done, (size_t)(LENGTH - done > 10000 ? 10000 : LENGTH - done))) <= 0)
                end_with("write");
    }
    for (int side = 0; side < 2; side++)
        if (recv(ends[!side], got[side], LENGTH, MSG_WAITALL) != LENGTH)
            end_with("read");
        else if (memcmp(got[side], sent[side], LENGTH) != 0)
            end_with("other bytes");
}

/* Neighbours that differ are not joined to one mapping. */
static void maps_use_up(void)
{
    void *last = NULL;
    for (int i = 0; i < 1 << 22; i++) {
        void *at = mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) {
            munmap(last, 4096); /* for the allocator, and the system's own needs */
            return;
        }
        last = at;
    }
}

int main(int argc, char **argv)
{
    int first[2], second[2];
    const char *what = argc > 1 ? argv[1] : "none";
    if (strcmp(what, "memory") == 0)
        commits = argc > 2 ? atoi(argv[2]) : 0;
    connection_make(first);
    bursts(first, 1);
    if (strcmp(what, "maps") == 0)
        maps_use_up();
    else if (strcmp(what, "chroot") == 0 && (argc < 3 || chroot(argv[2]) || chdir("/")))
        end_with("chroot");
    bursts(first, 2);
    connection_make(second);
    bursts(second, 3);
    bursts(first, 4);
    puts("right");
    return 0;
}
