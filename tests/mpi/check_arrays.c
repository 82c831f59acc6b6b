/* With VIADUCT_CHECK nothing behind the end of an array of counts is read: of an intercommunicator it has as many as the
 * other group has members.
 * ranks: 4 presets: release */
#include "two_groups.h"
#include <sys/mman.h>

/* COUNT numbers at the end of a page, behind which nothing may be read. */
static int *numbers_at_end(int count)
{
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    return (int *)(void *)(pages + 4096) - count;
}

int main(void)
{
    int got[4];
    MPI_Request request;
    setenv("VIADUCT_CHECK", "1", 1);
    check_init();
    two_groups_open(3, 1);
    int *counts = numbers_at_end(theirs), *places = numbers_at_end(theirs);
    for (int i = 0; i < theirs; i++)
        counts[i] = 1, places[i] = i;
    CHECK_OK(MPI_Allgatherv(&me, 1, MPI_INT, got, counts, places, MPI_INT, inter));
    CHECK_EQUAL(got[theirs - 1], theirs - 1);
    CHECK_OK(MPI_Iallgatherv(&me, 1, MPI_INT, got, counts, places, MPI_INT, inter, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    two_groups_close();
    return check_finalize();
}
