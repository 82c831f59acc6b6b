/* Registered memory, and puts and gets between it and the program's own.
 *
 * A key names what the device calls by it, the address by which the device knows its first byte (where it is of iWARP
 * that of the program; else it counts from the first large page), and how long it is. What is put is inline or copied
 * into a block where it is small; else its memory is registered (memory.h), as that of what is got always is. Pieces
 * that do not lie in a row are moved by way of memory that does. */
#include "vi/verbs/verbs.h"
#include <arpa/inet.h>

#define PAGE       4096ull
#define KEY_LENGTH 48 /* bits */

/* ---- regions ----------------------------------------------------------------------------------------------------- */

static struct verbs_adapter *adapter_of(struct vi_nic *nic)
{
    return nic->caps.adapter ? container_of(nic, struct verbs_adapter, nic) : verbs_nic_of(nic)->adapter[0];
}

/* Zeros, in pages of their own: where a child of fork does not get registered pages it misses nothing else. */
static void *own_pages(uint64_t bytes)
{
    void *pages = aligned_alloc(PAGE, (bytes + PAGE - 1) & ~(PAGE - 1));
    return pages ? memset(pages, 0, bytes) : NULL;
}

/* 32 bits of what the device calls it, 48 each of address and length. */
static struct vi_key key_make(uint32_t rkey, uint64_t first, uint64_t length)
{
    return (struct vi_key){{first << 32 | rkey, first >> 32 << KEY_LENGTH | length}};
}
static uint64_t key_first(const struct vi_key *key)
{
    return key->word[1] >> KEY_LENGTH << 32 | key->word[0] >> 32;
}
static uint64_t key_length(const struct vi_key *key) { return key->word[1] & ((1ull << KEY_LENGTH) - 1); }

int verbs_reg(struct vi_nic *nic, void *address, uint64_t length, struct vi_region *out)
{
    struct verbs_adapter *adapter = adapter_of(nic);
    uint64_t bytes = length ? length : 1;
    struct verbs_memory *memory;
    void *own = address ? NULL : own_pages(bytes);
    unsigned once = own ? MEMORY_ONCE : 0;
    address = address ? address : own;
    if (!address)
        return vbase_fail(ERR_MEMORY, "%llu bytes of registered memory", (unsigned long long)length);
    int error = verbs_memory_take(adapter, address, bytes, MEMORY_FULL | once, &memory);
    if (error) /* it may be for reading only */
        error = verbs_memory_take(adapter, address, bytes, IBVERBS_ACCESS_REMOTE_READ | once, &memory);
    if (error) {
        free(own);
        return error;
    }
    if (own)
        memory->own = own;
    *out = (struct vi_region){nic, address, length,
                              key_make(memory->mr->rkey, verbs_memory_address(memory, address), length), memory};
    return OK;
}

void verbs_dereg(struct vi_region *region)
{
    if (region->own)
        verbs_memory_give(adapter_of(region->nic), region->own);
    region->own = NULL;
}

struct verbs_memory *verbs_memory_of(const struct verbs_vi *vi, const struct vi_region *region)
{
    return adapter_of(region->nic) == vi->adapter ? region->own : NULL;
}

/* ---- local memory ------------------------------------------------------------------------------------------------ */

static bool in_a_row(const struct iovec *piece, int pieces, uint8_t **start)
{
    uint8_t *end = NULL;
    *start = NULL;
    for (int i = 0; i < pieces; i++) {
        if (piece[i].iov_len == 0)
            continue;
        if (!*start)
            end = *start = piece[i].iov_base;
        if (piece[i].iov_base != end)
            return false;
        end += piece[i].iov_len;
    }
    return true;
}

/* What is put, where it is small: it is free at once. False: there is no room for it. */
static bool small_copy(struct verbs_vi *vi, const struct vi_transfer *transfer, uint64_t length, uint8_t *row,
                       struct ibverbs_sge *whole, struct verbs_place *place, unsigned *flags)
{
    uint8_t *at = row;
    if (length <= vi->inlined)
        *flags |= IBVERBS_SEND_INLINE;
    else if (length > VERBS_BLOCK || vi->blocks >= TUNED(VERBS_BLOCKS_ONE) ||
             !(at = place->block = verbs_block_take(vi->adapter)))
        return false;
    vi->blocks += place->block != NULL;
    verbs_gather(at, transfer->local, transfer->pieces);
    *whole = (struct ibverbs_sge){(uintptr_t)at, (uint32_t)length, vi->adapter->mr->lkey};
    return true;
}

static int local_register(struct verbs_vi *vi, const struct vi_transfer *transfer, uint64_t length, bool get,
                          struct verbs_transfer *own, struct ibverbs_sge *whole)
{
    const struct verbs_memory *memory = NULL;
    uint8_t *start;
    if (!in_a_row(transfer->local, transfer->pieces, &start)) {
        start = own->row = malloc(length);
        if (!start)
            return vbase_fail(ERR_MEMORY, "a transfer of %llu bytes", (unsigned long long)length);
        if (!get)
            verbs_gather(start, transfer->local, transfer->pieces);
    } else if (transfer->region) {
        memory = transfer->region->own;
    }
    unsigned access = (get ? IBVERBS_ACCESS_LOCAL_WRITE : 0) | (own->row ? MEMORY_ONCE : 0);
    int error = memory ? OK : verbs_memory_take(vi->adapter, start, length, access, &own->memory);
    if (error)
        return error;
    memory = memory ? memory : own->memory;
    *whole = (struct ibverbs_sge){verbs_memory_address(memory, start), (uint32_t)length, memory->mr->lkey};
    return OK;
}

static void transfer_free(struct verbs_vi *vi, struct verbs_transfer *own)
{
    if (own->memory)
        verbs_memory_give(vi->adapter, own->memory);
    free(own->row);
    free(own);
}

/* What a transfer shows of the rate; those that are under way together share it. */
static void rate_note(struct verbs_pace *pace, const struct verbs_transfer *own)
{
    uint64_t now = clock_ticks(), since = own->begun > pace->ended ? own->begun : pace->ended;
    uint64_t before = atomic_load_explicit(&pace->rate, memory_order_relaxed);
    uint64_t ns = vbase_clock_ns_of_ticks(now - since);
    uint64_t part = TUNED(VERBS_RATE_MEAN);
    uint64_t rate = (uint64_t)((double)own->length * 1e9 / (double)(ns + 1));
    pace->ended = now;
    if (own->length >= TUNED(VERBS_RATED))
        atomic_store_explicit(&pace->rate, before ? before - before / part + rate / part : rate, memory_order_relaxed);
}

static void transfer_finish(struct verbs_vi *vi, struct verbs_transfer *own, int status)
{
    struct verbs_nic *nic = verbs_home(vi);
    const uint8_t *from = own->row;
    void *cookie = own->cookie;
    for (int i = 0; i < own->pieces && !status; from += own->piece[i++].iov_len)
        base_copy(own->piece[i].iov_base, from, own->piece[i].iov_len);
    atomic_fetch_sub_explicit(&vi->call.vi.waiting, own->length, memory_order_relaxed);
    if (!status)
        rate_note(&vi->pace, own);
    transfer_free(vi, own);
    if (!cookie || !atomic_load_explicit(&vi->call.open, memory_order_relaxed))
        return;
    nic->call.told++;
    nic->call.nic.sink.done(&vi->call.vi, cookie, status);
}

void verbs_written_end(struct verbs_vi *vi, int status)
{
    uint64_t taken = atomic_load_explicit(&vi->taken, memory_order_relaxed);
    struct list_node *node;
    while ((node = list_first(&vi->written))) {
        struct verbs_transfer *own = container_of(node, struct verbs_transfer, written);
        if (!status && own->number > taken)
            break;
        list_remove(node);
        transfer_finish(vi, own, status);
    }
}

void verbs_transfer_end(struct verbs_vi *vi, struct verbs_transfer *own, int status)
{
    if (status || !own->number) {
        transfer_finish(vi, own, status);
    } else {
        list_append(&vi->written, &own->written);
        verbs_written_end(vi, OK);
    }
}

/* ---- puts and gets ----------------------------------------------------------------------------------------------- */

static int transfer_judge(struct vi *vi, const struct vi_transfer *transfer, uint64_t length)
{
    uint64_t there = key_length(&transfer->key);
    if (transfer->offset > there || length > there - transfer->offset)
        return vbase_fail(ERR_ARGUMENT, "%llu bytes at %llu of a region of %llu", (unsigned long long)length,
                          (unsigned long long)transfer->offset, (unsigned long long)there);
    if (length > vi_caps(vi)->max_put)
        return vbase_fail(ERR_ARGUMENT, "a transfer of %llu bytes; at most %llu", (unsigned long long)length,
                          (unsigned long long)vi_caps(vi)->max_put);
    return OK;
}

static int transfer_post(struct verbs_vi *vi, const struct vi_transfer *transfer, uint64_t length, bool get,
                         struct verbs_transfer *own)
{
    uint8_t row[TUNED(VERBS_INLINE)];
    struct ibverbs_sge whole;
    struct verbs_place place = {.vi = vi, .transfer = own};
    struct ibverbs_send_wr wr = {
        .sg_list = &whole, .num_sge = length > 0,
        .opcode = get ? IBVERBS_WR_RDMA_READ
                  : transfer->signal && !vi->adapter->iwarp ? IBVERBS_WR_RDMA_WRITE_WITH_IMM
                                                            : IBVERBS_WR_RDMA_WRITE,
        .imm_data = htonl(transfer->immediate), .rkey = (uint32_t)transfer->key.word[0],
        .remote_addr = key_first(&transfer->key) + transfer->offset};
    int error = length && (get || !small_copy(vi, transfer, length, row, &whole, &place, &wr.send_flags))
                    ? local_register(vi, transfer, length, get, own, &whole)
                    : OK;
    if (!error)
        error = verbs_post(vi, &wr, length, &place);
    if (error && place.block) {
        vi->blocks--;
        verbs_block_give(vi->adapter, place.block);
    }
    return error;
}

/* A put by a device of iWARP, when it is posted: the frames behind it are taken when it is there. To have
 * completed says less of such a device: that it has read the memory. */
static void put_tell(struct verbs_vi *vi, const struct vi_transfer *transfer, uint64_t length)
{
    if (transfer->signal)
        verbs_frame_send(vi, VERBS_ARRIVED, (uint64_t)transfer->immediate << 32 | length);
    if (transfer->cookie)
        verbs_frame_send(vi, VERBS_WRITTEN, 0);
}

static int transfer_start(struct verbs_vi *vi, const struct vi_transfer *transfer, uint64_t length, bool get)
{
    uint8_t *start;
    bool scattered = get && !in_a_row(transfer->local, transfer->pieces, &start);
    size_t pieces = scattered ? (size_t)transfer->pieces : 0;
    int error = verbs_room(vi);
    if (error || vi->state != VERBS_UP)
        return error ? error : ERR_AGAIN;
    struct verbs_transfer *own = calloc(1, sizeof(*own) + pieces * sizeof(struct iovec));
    if (!own)
        return vbase_fail(ERR_MEMORY, "a transfer to rank %u", vi->call.vi.peer);
    own->cookie = transfer->cookie;
    own->length = length;
    own->begun = clock_ticks();
    own->pieces = (int)pieces;
    memcpy(own->piece, transfer->local, pieces * sizeof(struct iovec));
    bool tells = !get && vi->adapter->iwarp, asks = tells && transfer->cookie;
    int receives = (!get && transfer->signal) + asks; /* of the other side */
    verbs_count(vi, receives);
    own->number = asks ? atomic_load_explicit(&vi->sent, memory_order_relaxed) : 0;
    atomic_fetch_add_explicit(&vi->call.vi.waiting, length, memory_order_relaxed);
    error = transfer_post(vi, transfer, length, get, own);
    if (error) {
        atomic_fetch_sub_explicit(&vi->call.vi.waiting, length, memory_order_relaxed);
        verbs_count(vi, -receives);
        transfer_free(vi, own);
    } else if (tells) {
        put_tell(vi, transfer, length);
    }
    return error;
}

static int transfer_begin(struct vi *base, const struct vi_transfer *transfer, bool get)
{
    struct verbs_vi *vi = verbs_vi_of(base);
    uint64_t length = verbs_total(transfer->local, transfer->pieces);
    int error = transfer_judge(base, transfer, length);
    if (error || (length == 0 && !transfer->signal))
        return error ? error : VI_COMPLETE;
    base_lock(&vi->lock);
    error = transfer_start(vi, transfer, length, get);
    base_unlock(&vi->lock);
    return error;
}

int verbs_put(struct vi *vi, const struct vi_transfer *what) { return transfer_begin(vi, what, false); }

/* Not by iWARP: there a send that is posted behind a read may complete before it (places are counted by that), and the
 * other side could write where one reads to. */
int verbs_get(struct vi *vi, const struct vi_transfer *what)
{
    return vi_caps(vi)->get ? transfer_begin(vi, what, true) : vi_no_get(vi, what);
}
