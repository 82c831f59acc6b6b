/* A tree search whose work is stolen: all ways to put N queens on a board of N x N so that none attacks another.
 *
 *   mpicc -o steal steal.c -lviaduct && mpiexec -n 4 ./steal [N]
 *
 * A piece of work is a board with some rows set. Each rank takes the newest of its own pieces, and makes more of it or
 * counts. A rank without work calls `steal` at one rank after another and gets the oldest half of what is there. Rank 0
 * begins with the empty board. All is done when no more pieces have been made, over all ranks, than were done at the
 * look before; rank 0 looks when it has nothing to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <viaduct.h>

#define MOST 20000  /* pieces at one rank */
#define GRAIN 5     /* rows that are left when it is no longer worth sharing */

struct piece {
    int row;
    unsigned columns, left, right; /* attacked, of the next row */
};

static struct piece stack[MOST];
static int bottom, top, queens, finished;
static struct count {
    long made, done, solutions, stolen;
} count;

static void check(int code, const char *what)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "steal: %s: %s\n", what, vd_error_text(code));
    exit(1);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static long search(struct piece piece)
{
    long found = 0;
    unsigned free_places = ~(piece.columns | piece.left | piece.right) & ((1u << queens) - 1);
    if (piece.row == queens)
        return 1;
    while (free_places) {
        unsigned place = free_places & -free_places;
        free_places ^= place;
        found += search((struct piece){piece.row + 1, piece.columns | place, (piece.left | place) << 1,
                                       (piece.right | place) >> 1});
    }
    return found;
}

static void push(struct piece piece)
{
    if (top == MOST) {
        memmove(stack, stack + bottom, (size_t)(top - bottom) * sizeof *stack);
        top -= bottom;
        bottom = 0;
    }
    if (top == MOST)
        count.solutions += search(piece); /* no room: it is done here and now */
    else {
        stack[top++] = piece;
        count.made++;
    }
}

static void work(struct piece piece)
{
    if (queens - piece.row <= GRAIN) {
        count.solutions += search(piece);
    } else {
        unsigned free_places = ~(piece.columns | piece.left | piece.right) & ((1u << queens) - 1);
        for (; free_places; free_places &= free_places - 1) {
            unsigned place = free_places & -free_places;
            push((struct piece){piece.row + 1, piece.columns | place, (piece.left | place) << 1,
                                (piece.right | place) >> 1});
        }
    }
    count.done++;
}

/* ---- what others call -------------------------------------------------------------------------------------------- */

/* The oldest half: these are the largest pieces. */
static void handle_steal(vd_call *call, void *context)
{
    int give = (top - bottom + 1) / 2;
    (void)context;
    check(vd_pack(vd_rpc_reply(call), &give, sizeof give, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), "giving");
    check(vd_pack(vd_rpc_reply(call), stack + bottom, (size_t)give * sizeof *stack, VD_SEND_SAFER, VD_RECEIVE_CHEAPER),
          "giving");
    bottom += give;
}

static void handle_count(vd_call *call, void *context)
{
    (void)context;
    check(vd_pack(vd_rpc_reply(call), &count, sizeof count, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), "counting");
}

static void handle_finish(vd_call *call, void *context)
{
    (void)call, (void)context;
    finished = 1;
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

/* The reply, to be unpacked; NULL: there is none, and the call is over. */
static vd_connection *ask(int rank, const char *what, vd_call **call)
{
    vd_connection *reply;
    *call = vd_rpc_begin(rank, what, 0);
    check(*call ? VD_OK : vd_error(), what);
    check(vd_rpc_send(*call), what);
    check(vd_rpc_wait(*call, &reply), what);
    return reply;
}

static void steal_from(int rank)
{
    int got;
    vd_call *call;
    vd_connection *reply = ask(rank, "steal", &call);
    check(vd_unpack(reply, &got, sizeof got, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), "stealing");
    bottom = top = 0; /* there was nothing, and what runs meanwhile makes nothing */
    check(vd_unpack(reply, stack, (size_t)got * sizeof *stack, VD_SEND_SAFER, VD_RECEIVE_CHEAPER), "stealing");
    check(vd_rpc_end(call), "stealing");
    top = got;
    count.stolen += got;
}

static struct count count_all(void)
{
    struct count sum = {0, 0, 0, 0}, one;
    for (int rank = 0; rank < vd_size(); rank++) {
        vd_call *call;
        vd_connection *reply = ask(rank, "count", &call);
        check(vd_unpack(reply, &one, sizeof one, VD_SEND_SAFER, VD_RECEIVE_EXPRESS), "counting");
        check(vd_rpc_end(call), "counting");
        sum.made += one.made;
        sum.done += one.done;
        sum.solutions += one.solutions;
        sum.stolen += one.stolen;
    }
    return sum;
}

static void look_for_the_end(void)
{
    static struct count last = {-1, 0, 0, 0};
    struct count now = count_all();
    finished = now.made == last.done;
    last = now;
    for (int rank = 1; rank < vd_size() && finished; rank++) {
        vd_call *call = vd_rpc_begin(rank, "finish", VD_ONE_WAY);
        check(call ? VD_OK : vd_error(), "ending");
        check(vd_rpc_send(call), "ending");
    }
}

int main(int argc, char **argv)
{
    vd_channel *channel;
    queens = argc > 1 ? atoi(argv[1]) : 10;
    if (queens < 1 || queens > 18) {
        fprintf(stderr, "usage: steal [1 to 18]\n");
        return 1;
    }
    check(vd_init(), "starting");
    check(vd_rpc_start(0), "starting");
    check(vd_rpc_register("steal", handle_steal, NULL, VD_AT_ONCE), "steal");
    check(vd_rpc_register("count", handle_count, NULL, VD_AT_ONCE), "count");
    check(vd_rpc_register("finish", handle_finish, NULL, VD_AT_ONCE), "finish");
    check(vd_channel_open("all are here", NULL, &channel), "opening a channel");

    if (vd_rank() == 0)
        push((struct piece){0, 0, 0, 0});
    for (int victim = vd_rank(); !finished;) {
        while (bottom < top) {
            work(stack[--top]);
            vd_progress(); /* a thief may call */
        }
        victim = (victim + 1) % vd_size();
        if (victim != vd_rank() && !finished)
            steal_from(victim);
        else if (vd_rank() == 0)
            look_for_the_end();
        else
            vd_progress();
    }
    if (vd_rank() == 0) {
        struct count all = count_all();
        printf("%d queens, %d ranks: %ld ways, %ld pieces, %ld of them stolen\n", queens, vd_size(), all.solutions,
               all.done, all.stolen);
    }
    check(vd_finalize(), "ending");
    return 0;
}
