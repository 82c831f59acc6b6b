/* A token goes round a ring of ranks; each adds its number, and rank 0 checks the sum. Then the ranks find the largest
 * difference of their clocks' readings, and one big array is sent in pieces and received whole.
 *
 *   mpicc -o mplite_ring mplite_ring.c -lviaduct && mpiexec -n 4 ./mplite_ring */
#include <mplite.h>
#include <stdio.h>
#include <stdlib.h>

#define LONG 100000

int main(int argc, char **argv)
{
    int nprocs, myproc;
    MP_Init(&argc, &argv);
    MP_Nprocs(&nprocs);
    MP_Myproc(&myproc);
    int next = (myproc + 1) % nprocs, previous = (myproc + nprocs - 1) % nprocs, token = 0, id;

    /* Started before the send, so that one rank alone can send to itself. */
    double start = MP_Time();
    MP_iARecv(&token, 1, previous, 1, &id);
    if (myproc == 0) {
        int zero = 0;
        MP_iSend(&zero, 1, next, 1);
    }
    MP_Wait(&id);
    token += myproc;
    if (myproc != 0)
        MP_iSend(&token, 1, next, 1);
    else if (token != nprocs * (nprocs - 1) / 2)
        MP_Bedlam("the token lost something on its way");

    double longest = MP_Time() - start;
    MP_dMax(&longest, 1);
    if (myproc == 0)
        printf("%d ranks, the token came back as %d after %.1f us\n", nprocs, token, longest * 1e6);

    /* Ten messages, one receive: it returns when all of its bytes have come. */
    double *array = malloc(LONG * sizeof *array);
    if (myproc == 0)
        for (int i = 0; i < LONG; i++)
            array[i] = i;
    if (myproc == 0 && nprocs > 1)
        for (int part = 0; part < 10; part++)
            MP_dSend(array + part * (LONG / 10), LONG / 10, 1, 2);
    if (myproc == 1)
        MP_dRecv(array, LONG, 0, 2);
    double sum = 0;
    for (int i = 0; myproc < 2 && i < LONG; i++)
        sum += array[i];
    MP_dSum(&sum, 1);
    if (myproc == 0)
        printf("the sum of what two ranks hold is %.0f\n", sum);
    free(array);
    MP_Finalize();
    return 0;
}
