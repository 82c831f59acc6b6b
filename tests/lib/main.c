/* All tests of a room in one executable: build/tests/test-ROOM-NAME is a link to it, and its name chooses. In each source main is
 * renamed by the build (tests/CMakeLists.txt), which writes table.def. */
#include <stdio.h>
#include <string.h>

#define TEST_void(name, main) int main(void);
#define TEST_args(name, main) int main(int, char **);
#include "table.def"
#undef TEST_void
#undef TEST_args

static int unknown(const char *name)
{
    fprintf(stderr, "no test is named %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    (void)argc;
#define TEST_void(its_name, its_main) strcmp(name, its_name) == 0 ? its_main() :
#define TEST_args(its_name, its_main) strcmp(name, its_name) == 0 ? its_main(argc, argv) :
    return
#include "table.def"
        unknown(name);
}
