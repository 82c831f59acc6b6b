/* Shared memory of a peer that writes anything anywhere: the game of vi/hostile.c, its dice thrown by the input. */
#include "vi/inside.h"
#include "fuzz.h"
#define random_below fuzz_below
#define main hostile_main
int main(int argc, char **argv);
#include "vi/hostile.c"
#undef main

int FUZZ(const uint8_t *data, size_t size)
{
    static bool begun;
    if (!begun) {
        setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
        CHECK_EQUAL(vbase_settings_read(), OK);
        begun = true;
    }
    struct shm_segment s;
    struct vi *vi[2];
    fuzz_begin(data, size);
    inside_start(2);
    inside_open(0);
    inside_open(1);
    CHECK_EQUAL(shm_segment_open(inside.fd, 2, &s), OK);
    vi[0] = inside_connect(0, 1);
    vi[1] = inside_connect(1, 0);
    for (int n = 0; n < 1000 && !fuzz_over(); n++) {
        if (fuzz_below(3) == 0)
            scribble(&s);
        touch(vi[fuzz_below(2)]);
    }
    shm_segment_close(&s);
    inside_stop();
    if (check_failed)
        abort();
    return 0;
}
