/* Two ranks take turns by a byte in the other's fifo, so that nobody polls for nothing where instructions are counted. */
#include <stdlib.h>
#include <unistd.h>

static int mine, theirs;

static void turn_is_yours(void)
{
    if (write(theirs, "", 1) != 1)
        exit(1);
}

static void await_turn(void)
{
    char byte;
    if (read(mine, &byte, 1) != 1)
        exit(1);
}
