/* Which ranks share this node, and the secret: worked out over a foreign launcher's key-value space.
 *
 * A node is (boot id, UTS host name, user), or what VIADUCT_NODE says. Every rank puts a digest of its own; rank 0
 * reads all of them and writes the whole map once, in few keys, as runs of equal numbers ("4*0,4*1"): 2 fences and O(n)
 * gets altogether instead of n times n. Rank 0 also publishes the secret, as private as that space is. */
#include "boot/inside.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/settings.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_TEXT    33   /* 128 bits of the digest in hexadecimal and a NUL */
#define MAP_CHUNK  190  /* of the map in one value, and a run more: every launcher takes that much */
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

static int put_chunk(struct boot_own *own, int number, const char *text)
{
    char key[32];
    snprintf(key, sizeof key, "viaduct-nodes-%d", number);
    return vboot_put(&own->job, key, text);
}

/* Rank 0: writes the map. The last chunk ends with a full stop. */
static int publish_map(struct boot_own *own, const uint32_t *node)
{
    char text[MAP_CHUNK + 32];
    int length = 0, chunk = 0, error = OK;
    for (int rank = 0; rank < own->job.size && error == OK;) {
        int run = 1;
        while (rank + run < own->job.size && node[rank + run] == node[rank])
            run++;
        length += snprintf(text + length, 32, "%d*%u,", run, node[rank]);
        rank += run;
        if (length >= MAP_CHUNK && rank < own->job.size) {
            error = put_chunk(own, chunk++, text);
            length = 0;
        }
    }
    if (error != OK)
        return error;
    text[length - 1] = '.';
    return put_chunk(own, chunk, text);
}

/* Everyone: reads the map. */
static int read_map(struct boot_own *own, uint32_t *node)
{
    int rank = 0;
    for (int chunk = 0;; chunk++) {
        char key[32], text[MAP_CHUNK + 64], *at = text;
        snprintf(key, sizeof key, "viaduct-nodes-%d", chunk);
        int error = vboot_get(&own->job, 0, key, text, sizeof text);
        if (error != OK)
            return error;
        while (*at) {
            unsigned run, number;
            char mark;
            int used = 0;
            if (sscanf(at, "%u*%u%c%n", &run, &number, &mark, &used) != 3 || (mark != ',' && mark != '.') || run == 0 ||
                run > (unsigned)(own->job.size - rank))
                return vbase_fail(ERR_PROTOCOL, "the map of nodes makes no sense at rank %d: \"%.40s\"", rank, at);
            while (run-- > 0)
                node[rank++] = number;
            at += used;
            if (mark == '.')
                return rank == own->job.size ? OK : vbase_fail(ERR_PROTOCOL, "the map of nodes ends at rank %d", rank);
        }
    }
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
    int error = publish_own(own);
    if (error == OK)
        error = vboot_fence(&own->job);
    if (error == OK && own->job.rank == 0)
        error = number_nodes(own, node);
    if (error == OK && own->job.rank == 0)
        error = publish_map(own, node);
    if (error == OK)
        error = vboot_fence(&own->job);
    if (error == OK)
        error = read_map(own, node);
    if (error == OK)
        error = learn_secret(own);
    if (error == OK)
        error = keep_neighbours(&own->job, node);
    free(node);
    return error;
}
