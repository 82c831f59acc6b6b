/* Processes of one family, one of which gives up its rights: it becomes another user, which the others are not. Needs
 * root; knows nothing of Viaduct but the names of its memory.
 *   rights spoil    it overwrites all shared memory that it has, in vain: the others talk on
 *   rights serve    it takes a connection from root, and talks
 *   rights share    it and its parent read one connection in turns, of which bytes lay unread before
 *   rights root     it may become root again: it has what it had
 *   rights threads  it has a second thread
 * Prints what the memory of the family is afterwards, "left" or "kept"; exit status 0: all bytes were right. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER   65534
#define UNREAD 60000

static void must(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void turns(int fd, int first, int count)
{
    for (int i = 0; i < count; i++) {
        char byte = (char)i;
        must((i % 2 == 0) == first ? write(fd, &byte, 1) == 1 : read(fd, &byte, 1) == 1, "a byte is missing");
        must(byte == (char)i, "a byte is wrong");
    }
}

static void send_some(int fd, size_t from, size_t to)
{
    for (; from < to; from++) {
        char byte = (char)(from * 7 >> 3);
        must(write(fd, &byte, 1) == 1, "a byte cannot be written");
    }
}

static void take_some(int fd, size_t from, size_t to)
{
    char data[1000];
    while (from < to) {
        ssize_t n = read(fd, data, to - from < sizeof(data) ? to - from : sizeof(data));
        must(n > 0, "bytes are missing");
        for (ssize_t i = 0; i < n; i++, from++)
            must(data[i] == (char)(from * 7 >> 3), "bytes are wrong");
    }
}

static int call(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    must(fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "no connection");
    return fd;
}

/* The file of the family's memory, 0: there is none. With SPOIL all shared memory of the library is overwritten. */
static unsigned long memory(int spoil)
{
    char line[500];
    unsigned long begin, end, file, found = 0;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else the kernel shows us nothing of ourselves */
    FILE *maps = fopen("/proc/self/maps", "re");
    must(maps != NULL, "nothing says what is mapped");
    while (fgets(line, sizeof(line), maps)) {
        char way[8];
        if (!strstr(line, "memfd:viaduct") || sscanf(line, "%lx-%lx %7s %*s %*s %lu", &begin, &end, way, &file) != 4)
            continue;
        if (strstr(line, "viaduct-links"))
            found = file;
        if (spoil && way[1] == 'w' && way[3] == 's')
            memset((void *)begin, 0xff, end - begin); /* NOLINT: an address */
    }
    fclose(maps);
    return found;
}

static void said(unsigned long before)
{
    unsigned long after = memory(0);
    printf("%s\n", !before ? "none" : after == before ? "kept" : "left");
    fflush(stdout);
}

static void *sleeps(void *nothing)
{
    for (;;)
        pause(); /* which a signal ends, as of setuid */
    return nothing;
}

/* The child of the one that has the connections. */
static void confined(const char *what, int listener, int fd, int done)
{
    unsigned long before = memory(0);
    pthread_t thread;
    char byte;
    if (strcmp(what, "threads") == 0)
        must(pthread_create(&thread, NULL, sleeps, NULL) == 0, "no thread");
    if (strcmp(what, "share") != 0)
        close(fd);
    must((strcmp(what, "root") == 0 ? seteuid(USER) : setuid(USER)) == 0, "no other user");
    said(before);
    if (strcmp(what, "spoil") == 0) {
        memory(1);
        _exit(0);
    }
    if (strcmp(what, "share") == 0) {
        take_some(fd, 0, UNREAD / 3);
        must(write(done, "!", 1) == 1 && read(done, &byte, 1) == 1, "the parent does not answer");
        take_some(fd, UNREAD, UNREAD + 100);
        close(fd);
    } else {
        fd = accept(listener, NULL, NULL);
        must(fd >= 0, "nobody calls");
        turns(fd, 0, 200);
        close(fd);
    }
    _exit(0);
}

/* Both ends of the connections but for what the child does; the other end is a child, too. */
static void other_end(const char *what, const struct sockaddr_in *address)
{
    int fd = call(address);
    turns(fd, 1, 100);
    if (strcmp(what, "share") == 0) {
        send_some(fd, 0, UNREAD);
        turns(fd, 0, 2);
        send_some(fd, UNREAD, UNREAD + 100);
    } else if (strcmp(what, "spoil") != 0) {
        int second = call(address);
        turns(second, 1, 200);
        close(second);
    }
    turns(fd, 0, 200);
    if (strcmp(what, "spoil") == 0) {
        close(fd);
        fd = call(address);
        turns(fd, 1, 200);
    }
    close(fd);
    _exit(0);
}

static int ended(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int pair[2], unread = 0, listener = socket(AF_INET, SOCK_STREAM, 0);
    const char *what = argc > 1 ? argv[1] : "";
    char byte;
    alarm(20);
    must(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 4) == 0 &&
             getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
             socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "no listener");
    pid_t other = fork();
    if (other == 0)
        other_end(what, &address);
    int fd = accept(listener, NULL, NULL), share = strcmp(what, "share") == 0;
    turns(fd, 0, 100);
    while (share && unread < UNREAD) {
        must(ioctl(fd, FIONREAD, &unread) == 0, "nothing is known of unread bytes");
        usleep(1000);
    }
    pid_t child = fork();
    if (child == 0)
        confined(what, listener, fd, pair[1]);
    if (share) {
        must(read(pair[0], &byte, 1) == 1, "the child does not read");
        take_some(fd, UNREAD / 3, UNREAD);
        turns(fd, 1, 2);
        must(write(pair[0], "!", 1) == 1, "the child does not hear");
    }
    must(ended(child), "the child fails");
    turns(fd, 1, 200);
    if (strcmp(what, "spoil") == 0) {
        close(fd);
        fd = accept(listener, NULL, NULL);
        turns(fd, 0, 200);
    }
    close(fd);
    must(ended(other), "the other end fails");
    return 0;
}
