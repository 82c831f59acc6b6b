/* Checking (VIADUCT_CHECK=yes): before each block lies a mark with its number, length and modes, and behind the last
 * one a mark that says so. The unpacker compares; where they differ it logs what it expected and what came, and sends a
 * complaint to the packer. The packer logs the same when its engine makes progress, and its next call returns the
 * error. */
#include "pack/pack.h"

#define COMPLAINT 400

/* The complaint that comes next, and the last one of each rank. */
struct pack_complaints {
    struct msg_request request;
    vd_channel *channel;
    char text[COMPLAINT];
    struct {
        bool heard; /* the program was not told yet */
        char said[COMPLAINT];
    } of[];
};

static int complaint_post(struct pack_complaints *complaints);

static void complaint_came(struct msg_request *request)
{
    struct pack_complaints *complaints = request->owner;
    if (request->result.error && request->result.error != ERR_TRUNCATED)
        return; /* the channel closes */
    if (!request->result.error) { /* a valid one is not longer */
        complaints->text[COMPLAINT - 1] = 0;
        memcpy(complaints->of[request->result.source].said, complaints->text, COMPLAINT);
        LOG_ERROR("%s", complaints->text);
        /* release: pairs with the acquire in vpack_check_heard */
        __atomic_store_n(&complaints->of[request->result.source].heard, true, __ATOMIC_RELEASE);
    }
    if (complaint_post(complaints))
        LOG_ERROR("channel %s hears no further complaints: %s", complaints->channel->name, vbase_error_detail());
}

static int complaint_post(struct pack_complaints *complaints)
{
    struct msg_where from = {complaints->channel->context, MSG_ANY_SOURCE, PACK_TAG_COMPLAINT};
    struct type_buffer buffer = {.base = complaints->text, .count = COMPLAINT};
    return vmsg_recv_start(&complaints->request, &from, &buffer);
}

int vpack_check_open(vd_channel *channel)
{
    struct pack_complaints *complaints =
        calloc(1, sizeof *complaints + (size_t)channel->size * sizeof complaints->of[0]);
    if (!complaints)
        return vbase_fail(ERR_MEMORY, "no memory to check channel %s", channel->name);
    complaints->channel = channel;
    complaints->request.completed = complaint_came;
    complaints->request.owner = complaints;
    channel->complaints = complaints;
    return complaint_post(complaints);
}

static bool complaint_is_cancelled(void *context)
{
    return vmsg_request_done(&((struct pack_complaints *)context)->request);
}

void vpack_check_close(vd_channel *channel)
{
    struct pack_complaints *complaints = channel->complaints;
    if (!complaints)
        return;
    vmsg_cancel(&complaints->request);
    if (vmsg_wait_until(complaint_is_cancelled, complaints) == OK)
        free(complaints); /* else the job is lost, and the engine may still write to it */
    channel->complaints = NULL;
}

int vpack_check_heard(vd_channel *channel, int remote)
{
    struct pack_complaints *complaints = channel->complaints;
    int rank = remote == VD_ANYONE ? 0 : remote, last = remote == VD_ANYONE ? channel->size - 1 : remote;
    while (rank <= last && !__atomic_load_n(&complaints->of[rank].heard, __ATOMIC_ACQUIRE)) /* with complaint_came */
        rank++;
    if (rank > last)
        return OK;
    __atomic_store_n(&complaints->of[rank].heard, false, __ATOMIC_RELAXED); /* told once */
    return vbase_fail(ERR_ASYMMETRY, "%s", complaints->of[rank].said);
}

static const char *mark_modes(const struct pack_mark *mark)
{
    static const char *const names[3][2] = {{"CHEAPER, CHEAPER", "CHEAPER, EXPRESS"},
                                            {"SAFER, CHEAPER", "SAFER, EXPRESS"},
                                            {"LATER, CHEAPER", "LATER, EXPRESS"}};
    return mark->send < 3 && mark->receive < 2 ? names[mark->send][mark->receive] : "?";
}

static void mark_describe(char *text, size_t size, const struct pack_mark *mark)
{
    if (mark->what == PACK_MARK_END)
        snprintf(text, size, "the end after %u blocks", mark->number);
    else if (mark->what == PACK_MARK_BLOCK)
        snprintf(text, size, "block %u of %llu bytes (%s)", mark->number, (unsigned long long)mark->length,
                 mark_modes(mark));
    else
        snprintf(text, size, "something that is no block");
}

/* Synchronous: when it is over the packer's engine has it, even if the channel closes next. Our message ends after
 * it. */
static int complaint_send(vd_connection *connection, const char *text)
{
    struct pack_part *part = vpack_part_take(connection);
    if (!part)
        return ERR_MEMORY;
    part->length = strlen(text) + 1;
    part->frame = (unsigned char *)strdup(text);
    struct msg_where to = {connection->context, connection->remote, PACK_TAG_COMPLAINT};
    struct type_buffer buffer = {.base = part->frame, .count = part->length};
    int error = part->frame ? vmsg_send_start(&part->request, &to, &buffer, MSG_SYNCHRONOUS) : ERR_MEMORY;
    if (error)
        vpack_part_give(connection, part);
    return error;
}

int vpack_check_mark(vd_connection *connection, const struct pack_mark *packed, const struct pack_mark *unpacked)
{
    char text[COMPLAINT], theirs[100], mine[100];
    if (memcmp(packed, unpacked, sizeof *packed) == 0)
        return OK;
    mark_describe(theirs, sizeof theirs, packed);
    mark_describe(mine, sizeof mine, unpacked);
    snprintf(text, sizeof text, "channel %s, message %u from rank %d to rank %d: %s was packed, %s is unpacked",
             connection->channel->name, connection->sequence, connection->remote, connection->channel->rank, theirs,
             mine);
    int error = complaint_send(connection, text);
    LOG_ERROR("%s", text);
    return error ? error : vbase_fail(ERR_ASYMMETRY, "%s", text);
}
