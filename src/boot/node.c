/* Which ranks share this node, and the secret: found out through a foreign launcher's key-value space.
 *
 * A node is (boot id, network, UTS host name, user), or what VIADUCT_NODE says. Every rank puts a hash of its own; rank
 * 0 reads all of them and writes the whole map once, as runs of equal numbers ("4*0,4*1"): 2 fences and O(n) gets
 * altogether instead of n times n. Rank 0 also publishes the secret, as private as that space is. */
#include "boot/inside.h"

#define ID_TEXT    17   /* 64 bits of a hash in hexadecimal and a NUL */
#define RUN_TEXT   24   /* "4294967295*4294967295," of the map, at most */
#define MAP_KEY    "viaduct-nodes"
#define SECRET_KEY "viaduct-secret"

/* Two network namespaces are two nodes: the abstract socket that hands round the node's segment is not visible in the
 * other. */
static void id_write(const char *host, char text[ID_TEXT])
{
    char words[512];
    if (vbase_settings.node)
        snprintf(words, sizeof words, "named %s %u", vbase_settings.node, geteuid());
    else
        snprintf(words, sizeof words, "host %llx %s %u", (unsigned long long)vbase_host_identity(), host, geteuid());
    snprintf(text, ID_TEXT, "%016llx", (unsigned long long)vbase_hash_bytes(words, strlen(words)));
}

static int id_publish(struct boot_own *own)
{
    char key[32], text[2 * SECRET_SIZE + 1];
    id_write(own->job.host, text);
    snprintf(key, sizeof key, "viaduct-id-%d", own->job.rank);
    int error = vboot_put(&own->job, key, text);
    if (error != OK || own->job.rank != 0)
        return error;
    error = vbase_random(own->job.secret, SECRET_SIZE);
    if (error != OK)
        return error;
    for (size_t i = 0; i < SECRET_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", own->job.secret[i]);
    return vboot_put(&own->job, SECRET_KEY, text);
}

/* Rank 0: the number of each rank's node, counted in order of appearance. */
static int nodes_number(struct boot_own *own, uint32_t *node)
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
static int map_publish(struct boot_own *own, const uint32_t *node)
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

static int map_parse(const char *text, uint32_t *node, int size)
{
    int rank = 0;
    const char *at = text;
    while (rank < size) {
        char *star, *end = NULL;
        unsigned long run = strtoul(at, &star, 10), number = *star == '*' ? strtoul(star + 1, &end, 10) : 0;
        if (!end || end == star + 1 || (*end && *end != ',') || run == 0 || run > (unsigned long)(size - rank))
            return vbase_fail(ERR_PROTOCOL, "the launcher sent an invalid map of nodes, at rank %d: \"%.40s\"", rank,
                              at);
        while (run-- > 0)
            node[rank++] = (uint32_t)number;
        at = *end ? end + 1 : end;
    }
    return *at ? vbase_fail(ERR_PROTOCOL, "the launcher sent a map of nodes with text behind its end: \"%.40s\"", at)
               : OK;
}

/* All ranks: read the map. */
static int map_read(struct boot_own *own, uint32_t *node)
{
    size_t size = (size_t)own->job.size * RUN_TEXT;
    char *text = malloc(size);
    if (!text)
        return vbase_fail(ERR_MEMORY, "no memory for the map of %d ranks", own->job.size);
    int error = vboot_get_text(&own->job, 0, MAP_KEY, text, size) ?: map_parse(text, node, own->job.size);
    free(text);
    return error;
}

static int neighbours_keep(struct boot_job *job, const uint32_t *node)
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

static int secret_get(struct boot_own *own)
{
    char text[2 * SECRET_SIZE + 1] = "";
    if (own->job.rank == 0)
        return OK;
    int error = vboot_get(&own->job, 0, SECRET_KEY, text, sizeof text);
    if (error == OK && strspn(text, "0123456789abcdef") != 2 * SECRET_SIZE)
        error = vbase_fail(ERR_PROTOCOL, "rank 0 published a secret of a wrong form");
    for (size_t i = 0; error == OK && i < SECRET_SIZE; i++)
        own->job.secret[i] = (uint8_t)strtoul((char[3]){text[2 * i], text[2 * i + 1]}, NULL, 16);
    return error;
}

int vboot_node_meet(struct boot_own *own)
{
    if (own->job.size == 1)
        return neighbours_keep(&own->job, &(uint32_t){0}) ?: vbase_random(own->job.secret, SECRET_SIZE);
    uint32_t *node = calloc((size_t)own->job.size, sizeof *node);
    if (!node)
        return vbase_fail(ERR_MEMORY, "no memory for the nodes of %d ranks", own->job.size);
    int error = id_publish(own) ?: vboot_fence(&own->job);
    if (error == OK && own->job.rank == 0)
        error = nodes_number(own, node) ?: map_publish(own, node);
    if (error == OK)
        error = vboot_fence(&own->job) ?: map_read(own, node) ?: secret_get(own) ?: neighbours_keep(&own->job, node);
    free(node);
    return error;
}
