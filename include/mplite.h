/* mplite: the small message-passing interface of MP_Lite, on Viaduct. Link with -lviaduct, start with mpiexec.
 *
 * Ranks are 0 to nprocs - 1, tags 0 to 2^31 - 1. A receive may ask for source -1 (any) and tag -1 (any). Counts are of
 * elements (d: double, i: int, f: float), bytes where no letter says otherwise, and 64 bits wide.
 *
 * A receive of n bytes returns when n bytes of its source and tag have come, in one message or in several. A message
 * that is longer than what is left to receive is an error. An error is one sentence on standard error, and the job
 * ends: so nothing here returns a code. See mplite(3). */
#ifndef MPLITE_H
#define MPLITE_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the job ---- */

void MP_Init(int *argc, char ***argv);
void MP_Finalize(void);
void MP_Nprocs(int *nprocs);
void MP_Myproc(int *myproc);
double MP_Time(void);               /* seconds, from some moment on */
void MP_Bedlam(const char *reason); /* ends the job at once: REASON is printed, the exit status is 1 */

/* ---- messages: bytes ---- */

void MP_Send(const void *data, long bytes, int dest, int tag);
void MP_Recv(void *data, long bytes, int source, int tag);
void MP_SSend(const void *data, long bytes, int dest, int tag); /* returns when the receiver has begun to receive */
void MP_SRecv(void *data, long bytes, int source, int tag);     /* the same as MP_Recv */
void MP_SShift(const void *out, int dest, void *in, int source, long bytes); /* send and receive at once */

/* Started here, finished by MP_Wait or an MP_Test that says so; until then the data are not touched. */
void MP_ASend(const void *data, long bytes, int dest, int tag, int *id);
void MP_ARecv(void *data, long bytes, int source, int tag, int *id);
void MP_Wait(int *id); /* *id becomes -1; waiting for -1 returns at once */
void MP_Block(int *id); /* the same as MP_Wait */
int MP_Test(int *id, int *flag);
int MP_Testall(int count, int *ids, int *flag); /* 1 when all are finished: then all ids become -1 */

/* Has a message of this source and tag come? With bytes not negative: one of at most so many. MP_Probe waits for it.
 * The MP_Get_Last functions tell of the last receive, MP_Wait of a receive, or probe that found something. */
int MP_AProbe(long bytes, int source, int tag, int *flag);
int MP_Probe(long bytes, int source, int tag);
void MP_Get_Last_Source(int *source);
void MP_Get_Last_Tag(int *tag);
void MP_Get_Last_Size(int *bytes);

/* ---- messages: doubles, ints, floats ---- */

void MP_dSend(const void *data, long count, int dest, int tag);
void MP_iSend(const void *data, long count, int dest, int tag);
void MP_fSend(const void *data, long count, int dest, int tag);
void MP_dRecv(void *data, long count, int source, int tag);
void MP_iRecv(void *data, long count, int source, int tag);
void MP_fRecv(void *data, long count, int source, int tag);
void MP_dSSend(const void *data, long count, int dest, int tag);
void MP_iSSend(const void *data, long count, int dest, int tag);
void MP_fSSend(const void *data, long count, int dest, int tag);
void MP_dASend(const void *data, long count, int dest, int tag, int *id);
void MP_iASend(const void *data, long count, int dest, int tag, int *id);
void MP_fASend(const void *data, long count, int dest, int tag, int *id);
void MP_dARecv(void *data, long count, int source, int tag, int *id);
void MP_iARecv(void *data, long count, int source, int tag, int *id);
void MP_fARecv(void *data, long count, int source, int tag, int *id);

/* ---- all ranks together: every rank calls, in the same order, with the same count ---- */

void MP_Sync(void);
void MP_Bcast(void *data, long bytes, int root);
void MP_dBcast(void *data, long count, int root);
void MP_iBcast(void *data, long count, int root);
void MP_fBcast(void *data, long count, int root);
void MP_Broadcast(void *data, long bytes); /* from rank 0 */
void MP_dBroadcast(void *data, long count);
void MP_iBroadcast(void *data, long count);
void MP_fBroadcast(void *data, long count);

/* Element by element over all ranks; every rank has the same result, bit by bit, in the place of its data. */
void MP_dSum(double *data, long count);
void MP_iSum(int *data, long count);
void MP_fSum(float *data, long count);
void MP_dMax(double *data, long count);
void MP_iMax(int *data, long count);
void MP_fMax(float *data, long count);
void MP_dMin(double *data, long count);
void MP_iMin(int *data, long count);
void MP_fMin(float *data, long count);

/* DATA has room for COUNT elements of every rank; the own ones lie at myproc * COUNT. Afterwards all are there. */
void MP_Gather(void *data, long bytes);
void MP_dGather(double *data, long count);
void MP_iGather(int *data, long count);
void MP_fGather(float *data, long count);

/* The same among the ranks whose mask[rank] is not 0: they alone call, all with the same mask. A gather counts places
 * among them. */
void MP_Bcast_masked(void *data, long bytes, int root, const int *mask);
void MP_dBcast_masked(void *data, long count, int root, const int *mask);
void MP_iBcast_masked(void *data, long count, int root, const int *mask);
void MP_fBcast_masked(void *data, long count, int root, const int *mask);
void MP_dSum_masked(double *data, long count, const int *mask);
void MP_iSum_masked(int *data, long count, const int *mask);
void MP_fSum_masked(float *data, long count, const int *mask);
void MP_dMax_masked(double *data, long count, const int *mask);
void MP_iMax_masked(int *data, long count, const int *mask);
void MP_fMax_masked(float *data, long count, const int *mask);
void MP_dMin_masked(double *data, long count, const int *mask);
void MP_iMin_masked(int *data, long count, const int *mask);
void MP_fMin_masked(float *data, long count, const int *mask);
void MP_Gather_masked(void *data, long bytes, const int *mask);
void MP_dGather_masked(double *data, long count, const int *mask);
void MP_iGather_masked(int *data, long count, const int *mask);
void MP_fGather_masked(float *data, long count, const int *mask);

/* ---- a grid of ranks, periodic; the first coordinate runs fastest ---- */

void MP_Cart_Create(int dimensions, int *dims); /* dims[0] == 0: chosen as equal as possible, and returned */
void MP_Cart_Coords(int rank, int *coords);
void MP_Cart_Get(int *dims, int *coords); /* the dims, and the own coordinates */
void MP_Cart_Shift(int direction, int distance, int *source, int *dest);
void MP_Cart_Rank(const int *coords, int *rank);

#ifdef __cplusplus
}
#endif
#endif
