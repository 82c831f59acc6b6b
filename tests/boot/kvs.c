/* The key-value space against an array: random puts, gets and removals. */
#include "boot/kvs.h"
#include "check.h"

#define KEYS 300

int main(void)
{
    struct boot_kvs kvs = {0};
    int model[KEYS] = {0};
    unsigned long long state = 1234567;
    for (int round = 1; round < 50000; round++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        int at = (int)(state >> 33) % KEYS, what = (int)(state >> 60);
        char key[16], value[16];
        snprintf(key, sizeof key, "key-%d", at);
        snprintf(value, sizeof value, "%d", round);
        if (what < 8) {
            CHECK_EQUAL(vboot_kvs_put(&kvs, key, value), 0);
            model[at] = round;
        } else if (what < 11) {
            CHECK_EQUAL(vboot_kvs_put(&kvs, key, NULL), 0);
            model[at] = 0;
        }
        const char *found = vboot_kvs_get(&kvs, key);
        CHECK_EQUAL(found ? atoi(found) : 0, model[at]);
    }
    vboot_kvs_close(&kvs);
    CHECK(vboot_kvs_get(&kvs, "key-1") == NULL);
    return check_done();
}
