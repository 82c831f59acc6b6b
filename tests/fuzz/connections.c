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
    char path[40], prefix[25], wanted[ENDS_TEXT];
    fuzz_begin(data, size);
    bool six = !fuzz_below(2);
    int fd = memfd_create("list", MFD_CLOEXEC);
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
    address_print(prefix, mapped_prefix, sizeof mapped_prefix);
    int n = end_print(wanted, &ends, 1);
    wanted[n++] = ' ';
    end_print(wanted + n, &ends, 0);
    list.count = 0;
    list.complete = true;
    bool found = list_read(path, six ? "" : prefix, wanted, &owner);
    const char *own = wanted + (six ? 0 : strlen(prefix));
    CHECK(found || owner.user == 77);
    CHECK(!found || (list.count > 0 && memmem(data, size, own, strcspn(own, ":"))));
    close(fd);
    if (check_failed)
        abort();
    return 0;
}
