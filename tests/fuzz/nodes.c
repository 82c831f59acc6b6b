/* The map of nodes and the secret, as a rank reads them from the key-value space of a foreign launcher. The first two bytes are
 * the size of the job and the own rank; each value that is asked for is the next text, up to a ';'. */
#include "fuzz.h"
#include "boot/inside.h"

static const char *next;

static int fake_put(struct boot_own *own, const char *key, const char *value)
{
    (void)own, (void)key, (void)value;
    return OK;
}

static int fake_get(struct boot_own *own, int rank, const char *key, char *value, size_t size)
{
    (void)own, (void)rank, (void)key;
    if (!*next)
        return ERR_NOT_FOUND;
    int length = (int)strcspn(next, ";");
    snprintf(value, size, "%.*s", length, next);
    next += length + (next[length] == ';');
    return OK;
}

static int fake_fence(struct boot_own *own, struct boot_fence *fence)
{
    (void)own;
    fence->over = true;
    return OK;
}

int FUZZ(const uint8_t *data, size_t size)
{
    static const struct boot_starter starter = {.put = fake_put, .get = fake_get, .fence_begin = fake_fence};
    struct boot_own own = {.starter = &starter, .job = {.host = "host"}};
    fuzz_begin(data, size);
    own.job.size = 2 + (int)fuzz_below(70);
    own.job.rank = (int)fuzz_below((unsigned)own.job.size);
    char *text = fuzz_text();
    next = text;
    if (vboot_node_meet(&own) == OK) {
        bool here = false;
        for (int i = 0; i < own.job.local_count; i++) {
            here |= i == own.job.local_index && own.job.local_ranks[i] == own.job.rank;
            if (own.job.local_ranks[i] >= own.job.size || (i > 0 && own.job.local_ranks[i] <= own.job.local_ranks[i - 1]))
                abort();
        }
        if (!here)
            abort();
    }
    free(own.job.local_ranks);
    free(text);
    return 0;
}
