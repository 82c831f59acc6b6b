/* Random layouts against a model that lists the offset of every byte: shape, pack, unpack, seek, gather and layout to
 * layout, cut at random places, with a guard around every destination. takes: 10 timeout: 60 */
#include "check.h"
#include "type/layout.h"

#define BYTES_MAX 3000
#define GUARD 64

struct model {
    int64_t offset[BYTES_MAX];
    size_t bytes;
    bool bounded;
    int64_t low, high; /* the bounds; if some members' were set, of these alone. Not padded */
    uint32_t alignment;
};

static uint64_t seed = 88172645463325252ull;
static uint64_t any(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static void model_span(const struct model *m, int64_t *low, int64_t *high)
{
    *low = m->bytes ? INT64_MAX : 0;
    *high = m->bytes ? INT64_MIN : 0;
    for (size_t i = 0; i < m->bytes; i++) {
        *low = m->offset[i] < *low ? m->offset[i] : *low;
        *high = m->offset[i] + 1 > *high ? m->offset[i] + 1 : *high;
    }
}

static int64_t model_extent(const struct model *m)
{
    int64_t k = m->bounded ? 1 : m->alignment;
    return (m->high - m->low + k - 1) / k * k;
}

static bool model_add(struct model *m, const struct model *of, int64_t at)
{
    bool first = m->bytes == 0 && !m->bounded;
    if (m->bytes + of->bytes > BYTES_MAX)
        return false;
    for (size_t i = 0; i < of->bytes; i++)
        m->offset[m->bytes++] = at + of->offset[i];
    if (of->bounded || (of->bytes && !m->bounded)) {
        int64_t low = at + of->low, high = low + model_extent(of);
        first |= of->bounded && !m->bounded;
        m->low = first || low < m->low ? low : m->low;
        m->high = first || high > m->high ? high : m->high;
        m->bounded |= of->bounded;
    }
    if ((of->bytes || of->bounded) && of->alignment > m->alignment)
        m->alignment = of->alignment;
    return true;
}

static bool model_repeat(struct model *m, const struct model *of, int64_t at, int64_t stride, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!model_add(m, of, at + (int64_t)i * stride))
            return false;
    return true;
}

static struct model *model_new(void)
{
    struct model *m = malloc(sizeof *m); /* the list itself is left alone: most are short */
    m->bytes = 0;
    m->bounded = false;
    m->low = m->high = 0;
    m->alignment = 1;
    return m;
}

struct pair {
    struct type_layout *layout;
    struct model *model;
};

static void pair_free(struct pair *p)
{
    vtype_layout_drop(p->layout);
    free(p->model);
}

static struct pair element(void)
{
    static const struct { uint64_t size; uint32_t alignment; } kinds[] = {
        {1, 1}, {2, 2}, {4, 4}, {8, 8}, {16, 16}, {3, 1}, {12, 4}, {24, 8}, {64, 8}, {100, 4}, {0, 1}};
    unsigned k = (unsigned)any(ARRAY_LENGTH(kinds));
    struct pair p = {NULL, model_new()};
    CHECK_EQUAL(vtype_layout_bytes(kinds[k].size, kinds[k].alignment, &p.layout), 0);
    p.model->alignment = kinds[k].size ? kinds[k].alignment : 1;
    for (; p.model->bytes < kinds[k].size; p.model->bytes++)
        p.model->offset[p.model->bytes] = (int64_t)p.model->bytes;
    p.model->high = (int64_t)p.model->bytes;
    return p;
}

static struct pair grow(int depth);

static bool grow_list(struct pair *p, struct pair *of, bool one_kind)
{
    uint64_t count = any(6), blocks[6];
    int64_t at[6], next = (int64_t)any(40) - 20;
    struct type_layout *layouts[6];
    for (uint64_t i = 0; i < count; i++) {
        struct pair *this = one_kind ? of : &of[i % 3];
        layouts[i] = this->layout;
        blocks[i] = any(4);
        at[i] = next;
        next += (int64_t)blocks[i] * model_extent(this->model);
        if (any(2)) /* else it touches, perhaps */
            next += (int64_t)any(60) - 20;
        if (!model_repeat(p->model, this->model, at[i], model_extent(this->model), blocks[i]))
            return false;
    }
    if (one_kind)
        CHECK_EQUAL(vtype_layout_indexed(count, blocks, at, of->layout, &p->layout), 0);
    else
        CHECK_EQUAL(vtype_layout_struct(count, blocks, at, layouts, &p->layout), 0);
    return true;
}

static bool grow_vector(struct pair *p, const struct pair *of)
{
    uint64_t count = any(12), block = any(4);
    int64_t extent = model_extent(of->model), stride = any(3) ? (int64_t)any(200) - 100 : extent * (int64_t)block;
    struct model *one = model_new();
    bool fits = model_repeat(one, of->model, 0, extent, block) && model_repeat(p->model, one, 0, stride, count);
    free(one);
    if (fits)
        CHECK_EQUAL(vtype_layout_vector(count, block, stride, of->layout, &p->layout), 0);
    return fits;
}

static bool grow_from(struct pair *p, struct pair *of)
{
    switch (any(5)) {
    case 0: {
        uint64_t count = any(5);
        if (!model_repeat(p->model, of->model, 0, model_extent(of->model), count))
            return false;
        CHECK_EQUAL(vtype_layout_contiguous(count, of->layout, &p->layout), 0);
        return true;
    }
    case 1: return grow_vector(p, of);
    case 2: return grow_list(p, of, true);
    case 3: return grow_list(p, of, false);
    default:
        (void)model_add(p->model, of->model, 0);
        p->model->bounded = true;
        p->model->low = (int64_t)any(100) - 50;
        p->model->high = p->model->low + (int64_t)any(160) - 30;
        CHECK_EQUAL(vtype_layout_resized(p->model->low, p->model->high - p->model->low, of->layout, &p->layout), 0);
        return true;
    }
}

static struct pair grow(int depth)
{
    if (depth == 0)
        return element();
    struct pair of[3], p = {NULL, model_new()};
    for (int i = 0; i < 3; i++)
        of[i] = grow((int)any((uint64_t)depth));
    of[0] = (pair_free(&of[0]), grow(depth - 1));
    if (!grow_from(&p, of)) {
        free(p.model);
        p = element();
    }
    for (int i = 0; i < 3; i++)
        pair_free(&of[i]);
    return p;
}

/* ---- a buffer of elements, its model, and an arena with guards that holds it ----------------------------------- */

struct scene {
    struct pair pair;
    struct type_buffer buffer;
    unsigned char *arena, *base;
    size_t room, bytes;
    int64_t *offset; /* of every byte of the stream, from base */
};

static void scene_open(struct scene *s, int depth)
{
    s->pair = grow(depth);
    const struct model *m = s->pair.model;
    uint64_t count = any(5);
    int64_t low = 0, high = 0, extent = model_extent(m);
    s->bytes = 0;
    s->offset = malloc((count * m->bytes + 1) * sizeof *s->offset);
    for (uint64_t i = 0; i < count; i++)
        for (size_t k = 0; k < m->bytes; k++) {
            int64_t at = s->offset[s->bytes++] = (int64_t)i * extent + m->offset[k];
            low = at < low ? at : low;
            high = at + 1 > high ? at + 1 : high;
        }
    s->room = (size_t)(high - low) + 2 * GUARD;
    s->arena = malloc(s->room);
    s->base = s->arena + GUARD - low;
    s->buffer = (struct type_buffer){s->base, count, s->pair.layout};
    CHECK_EQUAL(type_buffer_bytes(&s->buffer), s->bytes);
}

static void scene_close(struct scene *s)
{
    pair_free(&s->pair);
    free(s->arena);
    free(s->offset);
}

static void fill(unsigned char *to, size_t bytes, unsigned message)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = check_byte(message, i);
}

static void check_shape(const struct pair *p)
{
    const struct model *m = p->model;
    const struct type_shape *shape = &p->layout->shape;
    int64_t low, high;
    model_span(m, &low, &high);
    CHECK_EQUAL(shape->size, m->bytes);
    CHECK_EQUAL(shape->true_lower_bound, low);
    CHECK_EQUAL(shape->true_extent, high - low);
    CHECK_EQUAL(shape->lower_bound, m->low);
    CHECK_EQUAL(shape->extent, model_extent(m));
    CHECK_EQUAL(shape->alignment, m->alignment);
    bool straight = m->bytes == 0 || model_extent(m) == (int64_t)m->bytes;
    for (size_t i = 0; i < m->bytes; i++)
        straight &= m->offset[i] == (int64_t)i;
    CHECK_EQUAL(shape->contiguous, straight);
    for (size_t i = 1; straight && i < m->bytes; i++)
        CHECK_EQUAL(p->layout->runs, 1);
}

static void check_pack(struct scene *s, unsigned message)
{
    struct type_cursor cursor, saved;
    unsigned char *packed = malloc(s->bytes + 1);
    fill(s->arena, s->room, message);
    vtype_cursor_start(&cursor, &s->buffer);
    saved = cursor;
    for (size_t done = 0; done < s->bytes;) {
        uint64_t room = 1 + any(any(2) ? 20 : s->bytes), part = vtype_pack(&cursor, packed + done, room);
        CHECK_EQUAL(part, room < s->bytes - done ? room : s->bytes - done);
        done += part;
        CHECK_EQUAL(cursor.position, done);
    }
    CHECK_EQUAL(vtype_pack(&cursor, packed, 1), 0);
    for (size_t i = 0; i < s->bytes; i++)
        CHECK(packed[i] == s->base[s->offset[i]]);
    for (int k = 0; k < 8; k++) { /* anywhere, from a cursor that was anywhere */
        uint64_t at = any(s->bytes + 2), room = any(s->bytes + 2);
        vtype_cursor_seek(&saved, at);
        uint64_t left = at < s->bytes ? s->bytes - at : 0, part = vtype_pack(&saved, packed, room);
        CHECK_EQUAL(part, room < left ? room : left);
        for (uint64_t i = 0; i < part; i++)
            CHECK(packed[i] == s->base[s->offset[at + i]]);
    }
    free(packed);
}

/* The arena after the first BYTES of the stream were written there, in order. */
static void check_arena(struct scene *s, unsigned message, const unsigned char *stream, size_t bytes)
{
    unsigned char *expected = malloc(s->room);
    fill(expected, s->room, message);
    for (size_t i = 0; i < bytes; i++)
        expected[(s->base - s->arena) + s->offset[i]] = stream[i];
    CHECK(memcmp(expected, s->arena, s->room) == 0);
    free(expected);
}

static void check_unpack(struct scene *s, unsigned message)
{
    struct type_cursor cursor;
    unsigned char *packed = malloc(s->bytes + 1);
    fill(packed, s->bytes, message + 1);
    fill(s->arena, s->room, message);
    vtype_cursor_start(&cursor, &s->buffer);
    for (size_t done = 0; done < s->bytes;) {
        done += vtype_unpack(&cursor, packed + done, 1 + any(any(2) ? 20 : s->bytes));
        if (any(4) == 0)
            vtype_cursor_seek(&cursor, done); /* where it is already */
        CHECK(done <= s->bytes);
    }
    check_arena(s, message, packed, s->bytes);
    free(packed);
}

static void check_gather(struct scene *s)
{
    struct type_cursor cursor;
    struct iovec piece[8];
    int pieces, limit = 1 + (int)any(8);
    vtype_cursor_start(&cursor, &s->buffer);
    for (size_t done = 0; done < s->bytes;) {
        uint64_t want = 1 + any(s->bytes), got = vtype_gather(&cursor, piece, limit, want, &pieces), sum = 0;
        CHECK(got > 0 && got <= want && pieces <= limit);
        CHECK(got == want || got == s->bytes - done || pieces == limit);
        for (int k = 0; k < pieces; k++) {
            unsigned char *at = piece[k].iov_base;
            CHECK(k == 0 || at != (unsigned char *)piece[k - 1].iov_base + piece[k - 1].iov_len);
            for (size_t i = 0; i < piece[k].iov_len; i++)
                CHECK(at + i == s->base + s->offset[done + sum + i]);
            sum += piece[k].iov_len;
        }
        CHECK_EQUAL(sum, got);
        done += got;
        CHECK_EQUAL(cursor.position, done);
    }
    CHECK_EQUAL(vtype_gather(&cursor, piece, limit, 1, &pieces), 0);
    CHECK_EQUAL(pieces, 0);
}

static void check_copy(struct scene *to, struct scene *from, unsigned message)
{
    struct type_cursor target, source;
    size_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;
    unsigned char *stream = malloc(bytes + 1);
    fill(from->arena, from->room, message + 1);
    fill(to->arena, to->room, message);
    for (size_t i = 0; i < bytes; i++)
        stream[i] = from->base[from->offset[i]];
    vtype_cursor_start(&target, &to->buffer);
    vtype_cursor_start(&source, &from->buffer);
    for (size_t done = 0; done < bytes;) {
        uint64_t want = 1 + any(any(2) ? 30 : 2 * bytes), part = vtype_copy(&target, &source, want);
        CHECK_EQUAL(part, want < bytes - done ? want : bytes - done);
        done += part;
        CHECK(target.position == done && source.position == done);
    }
    check_arena(to, message, stream, bytes);
    free(stream);
}

int main(void)
{
    for (unsigned round = 0; round < 20000; round++) {
        struct scene a, b;
        scene_open(&a, 1 + (int)any(5));
        scene_open(&b, 1 + (int)any(3));
        check_shape(&a.pair);
        check_pack(&a, round);
        check_unpack(&a, round);
        check_gather(&a);
        check_copy(&a, &b, round);
        check_copy(&b, &a, round);
        scene_close(&a);
        scene_close(&b);
        if (check_failed) {
            fprintf(stderr, "in round %u\n", round);
            break;
        }
    }
    return check_done();
}
