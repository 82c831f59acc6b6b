/* The words of VIADUCT_SOCK; see policy.h. Words are joined by spaces: "after:0 only:6379 not:22,8000-8100
 * user:www-data". */
#include "sock/policy.h"
#include "base/log.h"
#include "sock/real.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AFTER         8
#define OVERFLOW_USER 65534 /* what the kernel says of a user that has no number in this user namespace */

struct sock_policy sock_policy = {.on = false, .after = AFTER};

static uid_t allowed[16];
static size_t allowed_count;

static bool in_list(const char *list, uint16_t port)
{
    while (list && *list) {
        char *end;
        unsigned long low = strtoul(list, &end, 10), high = low;
        if (*end == '-')
            high = strtoul(end + 1, &end, 10);
        if (port >= low && port <= high)
            return true;
        list = *end == ',' ? end + 1 : NULL;
    }
    return false;
}

bool sock_policy_port(uint16_t one, uint16_t other)
{
    if (sock_policy.only && !in_list(sock_policy.only, one) && !in_list(sock_policy.only, other))
        return false;
    return !in_list(sock_policy.not, one) && !in_list(sock_policy.not, other);
}

bool sock_policy_user(uid_t user)
{
    for (size_t i = 0; i < allowed_count; i++)
        if (allowed[i] == user)
            return true;
    return false;
}

/* "0 0 4294967295": every user of the host has a number here. */
static bool all_users_are_mapped(void)
{
    char text[64] = "";
    unsigned long count = 0;
    int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? sock_real.read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        sock_real.close(fd);
    return n > 0 && sscanf(text, "%*u %*u %lu", &count) == 1 && count == 4294967295ul;
}

bool sock_policy_knows(uid_t user) { return user != OVERFLOW_USER || all_users_are_mapped(); }

static void users_read(char *names)
{
    char *rest, *end;
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        unsigned long number = strtoul(name, &end, 10);
        const struct passwd *entry = *end ? getpwnam(name) : NULL;
        if ((*end && !entry) || allowed_count == ARRAY_LENGTH(allowed))
            LOG_WARN("VIADUCT_SOCK: the user %s is not known, or more users are named than fit", name);
        else
            allowed[allowed_count++] = *end ? entry->pw_uid : (uid_t)number;
    }
}

void sock_policy_read(const char *words)
{
    char *rest, *copy = words ? strdup(words) : NULL; /* lives as long as the process */
    sock_policy.on = true;
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "off") == 0)
            sock_policy.on = false;
        else if (strncmp(word, "after:", 6) == 0)
            sock_policy.after = (uint32_t)strtoul(word + 6, NULL, 10);
        else if (strncmp(word, "only:", 5) == 0)
            sock_policy.only = word + 5;
        else if (strncmp(word, "not:", 4) == 0)
            sock_policy.not = word + 4;
        else if (strncmp(word, "user:", 5) == 0)
            users_read(word + 5);
        else
            LOG_WARN("invalid value '%s' in VIADUCT_SOCK: expected off, after:CALLS, only:PORTS, not:PORTS or "
                     "user:NAMES",
                     word);
    }
}
