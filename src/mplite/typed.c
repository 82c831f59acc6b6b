/* mplite: the typed names of the message functions. Each is its byte-wise sister with the count turned into bytes. */
#include "lite.h"
#include "mplite.h"

/* COUNT elements of SIZE bytes, for the functions that count bytes. */
static long bytes_of(const char *call, long count, size_t size) { return (long)vmplite_bytes(call, count, size); }

VEXPORT void MP_dSend(const void *data, long count, int dest, int tag)
{
    MP_Send(data, bytes_of("MP_dSend", count, sizeof(double)), dest, tag);
}

VEXPORT void MP_iSend(const void *data, long count, int dest, int tag)
{
    MP_Send(data, bytes_of("MP_iSend", count, sizeof(int)), dest, tag);
}

VEXPORT void MP_fSend(const void *data, long count, int dest, int tag)
{
    MP_Send(data, bytes_of("MP_fSend", count, sizeof(float)), dest, tag);
}

VEXPORT void MP_dRecv(void *data, long count, int source, int tag)
{
    MP_Recv(data, bytes_of("MP_dRecv", count, sizeof(double)), source, tag);
}

VEXPORT void MP_iRecv(void *data, long count, int source, int tag)
{
    MP_Recv(data, bytes_of("MP_iRecv", count, sizeof(int)), source, tag);
}

VEXPORT void MP_fRecv(void *data, long count, int source, int tag)
{
    MP_Recv(data, bytes_of("MP_fRecv", count, sizeof(float)), source, tag);
}

VEXPORT void MP_dSSend(const void *data, long count, int dest, int tag)
{
    MP_SSend(data, bytes_of("MP_dSSend", count, sizeof(double)), dest, tag);
}

VEXPORT void MP_iSSend(const void *data, long count, int dest, int tag)
{
    MP_SSend(data, bytes_of("MP_iSSend", count, sizeof(int)), dest, tag);
}

VEXPORT void MP_fSSend(const void *data, long count, int dest, int tag)
{
    MP_SSend(data, bytes_of("MP_fSSend", count, sizeof(float)), dest, tag);
}

VEXPORT void MP_dASend(const void *data, long count, int dest, int tag, int *id)
{
    MP_ASend(data, bytes_of("MP_dASend", count, sizeof(double)), dest, tag, id);
}

VEXPORT void MP_iASend(const void *data, long count, int dest, int tag, int *id)
{
    MP_ASend(data, bytes_of("MP_iASend", count, sizeof(int)), dest, tag, id);
}

VEXPORT void MP_fASend(const void *data, long count, int dest, int tag, int *id)
{
    MP_ASend(data, bytes_of("MP_fASend", count, sizeof(float)), dest, tag, id);
}

VEXPORT void MP_dARecv(void *data, long count, int source, int tag, int *id)
{
    MP_ARecv(data, bytes_of("MP_dARecv", count, sizeof(double)), source, tag, id);
}

VEXPORT void MP_iARecv(void *data, long count, int source, int tag, int *id)
{
    MP_ARecv(data, bytes_of("MP_iARecv", count, sizeof(int)), source, tag, id);
}

VEXPORT void MP_fARecv(void *data, long count, int source, int tag, int *id)
{
    MP_ARecv(data, bytes_of("MP_fARecv", count, sizeof(float)), source, tag, id);
}
