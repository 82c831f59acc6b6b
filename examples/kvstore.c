/* A key-value store over all ranks, and a client in each of them. A key lives with the rank that its hash names. The
 * server part is three functions that run as calls come, inside whatever call of viaduct their rank waits in.
 *
 *   mpicc -o kvstore kvstore.c -lviaduct && mpiexec -n 4 ./kvstore [KEYS]
 *
 * Every rank puts KEYS values of many lengths, reads back those of the rank before it, removes a third of them, and
 * looks again. Rank 0 prints what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viaduct.h>

static void check(int code, const char *what)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "kvstore: %s: %s\n", what, vd_error_text(code));
    exit(1);
}

/* ---- the store --------------------------------------------------------------------------------------------------- */

struct entry {
    struct entry *next;
    char *key, *value;
    size_t length;
};
#define BUCKETS 4096
static struct entry *bucket[BUCKETS];
static long entries;

static unsigned long hash(const char *key)
{
    unsigned long h = 5381;
    while (*key)
        h = h * 33 ^ (unsigned char)*key++;
    return h ^ h >> 17;
}

static struct entry **find(const char *key)
{
    struct entry **at = &bucket[hash(key) / 1009 % BUCKETS];
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

/* A block with its length before it. */
static void text_pack(vd_connection *to, const void *data, size_t length)
{
    check(vd_pack(to, &length, sizeof length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), "packing a length");
    check(vd_pack(to, data, length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS), "packing");
}

/* NULL: the peer's message makes no sense. */
static char *text_unpack(vd_connection *from, size_t *length)
{
    if (vd_unpack(from, length, sizeof *length, VD_SEND_SAFER, VD_RECEIVE_EXPRESS) || *length > 1ul << 30)
        return NULL;
    char *text = malloc(*length + 1);
    if (text && vd_unpack(from, text, *length, VD_SEND_CHEAPER, VD_RECEIVE_EXPRESS)) {
        free(text);
        text = NULL;
    }
    if (text)
        text[*length] = 0;
    return text;
}

static void store_put(vd_call *call, void *context)
{
    size_t key_length, length;
    char *key = text_unpack(vd_rpc_arguments(call), &key_length);
    char *value = key ? text_unpack(vd_rpc_arguments(call), &length) : NULL;
    (void)context;
    if (!value) {
        free(key);
        vd_rpc_fail(call, VD_ARGUMENT);
        return;
    }
    struct entry **at = find(key);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->key = key;
        entries++;
    } else {
        free(key);
        free((*at)->value);
    }
    (*at)->value = value;
    (*at)->length = length;
}

static void store_get(vd_call *call, void *context)
{
    size_t length;
    char *key = text_unpack(vd_rpc_arguments(call), &length);
    struct entry *entry = key ? *find(key) : NULL;
    (void)context;
    free(key);
    if (entry)
        text_pack(vd_rpc_reply(call), entry->value, entry->length);
    else
        vd_rpc_fail(call, VD_NOT_FOUND);
}

static void store_remove(vd_call *call, void *context)
{
    size_t length;
    char *key = text_unpack(vd_rpc_arguments(call), &length);
    struct entry **at = key ? find(key) : NULL, *entry = at ? *at : NULL;
    (void)context;
    free(key);
    if (!entry) {
        vd_rpc_fail(call, VD_NOT_FOUND);
        return;
    }
    *at = entry->next;
    entries--;
    free(entry->key);
    free(entry->value);
    free(entry);
}

/* ---- the client -------------------------------------------------------------------------------------------------- */

static vd_call *begin(const char *function, const char *key)
{
    vd_call *call = vd_rpc_begin((int)(hash(key) % (unsigned long)vd_size()), function, 0);
    check(call ? VD_OK : vd_error(), function);
    text_pack(vd_rpc_arguments(call), key, strlen(key));
    return call;
}

static int finish(vd_call *call, char **value, size_t *length)
{
    vd_connection *reply;
    check(vd_rpc_send(call), "sending a call");
    int code = vd_rpc_wait(call, &reply);
    if (!code && value && !(*value = text_unpack(reply, length)))
        code = VD_NO_MEMORY;
    check(vd_rpc_end(call), "ending a call");
    return code;
}

static int kv_put(const char *key, const char *value, size_t length)
{
    vd_call *call = begin("put", key);
    text_pack(vd_rpc_arguments(call), value, length);
    return finish(call, NULL, NULL);
}
static int kv_get(const char *key, char **value, size_t *length) { return finish(begin("get", key), value, length); }
static int kv_remove(const char *key) { return finish(begin("remove", key), NULL, NULL); }

/* ---- a test of it ------------------------------------------------------------------------------------------------ */

static size_t length_of(int rank, int i) { return (size_t)(rank * 7919 + i * i * 31) % (i % 50 ? 600 : 60000); }
static char byte_of(int rank, int i, size_t at) { return (char)((size_t)(rank + 1) * 31 + (size_t)i * 7 + at * 13); }
static void key_of(char *key, size_t size, int rank, int i) { snprintf(key, size, "rank %d key %d", rank, i); }

static void put_all(int keys)
{
    char key[64], *value = malloc(60000);
    for (int i = 0; i < keys; i++) {
        size_t length = length_of(vd_rank(), i);
        key_of(key, sizeof key, vd_rank(), i);
        for (size_t at = 0; at < length; at++)
            value[at] = byte_of(vd_rank(), i, at);
        check(kv_put(key, value, length), key);
    }
    free(value);
}

/* How many of a rank's values are there, whole and right; wrong ones end the job. */
static int get_all(int rank, int keys)
{
    int there = 0;
    char key[64], *value = NULL;
    size_t length;
    for (int i = 0; i < keys; i++) {
        key_of(key, sizeof key, rank, i);
        int code = kv_get(key, &value, &length);
        if (code == VD_NOT_FOUND)
            continue;
        check(code, key);
        int right = length == length_of(rank, i);
        for (size_t at = 0; right && at < length; at++)
            right = value[at] == byte_of(rank, i, at);
        free(value);
        if (!right) {
            fprintf(stderr, "kvstore: the value of %s is wrong\n", key);
            exit(1);
        }
        there++;
    }
    return there;
}

/* Everybody is here: a message to rank 0 and one back. */
static void meet(vd_channel *channel)
{
    for (int back = 0; back < 2; back++)
        for (int rank = 1; rank < vd_size(); rank++) {
            int sends = back ? vd_rank() == 0 : vd_rank() == rank, takes = back ? vd_rank() == rank : vd_rank() == 0;
            if (sends)
                check(vd_end_packing(vd_begin_packing(channel, back ? rank : 0)), "meeting");
            if (takes)
                check(vd_end_unpacking(vd_begin_unpacking_from(channel, back ? 0 : rank)), "meeting");
        }
}

int main(int argc, char **argv)
{
    int keys = argc > 1 ? atoi(argv[1]) : 300;
    char key[64];
    vd_channel *channel;
    check(vd_init(), "starting");
    check(vd_rpc_start(0), "starting");
    check(vd_rpc_register("put", store_put, NULL, VD_AT_ONCE), "put");
    check(vd_rpc_register("get", store_get, NULL, VD_AT_ONCE), "get");
    check(vd_rpc_register("remove", store_remove, NULL, VD_AT_ONCE), "remove");
    check(vd_channel_open("meeting", NULL, &channel), "opening a channel"); /* behind it all have registered */

    int before = (vd_rank() + vd_size() - 1) % vd_size(), removed = 0;
    put_all(keys);
    meet(channel);
    int all = get_all(before, keys);
    meet(channel);
    for (int i = 0; i < keys; i += 3, removed++) {
        key_of(key, sizeof key, before, i);
        check(kv_remove(key), key);
    }
    meet(channel);
    int left = get_all(vd_rank(), keys);
    meet(channel);
    if (vd_rank() == 0)
        printf("%d ranks, %d keys each: %d found, %d removed, %d left\n", vd_size(), keys, all, removed, left);
    if (all != keys || left != keys - removed)
        exit(1);
    check(vd_finalize(), "ending");
    return 0;
}
