/* MPI_Type_create_darray against the definition, element by element: every way to distribute, both orders, parts that do
 * not come out even, more processes than blocks. Together the processes have every element once. ranks: 1 */
#include "mpi_check.h"

#define MOST 4096
static int owner(int way, int argument, int whole, int processes, int at)
{
    int block = way == MPI_DISTRIBUTE_NONE                  ? whole
                : argument != MPI_DISTRIBUTE_DFLT_DARG      ? argument
                : way == MPI_DISTRIBUTE_BLOCK               ? (whole + processes - 1) / processes
                                                            : 1;
    return at / block % processes;
}

/* An array of 3 dimensions; the numbers of RANK's elements, in the order of memory. */
struct shape {
    int sizes[3], ways[3], arguments[3], processes[3], order;
};

static int expected(const struct shape *s, int of, int numbers[MOST])
{
    int place[3] = {of / (s->processes[1] * s->processes[2]), of / s->processes[2] % s->processes[1],
                    of % s->processes[2]};
    int count = 0, total = s->sizes[0] * s->sizes[1] * s->sizes[2];
    for (int number = 0; number < total; number++) {
        int at[3], rest = number, mine = 1;
        for (int i = 0; i < 3; i++) {
            int d = s->order == MPI_ORDER_C ? 2 - i : i;
            at[d] = rest % s->sizes[d];
            rest /= s->sizes[d];
        }
        for (int d = 0; d < 3; d++)
            mine &= owner(s->ways[d], s->arguments[d], s->sizes[d], s->processes[d], at[d]) == place[d];
        if (mine)
            numbers[count++] = number;
    }
    return count;
}

static void check_shape(const struct shape *s)
{
    static int array[MOST], packed[MOST], numbers[MOST];
    int processes = s->processes[0] * s->processes[1] * s->processes[2], all = 0;
    int total = s->sizes[0] * s->sizes[1] * s->sizes[2];
    for (int i = 0; i < total; i++)
        array[i] = i;
    for (int of = 0; of < processes; of++) {
        MPI_Datatype type;
        MPI_Aint lb, extent;
        int bytes, position = 0, count = expected(s, of, numbers);
        CHECK_OK(MPI_Type_create_darray(processes, of, 3, s->sizes, s->ways, s->arguments, s->processes, s->order,
                                        MPI_INT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        MPI_Type_get_extent(type, &lb, &extent);
        MPI_Type_size(type, &bytes);
        CHECK_EQUAL(lb, 0);
        CHECK_EQUAL(extent, total * (int)sizeof(int));
        CHECK_EQUAL(bytes, count * (int)sizeof(int));
        CHECK_OK(MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF));
        for (int i = 0; i < count; i++)
            if (packed[i] != numbers[i]) {
                CHECK_EQUAL(packed[i], numbers[i]);
                break;
            }
        all += count;
        MPI_Type_free(&type);
    }
    CHECK_EQUAL(all, total);
}

static void check_contents(void)
{
    int sizes[] = {7, 5}, ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, processes[] = {2, 3};
    int arguments[] = {4, MPI_DISTRIBUTE_DFLT_DARG}, combiner, counts[3], integers[12];
    const int want[12] = {6, 3, 2, 7, 5, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, 4, MPI_DISTRIBUTE_DFLT_DARG, 2, 3,
                          MPI_ORDER_FORTRAN};
    MPI_Datatype type, inner;
    MPI_Aint none;
    CHECK_OK(MPI_Type_create_darray(6, 3, 2, sizes, ways, arguments, processes, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type));
    CHECK_OK(MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner));
    CHECK_EQUAL(combiner, MPI_COMBINER_DARRAY);
    CHECK_EQUAL(counts[0], 12);
    CHECK_OK(MPI_Type_get_contents(type, 12, 0, 1, integers, &none, &inner));
    CHECK(memcmp(integers, want, sizeof want) == 0 && inner == MPI_DOUBLE);
    MPI_Type_free(&type);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    processes[0] = 4;
    CHECK_CLASS(MPI_Type_create_darray(6, 3, 2, sizes, ways, arguments, processes, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    processes[0] = 2, arguments[0] = 3; /* 2 blocks of 3 do not hold 7 */
    CHECK_CLASS(MPI_Type_create_darray(6, 3, 2, sizes, ways, arguments, processes, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
}

int main(void)
{
    check_init();
    static const int ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    static const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                for (int order = 0; order < 2; order++)
                    check_shape(&(struct shape){{7, 5, 9}, {ways[a], ways[b], ways[c]},
                                                {arguments[a], arguments[b], arguments[c]},
                                                {a < 3 ? 3 : 1, b < 3 ? 2 : 1, c < 3 ? 4 : 1},
                                                order ? MPI_ORDER_C : MPI_ORDER_FORTRAN});
    check_contents();
    return check_finalize();
}
