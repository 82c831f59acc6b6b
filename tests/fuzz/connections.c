/* The kernel's list of connections (/proc/net/tcp), in which a sockets program looks for the other end where netlink is refused: any
 * bytes. Who is found stands in a line of the connection that was asked for. */
#include "fuzz.h"
#include "check.h"
#include "../../src/sock/find.c"
#include <sys/mman.h>

int FUZZ(const uint8_t *data, size_t size)
{
    struct sock_ends ends = {.port = {4711, 80}};
    struct sock_owner owner = {.user = 77};
    char path[40], list[100];
    fuzz_begin(data, size);
    int family = fuzz_below(2) ? AF_INET : AF_INET6, fd = memfd_create("list", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        memcpy(ends.address[i], mapped_prefix, sizeof mapped_prefix);
        memcpy(ends.address[i] + sizeof mapped_prefix, "\177\0\0\1", 4);
    }
    if (write(fd, fuzz_at, (size_t)(fuzz_end - fuzz_at)) < 0)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    sock_real.read = read;
    sock_real.close = close;
    bool found = ask_list(path, &ends, 1, family, &owner);
    address_print(list, ends.address[1], family, ends.port[1]);
    CHECK(found || owner.user == 77);
    CHECK(!found || memmem(data, size, list, strlen(list)));
    close(fd);
    if (check_failed)
        abort();
    return 0;
}
