/* Groups: sets of ranks in an order. ranks: 1 2 3 5 6 8 */
#include "mpi_check.h"

static void expect(MPI_Group group, int n, const int *world_ranks)
{
    MPI_Group world;
    int count = -1, ranks[16], translated[16];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &count);
    CHECK_EQUAL(count, n);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, n, ranks, world, translated));
    for (int i = 0; i < n; i++)
        CHECK_EQUAL(translated[i], world_ranks[i]);
    MPI_Group_free(&world);
}

static void sets(MPI_Group world)
{
    MPI_Group a, b, c, d;
    int result, me;
    MPI_Group_incl(world, 4, (int[]){3, 1, 0, 5}, &a);
    MPI_Group_incl(world, 3, (int[]){5, 2, 3}, &b);
    expect(a, 4, (int[]){3, 1, 0, 5});
    MPI_Group_union(a, b, &c);
    expect(c, 5, (int[]){3, 1, 0, 5, 2});
    MPI_Group_rank(c, &me);
    CHECK_EQUAL(me, ((int[]){2, 1, 4, 0, MPI_UNDEFINED, 3})[rank]);
    MPI_Group_free(&c);
    MPI_Group_intersection(a, b, &c);
    expect(c, 2, (int[]){3, 5});
    MPI_Group_free(&c);
    MPI_Group_difference(a, b, &c);
    expect(c, 2, (int[]){1, 0});
    MPI_Group_excl(a, 2, (int[]){0, 3}, &d);
    expect(d, 2, (int[]){1, 0});
    MPI_Group_compare(c, d, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_free(&d);
    MPI_Group_incl(a, 2, (int[]){2, 1}, &d);
    MPI_Group_compare(c, d, &result);
    CHECK_EQUAL(result, MPI_SIMILAR);
    MPI_Group_compare(a, d, &result);
    CHECK_EQUAL(result, MPI_UNEQUAL);
    MPI_Group_free(&d);
    int ranges[2][3] = {{5, 1, -2}, {0, 4, 4}};
    MPI_Group_range_incl(world, 2, ranges, &d);
    expect(d, 5, (int[]){5, 3, 1, 0, 4});
    MPI_Group_free(&d);
    MPI_Group_range_excl(world, 2, ranges, &d);
    expect(d, 1, (int[]){2});
    int out[2];
    MPI_Group_translate_ranks(a, 2, (int[]){0, 1}, b, out);
    CHECK_EQUAL(out[0], 2);
    CHECK_EQUAL(out[1], MPI_UNDEFINED);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&c);
    MPI_Group_free(&d);
}

int main(void)
{
    MPI_Group world, empty, self;
    int n, result;
    check_init();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &n);
    CHECK_EQUAL(n, size);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    expect(self, 1, &rank);
    MPI_Group_difference(world, world, &empty);
    MPI_Group_compare(empty, MPI_GROUP_EMPTY, &result);
    CHECK_EQUAL(result, MPI_IDENT);
    MPI_Group_rank(MPI_GROUP_EMPTY, &n);
    CHECK_EQUAL(n, MPI_UNDEFINED);
    if (size == 6)
        sets(world);
    MPI_Group_free(&self);
    MPI_Group_free(&empty);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    return check_finalize();
}
