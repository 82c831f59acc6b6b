/* A growing buffer: what is added comes out in order; nothing may be dropped from one that has no memory yet. */
#include "check.h"
#include "run/bytes.c"

int main(void)
{
    struct run_bytes bytes = {0};
    bytes_drop(&bytes, 0);
    bytes_add(&bytes, NULL, 0);
    CHECK_EQUAL(bytes.length, 0);
    for (int i = 0; i < 1000; i++)
        bytes_add(&bytes, &i, sizeof i);
    bytes_drop(&bytes, 998 * sizeof(int));
    CHECK_EQUAL(bytes.length, 2 * sizeof(int));
    CHECK_EQUAL(((int *)(void *)bytes.data)[0], 998);
    bytes_drop(&bytes, 2 * sizeof(int));
    CHECK_EQUAL(bytes.length, 0);
    free(bytes.data);
    return check_done();
}
