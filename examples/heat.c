/* Heat spreads over a square plate, cut into one block per rank.   mpiexec -n 4 ./heat [PICTURE.ppm [POINTS [STEPS]]]
 *
 * Each step a point becomes the mean of its four neighbours; some spots are kept hot or cold. The ranks form a
 * Cartesian grid; before each step neighbours exchange the edges of their blocks, rows as they lie in memory and
 * columns by a vector datatype. In the end rank 0 collects the plate, computes the same alone, compares, and paints
 * it. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FREE 1e9 /* in `kept`: this point is computed */

struct block { /* a rectangle of the plate with a border of one point, which belongs to the neighbours */
    int row, column;   /* of its first point in the plate */
    int rows, columns; /* without the border */
    double *now, *next, *kept;
};

static double *at(const struct block *b, double *grid, int row, int column)
{
    return grid + (size_t)(row + 1) * (size_t)(b->columns + 2) + (size_t)(column + 1);
}

/* What holds the point at (x, y) of the unit square at a temperature, or FREE. */
static double held(double x, double y)
{
    if (hypot(x - 0.30, y - 0.35) < 0.07 || hypot(x - 0.72, y - 0.64) < 0.10)
        return 1.0;
    if (fabs(x - 0.55) < 0.015 && y > 0.10 && y < 0.50)
        return 0.0;
    return y > 0.97 && x > 0.15 && x < 0.45 ? 0.8 : FREE;
}

static void block_make(struct block *b, int row, int rows, int column, int columns, int points)
{
    size_t cells = (size_t)(rows + 2) * (size_t)(columns + 2);
    *b = (struct block){.row = row, .rows = rows, .column = column, .columns = columns};
    b->now = calloc(cells, sizeof(double));
    b->next = calloc(cells, sizeof(double));
    b->kept = malloc(cells * sizeof(double));
    if (!b->now || !b->next || !b->kept) {
        fprintf(stderr, "heat: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            double t = held((column + c + 0.5) / points, (row + r + 0.5) / points);
            *at(b, b->kept, r, c) = t;
            *at(b, b->now, r, c) = t == FREE ? 0.25 : t;
        }
}

static void block_free(struct block *b)
{
    free(b->now);
    free(b->next);
    free(b->kept);
}

/* One step. Returns the largest change of any point. */
static double block_step(struct block *b)
{
    double change = 0;
    size_t line = (size_t)b->columns + 2;
    for (int r = 0; r < b->rows; r++) {
        const double *old = at(b, b->now, r, 0), *kept = at(b, b->kept, r, 0);
        double *new = at(b, b->next, r, 0);
        for (int c = 0; c < b->columns; c++) {
            double mean = 0.25 * ((old[c - (int)line] + old[c + (int)line]) + (old[c - 1] + old[c + 1]));
            double value = kept[c] == FREE ? mean : kept[c], step = fabs(value - old[c]);
            new[c] = value;
            change = step > change ? step : change;
        }
    }
    double *swap = b->now;
    b->now = b->next;
    b->next = swap;
    return change;
}

static void exchange_edges(struct block *b, MPI_Comm grid, const int neighbour[4], MPI_Datatype column)
{
    MPI_Request request[8];
    enum { UP, DOWN, LEFT, RIGHT };
    double *g = b->now;
    MPI_Irecv(at(b, g, -1, 0), b->columns, MPI_DOUBLE, neighbour[UP], DOWN, grid, &request[0]);
    MPI_Irecv(at(b, g, b->rows, 0), b->columns, MPI_DOUBLE, neighbour[DOWN], UP, grid, &request[1]);
    MPI_Irecv(at(b, g, 0, -1), 1, column, neighbour[LEFT], RIGHT, grid, &request[2]);
    MPI_Irecv(at(b, g, 0, b->columns), 1, column, neighbour[RIGHT], LEFT, grid, &request[3]);
    MPI_Isend(at(b, g, 0, 0), b->columns, MPI_DOUBLE, neighbour[UP], UP, grid, &request[4]);
    MPI_Isend(at(b, g, b->rows - 1, 0), b->columns, MPI_DOUBLE, neighbour[DOWN], DOWN, grid, &request[5]);
    MPI_Isend(at(b, g, 0, 0), 1, column, neighbour[LEFT], LEFT, grid, &request[6]);
    MPI_Isend(at(b, g, 0, b->columns - 1), 1, column, neighbour[RIGHT], RIGHT, grid, &request[7]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
}

static int share_first(int points, int parts, int part) { return (int)((long long)points * part / parts); }

static void show_progress(int step, int steps, double change, double start)
{
    int tenths = 30 * step / steps;
    printf("\r  [%.*s%*s] step %d of %d, largest change %.1e, %.1f s ", tenths, "##############################",
           30 - tenths, "", step, steps, change, MPI_Wtime() - start);
    if (step == steps)
        printf("\n");
    fflush(stdout);
}

/* All blocks to rank 0, into the block WHOLE: it knows from the coordinates of a rank where its block lies. */
static void collect(struct block *mine, struct block *whole, MPI_Comm grid, const int parts[2], int points)
{
    int rank, size, place[2];
    MPI_Datatype part;
    MPI_Request sent;
    MPI_Comm_rank(grid, &rank);
    MPI_Comm_size(grid, &size);
    MPI_Type_vector(mine->rows, mine->columns, mine->columns + 2, MPI_DOUBLE, &part);
    MPI_Type_commit(&part);
    MPI_Isend(at(mine, mine->now, 0, 0), 1, part, 0, 9, grid, &sent);
    for (int from = 0; rank == 0 && from < size; from++) {
        MPI_Datatype there;
        MPI_Cart_coords(grid, from, 2, place);
        int row = share_first(points, parts[0], place[0]), rows = share_first(points, parts[0], place[0] + 1) - row;
        int column = share_first(points, parts[1], place[1]);
        int columns = share_first(points, parts[1], place[1] + 1) - column;
        MPI_Type_vector(rows, columns, points + 2, MPI_DOUBLE, &there);
        MPI_Type_commit(&there);
        MPI_Recv(at(whole, whole->now, row, column), 1, there, from, 9, grid, MPI_STATUS_IGNORE);
        MPI_Type_free(&there);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&part);
}

static double largest_difference(struct block *a, struct block *b)
{
    double worst = 0;
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < a->columns; c++) {
            double difference = fabs(*at(a, a->now, r, c) - *at(b, b->now, r, c));
            worst = difference > worst || isnan(difference) ? difference : worst;
        }
    return worst;
}

/* Black, red, yellow, white, with a thin line where a tenth is passed. */
static int paint(struct block *b, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "P6\n%d %d\n255\n", b->columns, b->rows);
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->columns; c++) {
            double t = *at(b, b->now, r, c), right = *at(b, b->now, r, c + 1), below = *at(b, b->now, r + 1, c);
            double shade = floor(t * 10) != floor(right * 10) || floor(t * 10) != floor(below * 10) ? 0.7 : 1.0;
            for (int colour = 0; colour < 3; colour++) {
                double light = 3 * t - colour;
                light = light < 0 ? 0 : light > 1 ? 1 : light;
                fputc((int)(255 * light * shade), file);
            }
        }
    return fclose(file) != 0;
}

static int check_and_paint(struct block *result, int points, int steps, const char *picture)
{
    struct block alone;
    block_make(&alone, 0, points, 0, points, points);
    double start = MPI_Wtime();
    for (int step = 0; step < steps; step++)
        block_step(&alone);
    double worst = largest_difference(result, &alone);
    int right = worst <= 1e-12; /* the arithmetic is the same, so it is 0 where the compiler does not fuse operations */
    printf("  one rank alone: %.2f s; largest difference to its answer: %g, %s\n", MPI_Wtime() - start, worst,
           right ? "right" : "WRONG");
    block_free(&alone);
    if (right && picture && paint(result, picture) == 0)
        printf("  the plate is painted in %s\n", picture);
    return !right;
}

int main(int argc, char **argv)
{
    int rank, size, parts[2] = {0, 0}, place[2], neighbour[4], wrong = 0;
    MPI_Comm grid;
    MPI_Datatype column;
    struct block mine, whole = {0};
    MPI_Init(&argc, &argv);
    int points = argc > 2 ? atoi(argv[2]) : 512, steps = argc > 3 ? atoi(argv[3]) : 3000;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, parts);
    MPI_Cart_create(MPI_COMM_WORLD, 2, parts, (int[]){0, 0}, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    MPI_Cart_shift(grid, 0, 1, &neighbour[0], &neighbour[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbour[2], &neighbour[3]);
    if (points < parts[0] || points < parts[1] || steps < 1) {
        if (rank == 0)
            fprintf(stderr, "heat: %d points and %d steps are too few for %d ranks\n", points, steps, size);
        MPI_Finalize();
        return 1;
    }
    int row = share_first(points, parts[0], place[0]), first = share_first(points, parts[1], place[1]);
    block_make(&mine, row, share_first(points, parts[0], place[0] + 1) - row, first,
               share_first(points, parts[1], place[1] + 1) - first, points);
    MPI_Type_vector(mine.rows, 1, mine.columns + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        printf("  %d x %d points in %d x %d blocks\n", points, points, parts[0], parts[1]);

    MPI_Barrier(grid);
    double start = MPI_Wtime();
    for (int step = 1; step <= steps; step++) {
        exchange_edges(&mine, grid, neighbour, column);
        double change = block_step(&mine), largest;
        if (step % (steps / 30 + 1) == 0 || step == steps) {
            MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
            if (rank == 0)
                show_progress(step, steps, largest, start);
        }
    }
    if (rank == 0)
        block_make(&whole, 0, points, 0, points, points);
    collect(&mine, &whole, grid, parts, points);
    if (rank == 0) {
        wrong = check_and_paint(&whole, points, steps, argc > 1 ? argv[1] : NULL);
        block_free(&whole);
    }
    block_free(&mine);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong;
}
