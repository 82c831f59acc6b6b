/* Arrays of C structs with holes: many records packed, unpacked and copied, from anywhere, in order, and when they
 * overlap. */
#include "check.h"
#include "type/layout.h"

#define RECORDS 1000

struct record {
    int32_t number;
    double value;
    char pad, name[3];
};

static struct type_layout *describe(int64_t extent)
{
    struct type_layout *i, *d, *c, *fields, *layout;
    CHECK_EQUAL(vtype_layout_bytes(4, 4, &i), 0);
    CHECK_EQUAL(vtype_layout_bytes(8, 8, &d), 0);
    CHECK_EQUAL(vtype_layout_bytes(1, 1, &c), 0);
    struct type_layout *of[] = {i, d, c};
    int64_t at[] = {offsetof(struct record, number), offsetof(struct record, value), offsetof(struct record, name)};
    CHECK_EQUAL(vtype_layout_struct(3, (uint64_t[]){1, 1, 3}, at, of, &fields), 0);
    CHECK_EQUAL(fields->shape.extent, sizeof(struct record));
    CHECK_EQUAL(vtype_layout_resized(0, extent, fields, &layout), 0);
    vtype_layout_drop(fields);
    vtype_layout_drop(i);
    vtype_layout_drop(d);
    vtype_layout_drop(c);
    return layout;
}

/* The place of byte K of the stream in the array. */
static size_t place(size_t k, int64_t extent)
{
    size_t in = k % 15;
    size_t field = in < 4 ? in : in < 12 ? offsetof(struct record, value) + in - 4 : offsetof(struct record, name) + in - 12;
    return (size_t)((int64_t)(k / 15) * extent) + field;
}

static void check(int64_t extent, unsigned char *array, size_t room)
{
    static unsigned char packed[RECORDS * 15], other[RECORDS * 24 + 64], want[RECORDS * 24 + 64];
    struct type_layout *layout = describe(extent);
    struct type_buffer buffer = {array, RECORDS, layout}, bytes = {packed, sizeof packed, NULL};
    struct type_cursor cursor, there;
    for (size_t cut = 0; cut < sizeof packed; cut += 997) {
        for (size_t i = 0; i < room; i++)
            array[i] = check_byte((unsigned)cut, i);
        memset(packed, 0, sizeof packed);
        vtype_cursor_start(&cursor, &buffer);
        vtype_cursor_start(&there, &bytes);
        CHECK_EQUAL(vtype_pack(&cursor, packed, cut), cut);
        vtype_cursor_seek(&there, cut);
        CHECK_EQUAL(vtype_copy(&there, &cursor, sizeof packed), sizeof packed - cut);
        CHECK_EQUAL(cursor.position, sizeof packed);
        for (size_t k = 0; k < sizeof packed; k++)
            CHECK(packed[k] == array[place(k, extent)]);

        memset(other, 0x77, sizeof other);
        memset(want, 0x77, sizeof want);
        buffer.base = other + 32;
        vtype_cursor_start(&cursor, &buffer);
        vtype_cursor_start(&there, &bytes);
        CHECK_EQUAL(vtype_copy(&cursor, &there, cut), cut);
        CHECK_EQUAL(there.position, cut);
        CHECK_EQUAL(vtype_unpack(&cursor, packed + cut, sizeof packed), sizeof packed - cut);
        for (size_t k = 0; k < sizeof packed; k++)
            want[32 + place(k, extent)] = packed[k];
        CHECK(memcmp(want, other, sizeof want) == 0);
        buffer.base = array;
    }
    vtype_layout_drop(layout);
}

int main(void)
{
    static unsigned char array[RECORDS * 24 + 64];
    check(sizeof(struct record), array, sizeof array);
    check(20, array, sizeof array); /* records that just touch */
    check(17, array, sizeof array); /* records that overlap */
    return check_done();
}
