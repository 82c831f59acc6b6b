/* mplite: the typed names of the message functions. Each is its byte-wise sister with the count turned into bytes. */
#include "lite.h"
#include "mplite.h"

/* COUNT elements of SIZE bytes, for the functions that count bytes. */
static long bytes_of(const char *call, long count, size_t size) { return (long)vmplite_bytes(call, count, size); }

#define SEND(name, type, sister)                                                                                       \
    VEXPORT void name(const void *data, long count, int dest, int tag)                                                 \
    {                                                                                                                  \
        sister(data, bytes_of(#name, count, sizeof(type)), dest, tag);                                                 \
    }
SEND(MP_dSend, double, MP_Send)
SEND(MP_iSend, int, MP_Send)
SEND(MP_fSend, float, MP_Send)
SEND(MP_dSSend, double, MP_SSend)
SEND(MP_iSSend, int, MP_SSend)
SEND(MP_fSSend, float, MP_SSend)

#define RECEIVE(name, type, sister)                                                                                    \
    VEXPORT void name(void *data, long count, int source, int tag)                                                     \
    {                                                                                                                  \
        sister(data, bytes_of(#name, count, sizeof(type)), source, tag);                                               \
    }
RECEIVE(MP_dRecv, double, MP_Recv)
RECEIVE(MP_iRecv, int, MP_Recv)
RECEIVE(MP_fRecv, float, MP_Recv)

#define SEND_LATER(name, type, sister)                                                                                 \
    VEXPORT void name(const void *data, long count, int dest, int tag, int *id)                                        \
    {                                                                                                                  \
        sister(data, bytes_of(#name, count, sizeof(type)), dest, tag, id);                                             \
    }
SEND_LATER(MP_dASend, double, MP_ASend)
SEND_LATER(MP_iASend, int, MP_ASend)
SEND_LATER(MP_fASend, float, MP_ASend)

#define RECEIVE_LATER(name, type, sister)                                                                              \
    VEXPORT void name(void *data, long count, int source, int tag, int *id)                                            \
    {                                                                                                                  \
        sister(data, bytes_of(#name, count, sizeof(type)), source, tag, id);                                           \
    }
RECEIVE_LATER(MP_dARecv, double, MP_ARecv)
RECEIVE_LATER(MP_iARecv, int, MP_ARecv)
RECEIVE_LATER(MP_fARecv, float, MP_ARecv)
