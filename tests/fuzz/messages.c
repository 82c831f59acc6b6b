/* Frames of messages from peers that send anything, beside a program that sends, receives and cancels: the game of msg/wire.c,
 * its dice thrown by the input. Ranks of this node, and remote ones. The engine goes on from input to input, as in that test. */
#include "fuzz.h"
#include <stdlib.h>
static int fuzz_rand(void) { return (int)(fuzz_byte() << 8 | fuzz_byte()); }
static void fuzz_srand(unsigned seed) { (void)seed; }
#define rand fuzz_rand
#define srand fuzz_srand
#define main wire_main
#define WIRE_GAME_ENDS fuzz_over()
int main(int count, char **arguments);
#include "msg/wire.c"
#undef main

int FUZZ(const uint8_t *data, size_t size)
{
    static int begun;
    fuzz_begin(data, size);
    bool remote = fuzz_byte() % 2;
    if (!begun) {
        setenv("VIADUCT_LOG_FILE", "/dev/null", 1);
        world_begin(remote); /* what the first input says is for all of them: a process has one engine */
        begun = 1;
    }
    game(fuzz_byte());
    if (check_failed)
        abort();
    return 0;
}
