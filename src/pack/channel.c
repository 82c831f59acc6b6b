/* pack: channels, and the connections of a channel. All ranks open and close channels in the same order: they compare
 * name, network and settings, so a rank that opens another channel gets an error, and either all have it or none. */
#include "pack/pack.h"

static struct {
    uint32_t next;           /* the id that is tried first, less MSG_CONTEXT_PACK */
    struct list channels;
    struct base_lock lock;   /* of that list: the thread of event.c walks it */
    char network[MSG_NETWORKS][64]; /* that networks of the engine were opened for; of 0 none */
} pack;

int vpack_argument(vd_channel *channel, int remote)
{
    int error = vpack_start();
    if (!error && (!channel || channel->magic != PACK_MAGIC))
        error = vbase_fail(ERR_ARGUMENT, "this is no open channel");
    if (!error)
        error = vbase_fail(ERR_ARGUMENT, "rank %d: the ranks of channel %s are 0 to %d", remote, channel->name,
                           channel->size - 1);
    return error;
}

void vpack_channels_begin(void)
{
    list_init(&pack.channels);
    pack.next = PACK_ID_FIRST;
    memset(pack.network, 0, sizeof pack.network);
}

int vpack_channels_close(void)
{
    while (!list_empty(&pack.channels)) {
        int error = vd_channel_close(container_of(list_first(&pack.channels), vd_channel, link));
        if (error && error != ERR_PEER_DEAD)
            return error;
    }
    return OK;
}

/* ---- agreement --------------------------------------------------------------------------------------------------- */

enum { SAME_NAME, SAME_NETWORK, SAME_CHECK, SAME_ID, SAME_COUNT };

/* ERROR: of this rank. Where one rank fails, or opens another channel, all fail. */
static int channel_compare(const char *name, uint32_t id, const char *network, int error)
{
    static const char *const what[] = {"name", "network", "VIADUCT_CHECK", "number"};
    const int64_t mine[SAME_COUNT] = {[SAME_NAME] = (int64_t)(vbase_hash_bytes(name, strlen(name)) >> 1),
                                      [SAME_NETWORK] = (int64_t)(vbase_hash_bytes(network, strlen(network)) >> 1),
                                      [SAME_CHECK] = vbase_settings.check, [SAME_ID] = id};
    int64_t least[2 * SAME_COUNT + 1] = {[2 * SAME_COUNT] = error};
    for (int i = 0; i < SAME_COUNT; i++) {
        least[i] = mine[i];
        least[i + SAME_COUNT] = -mine[i];
    }
    int agreement = vpack_least(least, ARRAY_LENGTH(least));
    if (error || agreement)
        return error ? error : agreement;
    if (least[2 * SAME_COUNT])
        return vbase_fail((int)least[2 * SAME_COUNT], "another rank cannot open channel %s", name);
    for (int i = 0; i < SAME_COUNT && !error; i++)
        if (least[i] != -least[i + SAME_COUNT])
            error = vbase_fail(ERR_ARGUMENT,
                               "not all ranks open the same channel now: its %s differs; here it is %s over %s",
                               what[i], name, network);
    return error;
}

/* ---- how others are reached -------------------------------------------------------------------------------------- */

struct path_wait {
    const vd_channel *channel;
    int remote, error;
    struct msg_route route;
};

static bool peer_path_is_known(void *context)
{
    struct path_wait *wait = context;
    wait->error = vmsg_route(wait->channel->context, wait->remote, &wait->route);
    return wait->error || wait->route.path[0];
}

/* ERR_UNREACHABLE: one of them is not reached over TRANSPORT; NULL: over the network of the channel. */
static int channel_reaches_all(const vd_channel *channel, const char *transport)
{
    int error = OK;
    for (int remote = 0; remote < channel->size && !error; remote++) {
        struct path_wait wait = {channel, remote, .error = OK};
        if (remote == channel->rank)
            continue;
        error = vmsg_route(channel->context, remote, &wait.route);
        if (!error && transport && strcmp(wait.route.transport, transport) != 0)
            error = vbase_fail(ERR_UNREACHABLE, "rank %d is reached over %s from rank %d, not over %s", remote,
                               wait.route.transport, channel->rank, transport);
        if (!error && channel->network)
            error = vmsg_wait_until(peer_path_is_known, &wait);
        error = error ? error : wait.error;
    }
    return error;
}

/* An error at any rank becomes an error at all, with one code. */
static int error_agree(int mine, const char *network)
{
    int64_t least_code[2] = {mine, mine ? vd_rank() : INT32_MAX};
    int error = vpack_least(least_code, 2);
    if (error || least_code[0] == mine)
        return error ? error : mine;
    return vbase_fail((int)least_code[0], "rank %d does not reach all others over %s, and says why", (int)least_code[1],
                      network);
}

/* The network of NAME: one that a channel has opened before, or a new one. */
static int network_find(const char *name, int *network)
{
    for (int i = 1; i < MSG_NETWORKS; i++)
        if (*name && strcmp(pack.network[i], name) == 0) {
            *network = i;
            return OK;
        }
    int mine = vmsg_network_open(name, network);
    int error = error_agree(mine, name);
    if (error && !mine)
        vmsg_network_close(*network);
    if (!error)
        snprintf(pack.network[*network], sizeof pack.network[*network], "%s", name);
    return error;
}

/* Replaces the context of CHANNEL by one over NETWORK, unless it uses that network already. Other ranks may have theirs
 * already: what they send for it waits. */
static int channel_bind(vd_channel *channel, const char *network)
{
    if (strcmp(network, "all") == 0)
        return OK;
    bool opens, transport = vmsg_transport_named(network, &opens);
    int usual = transport ? error_agree(channel_reaches_all(channel, network), network) : ERR_UNREACHABLE;
    if (!opens || usual != ERR_UNREACHABLE)
        return usual;
    int error = network_find(network, &channel->network);
    if (error)
        return error;
    vpack_check_close(channel);
    base_lock(&pack.lock); /* vpack_any_message looks at its context */
    vmsg_context_close(channel->context);
    channel->context = NULL;
    error = vmsg_context_open_over(channel->network, MSG_CONTEXT_PACK + channel->id, &channel->context);
    base_unlock(&pack.lock);
    if (!error && channel->check)
        error = vpack_check_open(channel);
    return error_agree(error ? error : channel_reaches_all(channel, NULL), network);
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static vd_connection *connection_make(vd_channel *channel, bool unpacking)
{
    vd_connection *connection = calloc(1, sizeof *connection);
    unsigned char *frame = malloc(PACK_FRAME);
    if (!connection || !frame) {
        free(connection);
        free(frame);
        return vpack_fail(vbase_fail(ERR_MEMORY, "no memory for a message on channel %s", channel->name));
    }
    connection->frame = frame;
    connection->channel = channel;
    connection->context = channel->context;
    connection->unpacking = unpacking;
    connection->state = PACK_OPEN;
    connection->room = connection->room_in = -1;
    connection->here = unpacking;
    connection->alone = PACK_ALONE;
    list_init(&connection->parts);
    channel->made++;
    return connection;
}

vd_connection *vpack_take(vd_channel *channel, bool unpacking)
{
    pack_lock(channel);
    vd_connection *connection =
        channel->idle[unpacking] ? pack_take(channel, unpacking) : connection_make(channel, unpacking);
    pack_unlock(channel);
    return connection;
}

void vpack_give(vd_connection *connection)
{
    vd_channel *channel = connection->channel;
    connection->state = PACK_IDLE;
    if (connection->kept)
        return;
    pack_lock(channel);
    pack_give(connection, connection->unpacking);
    pack_unlock(channel);
}

/* How many messages are on their way. Other threads call no more. */
static uint32_t messages_open(const vd_channel *channel)
{
    uint32_t open = channel->made;
    for (int i = 0; i < 2; i++)
        for (const vd_connection *idle = channel->idle[i]; idle; idle = idle->next_idle)
            open--;
    return open;
}

static int messages_ended(const vd_channel *channel)
{
    uint32_t open = messages_open(channel);
    return open ? vbase_fail(ERR_STATE, "%u messages of channel %s are not ended", open, channel->name) : OK;
}

int vpack_channels_ended(void)
{
    int error = OK;
    list_for_each(node, &pack.channels)
        if (!error && container_of(node, vd_channel, link)->id >= PACK_ID_FIRST)
            error = messages_ended(container_of(node, vd_channel, link));
    return error;
}

VEXPORT int vd_remote(const vd_connection *connection)
{
    return connection && connection->state != PACK_IDLE ? connection->remote
                                                        : vbase_fail(ERR_STATE, "no message is here");
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

int vpack_channel_open(uint32_t id, const char *name, vd_channel **out)
{
    vd_channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return vbase_fail(ERR_MEMORY, "no memory for channel %s", name);
    channel->magic = PACK_MAGIC;
    channel->rank = vd_rank();
    channel->size = vd_size();
    channel->id = id;
    channel->check = vbase_settings.check;
    channel->awaited = PACK_NOBODY;
    list_init(&channel->spare_parts);
    snprintf(channel->name, sizeof channel->name, "%s", name);
    channel->sent = calloc((size_t)channel->size, sizeof *channel->sent);
    channel->heard = calloc((size_t)channel->size, sizeof *channel->heard);
    int error = channel->sent && channel->heard ? OK : vbase_fail(ERR_MEMORY, "no memory for channel %s", name);
    if (!error)
        error = vmsg_context_open(MSG_CONTEXT_PACK + id, NULL, channel->size, channel->rank, &channel->context);
    if (!error && channel->check)
        error = vpack_check_open(channel);
    if (error) {
        vpack_channel_free(channel);
        return error;
    }
    base_lock(&pack.lock);
    list_append(&pack.channels, &channel->link);
    base_unlock(&pack.lock);
    *out = channel;
    return OK;
}

static void connections_free(vd_connection *connection)
{
    while (connection) {
        vd_connection *next = connection->next_idle;
        free(connection->frame);
        free(connection->waiting);
        free(connection);
        connection = next;
    }
}

void vpack_channel_free(vd_channel *channel)
{
    base_lock(&pack.lock);
    list_leave(&channel->link);
    base_unlock(&pack.lock);
    vpack_check_close(channel);
    if (channel->context)
        vmsg_context_close(channel->context);
    connections_free(channel->idle[0]);
    connections_free(channel->idle[1]);
    list_take_each(node, &channel->spare_parts)
        free(container_of(node, struct pack_part, link));
    channel->magic = 0;
    free(channel->sent);
    free(channel->heard);
    free(channel);
}

static uint32_t id_find(void)
{
    for (uint32_t tries = 0; tries < MSG_CONTEXTS_PACK; tries++) {
        uint32_t id = pack.next;
        pack.next = id + 1 < MSG_CONTEXTS_PACK ? id + 1 : PACK_ID_FIRST;
        bool used = false;
        list_for_each(node, &pack.channels)
            used |= container_of(node, vd_channel, link)->id == id;
        if (!used)
            return id;
    }
    return 0;
}

bool vpack_any_message(void)
{
    bool any = false;
    base_lock(&pack.lock);
    list_for_each(node, &pack.channels) {
        struct msg_where from = {container_of(node, vd_channel, link)->context, MSG_ANY_SOURCE, PACK_TAG_FIRST};
        struct msg_result result;
        bool found = false;
        any |= from.context && (vmsg_probe(&from, &found, &result) != OK || found);
    }
    base_unlock(&pack.lock);
    return any;
}

VEXPORT int vd_channel_open(const char *name, const char *network, vd_channel **out)
{
    vd_channel *channel = NULL;
    int error = vpack_start_all();
    if (error)
        return error;
    if (!name || !out)
        return vbase_fail(ERR_ARGUMENT, "vd_channel_open: %s is NULL", name ? "channel" : "name");
    DOING("vd_channel_open");
    network = network ? network : "all";
    uint32_t id = id_find();
    error = id ? vpack_channel_open(id, name, &channel)
               : vbase_fail(ERR_LIMIT, "%u channels are open", MSG_CONTEXTS_PACK - PACK_ID_FIRST);
    error = channel_compare(name, id, network, error) ?: channel_bind(channel, network);
    if (error) {
        if (channel)
            vpack_channel_free(channel);
        return error;
    }
    *out = channel;
    return OK;
}

/* Behind the barrier every rank has ended its messages. What is still under way is dropped on arrival, or waits for a
 * context that the next channels do not use: ids go round. */
VEXPORT int vd_channel_close(vd_channel *channel)
{
    int error = vpack_start_all();
    if (error)
        return error;
    if (!channel || channel->magic != PACK_MAGIC)
        return vpack_argument(channel, 0);
    error = messages_ended(channel);
    if (error)
        return error;
    DOING("vd_channel_close");
    error = vpack_all_here();
    if (!error && channel->check)
        error = vpack_check_heard(channel, VD_ANYONE);
    vpack_channel_free(channel);
    return error;
}

