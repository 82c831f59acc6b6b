/* viaduct sock --list: the TCP connections of all programs that run with the preload library, as far as this user may
 * look at them. Nothing is written, and no process is asked: what a program knows of its connections lies in a memfd
 * that it keeps open (sock/link.h). Which connections there are the kernel says. */
#include "verbs.h"
#include "sock/link.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MEMORY  "/memfd:" SOCK_FAMILY_NAME " (deleted)"
#define SOCKETS 65536

struct process {
    int pid;
    char name[64];
    const struct sock_family *family; /* NULL: it does not look at connections */
    bool other_version;
    unsigned long *sockets; /* inodes */
    size_t count;
};

struct connection { /* as the kernel lists it */
    struct sock_ends ends; /* [0]: the end of this process */
    unsigned long inode;
};

static const char *const reasons[] = {
#define REASON(name, text) text,
#include "sock/reason.def"
};

static void family_map(struct process *process, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || process->family)
        goto out;
    process->other_version = fstat(fd, &status) != 0 || status.st_size != (off_t)sizeof(struct sock_family);
    if (process->other_version)
        goto out;
    void *memory = mmap(NULL, sizeof(struct sock_family), PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        goto out;
    process->family = memory;
    if (process->family->magic != SOCK_FAMILY_MAGIC || process->family->size != sizeof(struct sock_family)) {
        process->other_version = true;
        process->family = NULL;
        munmap(memory, sizeof(struct sock_family));
    }
out:
    base_close(fd);
}

static bool descriptors_read(struct process *process)
{
    char path[600], target[256];
    snprintf(path, sizeof path, "/proc/%d/fd", process->pid);
    DIR *descriptors = opendir(path);
    if (!descriptors)
        return false;
    for (struct dirent *entry; (entry = readdir(descriptors));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", process->pid, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length < 0 ? 0 : length] = '\0';
        if (strcmp(target, MEMORY) == 0)
            family_map(process, path);
        else if (strncmp(target, "socket:[", 8) == 0 && process->count < SOCKETS)
            process->sockets[process->count++] = strtoul(target + 8, NULL, 10);
    }
    closedir(descriptors);
    return true;
}

/* An address as the lists have it: words of four bytes in the order of the machine. */
static bool address_parse(const char *text, uint8_t address[16], uint16_t *port)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    size_t digits = strspn(text, "0123456789ABCDEFabcdef");
    if ((digits != 8 && digits != 32) || text[digits] != ':')
        return false;
    memcpy(address, mapped, sizeof mapped);
    for (size_t i = 0; i < digits / 8; i++) {
        char word[9] = "";
        memcpy(word, text + 8 * i, 8);
        uint32_t value = (uint32_t)strtoul(word, NULL, 16);
        memcpy(address + (digits == 8 ? 12 : 4 * i), &value, 4);
    }
    *port = (uint16_t)strtoul(text + digits + 1, NULL, 16);
    return true;
}

/* Of a line of /proc/net/tcp; false: it is no connection. */
static bool connection_parse(const char *line, struct connection *connection)
{
    char own[64], other[64];
    unsigned state;
    if (sscanf(line, "%*s %63s %63s %x %*s %*s %*s %*s %*s %lu", own, other, &state, &connection->inode) != 4)
        return false;
    bool is_connection = state == 1 || state == 4 || state == 5 || state == 8; /* established, or one end has ended */
    return is_connection && address_parse(own, connection->ends.address[0], &connection->ends.port[0]) &&
           address_parse(other, connection->ends.address[1], &connection->ends.port[1]);
}

static bool ends_equal(const struct sock_ends *ours, const struct sock_ends *said, bool active)
{
    for (int i = 0; i < 2; i++) {
        int k = active ? i : !i; /* [0]: the side that connected */
        if (ours->port[i] != said->port[k] || memcmp(ours->address[i], said->address[k], 16) != 0)
            return false;
    }
    return true;
}

static void end_print(char *text, size_t size, const uint8_t address[16], uint16_t port)
{
    char name[INET6_ADDRSTRLEN] = "?";
    bool four = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address);
    inet_ntop(four ? AF_INET : AF_INET6, four ? address + 12 : address, name, sizeof name);
    snprintf(text, size, four ? "%s:%u" : "[%s]:%u", name, (unsigned)port);
}

static void link_print(const struct sock_link *link)
{
    uint32_t in = atomic_load(&link->in_phase), out = atomic_load(&link->out_phase);
    if (in >= PHASE_SKIP && out >= PHASE_SKIP)
        printf("TCP: %s\n", reasons[REASON_BACK]);
    else
        printf("shared memory: %llu bytes in%s, %llu out%s, %llu bells\n", (unsigned long long)link->reader.tail,
               in >= PHASE_SKIP ? " (by TCP now)" : "", (unsigned long long)link->writer.head,
               out >= PHASE_SKIP ? " (by TCP now)" : "", (unsigned long long)atomic_load(&link->rung));
}

/* What the program knows of it. */
static void state_print(const struct process *process, const struct sock_ends *ends)
{
    const struct sock_family *family = process->family;
    if (!family) {
        puts(process->other_version ? "its program has another version of the library"
                                    : "TCP: the library is off there, or the program confined from its start");
        return;
    }
    uint32_t high = atomic_load(&family->high), given_up = atomic_load(&family->given_up_count);
    for (uint32_t i = 1; i < high && i < SOCK_FILES; i++) {
        const struct sock_link *link = &family->link[i];
        uint32_t stage = atomic_load(&link->stage), reason = atomic_load(&link->reason);
        if (stage < STAGE_PLAIN || !ends_equal(ends, &link->ends, link->active))
            continue;
        if (stage == STAGE_JOINED)
            link_print(link);
        else
            printf("TCP: %s\n", reasons[reason < ARRAY_LENGTH(reasons) ? reason : 0]);
        return;
    }
    for (uint32_t i = 0; i < given_up && i < SOCK_GIVEN_UP; i++) {
        const struct sock_given_up *one = &family->given_up[(given_up - 1 - i) % SOCK_GIVEN_UP];
        if (!ends_equal(ends, &one->ends, true) && !ends_equal(ends, &one->ends, false))
            continue;
        printf("TCP: %s\n", reasons[one->reason < ARRAY_LENGTH(reasons) ? one->reason : 0]);
        return;
    }
    printf("TCP: %s, or it came from another program\n", reasons[REASON_FEW]);
}

static void connections_print(const struct process *process, const char *list)
{
    char path[64], line[512], own[64], other[64];
    struct connection connection;
    snprintf(path, sizeof path, "/proc/%d/net/%s", process->pid, list);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        bool ours = false;
        if (connection_parse(line, &connection))
            for (size_t i = 0; i < process->count && !ours; i++)
                ours = process->sockets[i] == connection.inode;
        if (!ours)
            continue;
        end_print(own, sizeof own, connection.ends.address[0], connection.ends.port[0]);
        end_print(other, sizeof other, connection.ends.address[1], connection.ends.port[1]);
        printf("%7d %-15s %-21s %-21s ", process->pid, process->name, own, other);
        state_print(process, &connection.ends);
    }
    if (file)
        fclose(file);
}

static bool has_library(int pid)
{
    char path[64], line[4096];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, "/" SOCK_LIBRARY) != NULL;
    if (file)
        fclose(file);
    return found;
}

static void process_print(int pid, unsigned long *sockets)
{
    struct process process = {.pid = pid, .sockets = sockets};
    if (!descriptors_read(&process))
        return;
    if (process.count && (process.family || process.other_version || has_library(pid))) {
        size_t length = vbase_file_read(process.name, sizeof process.name, "/proc/%d/comm", pid);
        process.name[length ? strcspn(process.name, "\n") : 0] = '\0';
        vbase_plain(process.name, strlen(process.name));
        connections_print(&process, "tcp");
        connections_print(&process, "tcp6");
        uint32_t refused = process.family ? atomic_load(&process.family->refused) : 0;
        if (refused)
            printf("%7d %-15s refused %u in the place of the other end: another user, a taken name, or nonsense\n", pid,
                   process.name, refused);
    }
    if (process.family)
        munmap((void *)(uintptr_t)process.family, sizeof(struct sock_family));
}

int sock_list(void)
{
    unsigned long *sockets = calloc(SOCKETS, sizeof *sockets);
    DIR *processes = opendir("/proc");
    if (!sockets || !processes) {
        fprintf(stderr, "viaduct sock: /proc: %s\n", strerror(errno));
        free(sockets);
        return 1;
    }
    printf("%7s %-15s %-21s %-21s %s\n", "process", "program", "here", "other end", "its bytes go by");
    for (struct dirent *entry; (entry = readdir(processes));)
        if (isdigit((unsigned char)entry->d_name[0]))
            process_print(atoi(entry->d_name), sockets);
    closedir(processes);
    free(sockets);
    return 0;
}
