/* Which ranks share this node, and the secret: worked out over a foreign launcher's key-value space.
 *
 * A node is (boot id, UTS host name, user), or what VIADUCT_NODE says. Every rank puts a digest of its own; rank 0
 * reads all of them and writes the whole map once, as runs of equal numbers ("4*0,4*1"): 2 fences and O(n)
 * gets altogether instead of n times n. Rank 0 also publishes the secret, as private as that space is. */
#include "boot/inside.h"
#include <fcntl.h>
#include <sys/stat.h>

#define ID_TEXT    33   /* 128 bits of the digest in hexadecimal and a NUL */
#define RUN_TEXT   24   /* "4294967295*4294967295," of the map, at most */
#define MAP_KEY    "viaduct-nodes"
#define SECRET_KEY "viaduct-secret"

static void to_hex(const uint8_t *bytes, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static bool from_hex(const char *text, uint8_t *bytes, size_t count)
{
    if (strlen(text) != 2 * count || strspn(text, "0123456789abcdef") != 2 * count)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        bytes[i] = (uint8_t)byte;
    }
    return true;
}

/* The abstract socket that hands the node's segment round does not reach over network namespaces. */
static unsigned long long network(void)
{
    struct stat status;
    return stat("/proc/self/ns/net", &status) == 0 ? (unsigned long long)status.st_ino : 0;
}

static void own_id(const char *host, char text[ID_TEXT])
{
    char boot_id[64] = "", words[512];
    uint8_t digest[DIGEST_SIZE];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got = read(fd, boot_id, sizeof boot_id - 1);
        boot_id[got > 0 ? got : 0] = 0;
        close(fd);
    }
    if (vbase_settings.node)
        snprintf(words, sizeof words, "named %s %u", vbase_settings.node, geteuid());
    else
        snprintf(words, sizeof words, "host %s %s %u %llu", boot_id, host, geteuid(), network());
    struct base_sha256 sha;
    vbase_sha256_start(&sha);
    vbase_sha256_add(&sha, words, strlen(words));
    vbase_sha256_end(&sha, digest);
    to_hex(digest, (ID_TEXT - 1) / 2, text);
}

static int publish_own(struct boot_own *own)
{
    char key[32], text[2 * SECRET_SIZE + 1];
    own_id(own->job.host, text);
    snprintf(key, sizeof key, "viaduct-id-%d", own->job.rank);
    int error = vboot_put(&own->job, key, text);
    if (error != OK || own->job.rank != 0)
        return error;
    error = vbase_random(own->job.secret, SECRET_SIZE);
    if (error != OK)
        return error;
    to_hex(own->job.secret, SECRET_SIZE, text);
    return vboot_put(&own->job, SECRET_KEY, text);
}

/* Rank 0: the number of each rank's node, counted in order of appearance. */
static int number_nodes(struct boot_own *own, uint32_t *node)
{
    struct base_map seen = {0};
    uint32_t nodes = 0;
    int error = OK;
    for (int rank = 0; rank < own->job.size && error == OK; rank++) {
        char key[32], id[ID_TEXT];
        snprintf(key, sizeof key, "viaduct-id-%d", rank);
        error = vboot_get(&own->job, rank, key, id, sizeof id);
        if (error != OK)
            break;
        uint64_t hash = vbase_hash_bytes(id, strlen(id));
        uintptr_t known = (uintptr_t)vbase_map_get(&seen, hash);
        if (!known) {
            known = ++nodes;
            error = vbase_map_put(&seen, hash, (void *)known);
        }
        node[rank] = (uint32_t)known - 1;
    }
    vbase_map_close(&seen);
    return error;
}

/* Rank 0: writes the map. */
static int publish_map(struct boot_own *own, const uint32_t *node)
{
    size_t length = 0, size = (size_t)own->job.size * RUN_TEXT;
    char *text = malloc(size);
    if (!text)
        return vbase_fail(ERR_MEMORY, "no memory for the map of %d ranks", own->job.size);
    for (int rank = 0, run; rank < own->job.size; rank += run) {
        for (run = 1; rank + run < own->job.size && node[rank + run] == node[rank];)
            run++;
        length += (size_t)snprintf(text + length, size - length, "%s%d*%u", rank ? "," : "", run, node[rank]);
    }
    int error = vboot_put_text(&own->job, MAP_KEY, text);
    free(text);
    return error;
}

static int parse_map(const char *text, uint32_t *node, int size)
{
    int rank = 0;
    const char *at = text;
    while (rank < size) {
        char *star, *end = NULL;
        unsigned long run = strtoul(at, &star, 10), number = *star == '*' ? strtoul(star + 1, &end, 10) : 0;
        if (!end || end == star + 1 || (*end && *end != ',') || run == 0 || run > (unsigned long)(size - rank))
            return vbase_fail(ERR_PROTOCOL, "the map of nodes makes no sense at rank %d: \"%.40s\"", rank, at);
        while (run-- > 0)
            node[rank++] = (uint32_t)number;
        at = *end ? end + 1 : end;
    }
    return *at ? vbase_fail(ERR_PROTOCOL, "the map of nodes goes on behind its end: \"%.40s\"", at) : OK;
}

/* Everyone: reads the map. */
static int read_map(struct boot_own *own, uint32_t *node)
{
    size_t size = (size_t)own->job.size * RUN_TEXT;
    char *text = malloc(size);
    if (!text)
        return vbase_fail(ERR_MEMORY, "no memory for the map of %d ranks", own->job.size);
    int error = vboot_get_text(&own->job, 0, MAP_KEY, text, size) ?: parse_map(text, node, own->job.size);
    free(text);
    return error;
}

static int keep_neighbours(struct boot_job *job, const uint32_t *node)
{
    int count = 0;
    for (int rank = 0; rank < job->size; rank++)
        count += node[rank] == node[job->rank];
    job->local_ranks = malloc((size_t)count * sizeof(int));
    if (!job->local_ranks)
        return vbase_fail(ERR_MEMORY, "no memory for the list of %d ranks", count);
    job->local_count = 0;
    for (int rank = 0; rank < job->size; rank++) {
        if (rank == job->rank)
            job->local_index = job->local_count;
        if (node[rank] == node[job->rank])
            job->local_ranks[job->local_count++] = rank;
    }
    return OK;
}

static int learn_secret(struct boot_own *own)
{
    char text[2 * SECRET_SIZE + 1];
    if (own->job.rank == 0)
        return OK;
    int error = vboot_get(&own->job, 0, SECRET_KEY, text, sizeof text);
    if (error == OK && !from_hex(text, own->job.secret, SECRET_SIZE))
        error = vbase_fail(ERR_PROTOCOL, "rank 0 published a secret that is none");
    return error;
}

static int meet_nobody(struct boot_own *own)
{
    own->job.local_ranks = malloc(sizeof(int));
    if (!own->job.local_ranks)
        return vbase_fail(ERR_MEMORY, "no memory for a job of one rank");
    own->job.local_ranks[0] = own->job.rank;
    own->job.local_index = 0;
    own->job.local_count = 1;
    return vbase_random(own->job.secret, SECRET_SIZE);
}

int vboot_node_meet(struct boot_own *own)
{
    if (own->job.size == 1)
        return meet_nobody(own);
    uint32_t *node = calloc((size_t)own->job.size, sizeof *node);
    if (!node)
        return vbase_fail(ERR_MEMORY, "no memory for the nodes of %d ranks", own->job.size);
    int error = publish_own(own) ?: vboot_fence(&own->job);
    if (error == OK && own->job.rank == 0)
        error = number_nodes(own, node) ?: publish_map(own, node);
    if (error == OK)
        error = vboot_fence(&own->job) ?: read_map(own, node) ?: learn_secret(own) ?: keep_neighbours(&own->job, node);
    free(node);
    return error;
}
