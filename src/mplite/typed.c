/* mplite: the typed names of the message functions. Each is its byte-wise sister with the count turned into bytes. */
#include "lite.h"
#include "mplite.h"

/* COUNT elements of SIZE bytes, for the functions that count bytes. */
static long bytes_of(const char *call, long count, size_t size) { return (long)vmplite_bytes(call, count, size); }

#define SEND(name, type, sister)                                                                                       \
    NAMED(name, (const void *data, long count, int dest, int tag),                                                  \
             sister(data, bytes_of(#name, count, sizeof(type)), dest, tag))
OF_NUMBERS(MP_dSend, MP_iSend, MP_fSend, SEND, MP_Send)
OF_NUMBERS(MP_dSSend, MP_iSSend, MP_fSSend, SEND, MP_SSend)

#define RECEIVE(name, type, sister)                                                                                    \
    NAMED(name, (void *data, long count, int source, int tag),                                                      \
             sister(data, bytes_of(#name, count, sizeof(type)), source, tag))
OF_NUMBERS(MP_dRecv, MP_iRecv, MP_fRecv, RECEIVE, MP_Recv)

#define SEND_LATER(name, type, sister)                                                                                 \
    NAMED(name, (const void *data, long count, int dest, int tag, int *id),                                         \
             sister(data, bytes_of(#name, count, sizeof(type)), dest, tag, id))
OF_NUMBERS(MP_dASend, MP_iASend, MP_fASend, SEND_LATER, MP_ASend)

#define RECEIVE_LATER(name, type, sister)                                                                              \
    NAMED(name, (void *data, long count, int source, int tag, int *id),                                             \
             sister(data, bytes_of(#name, count, sizeof(type)), source, tag, id))
OF_NUMBERS(MP_dARecv, MP_iARecv, MP_fARecv, RECEIVE_LATER, MP_ARecv)
