/* The six calls of Madeleine II and its flags, over viaduct.h: for programs that were written for them. Errors end the
 * program with a sentence, as these calls have no way to return one. See madeleine(3). */
#ifndef MADELEINE_H
#define MADELEINE_H

#include "viaduct.h"
#include <stdio.h>
#include <stdlib.h>

typedef vd_channel *p_mad_channel_t;
typedef vd_connection *p_mad_connection_t;
typedef vd_send_mode mad_send_mode_t;
typedef vd_receive_mode mad_receive_mode_t;

#define send_CHEAPER VD_SEND_CHEAPER
#define send_SAFER VD_SEND_SAFER
#define send_LATER VD_SEND_LATER
#define receive_CHEAPER VD_RECEIVE_CHEAPER
#define receive_EXPRESS VD_RECEIVE_EXPRESS

static inline void mad_check(const char *call, int code)
{
    if (code == VD_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, vd_error_text(code));
    exit(1);
}

static inline p_mad_connection_t mad_begin_packing(p_mad_channel_t channel, int remote)
{
    p_mad_connection_t connection = vd_begin_packing(channel, remote);
    mad_check("mad_begin_packing", connection ? VD_OK : vd_error());
    return connection;
}

static inline void mad_pack(p_mad_connection_t connection, const void *data, size_t length, mad_send_mode_t send,
                            mad_receive_mode_t receive)
{
    mad_check("mad_pack", vd_pack(connection, data, length, send, receive));
}

static inline void mad_end_packing(p_mad_connection_t connection)
{
    mad_check("mad_end_packing", vd_end_packing(connection));
}

static inline p_mad_connection_t mad_begin_unpacking(p_mad_channel_t channel)
{
    p_mad_connection_t connection = vd_begin_unpacking(channel);
    mad_check("mad_begin_unpacking", connection ? VD_OK : vd_error());
    return connection;
}

static inline void mad_unpack(p_mad_connection_t connection, void *data, size_t length, mad_send_mode_t send,
                              mad_receive_mode_t receive)
{
    mad_check("mad_unpack", vd_unpack(connection, data, length, send, receive));
}

static inline void mad_end_unpacking(p_mad_connection_t connection)
{
    mad_check("mad_end_unpacking", vd_end_unpacking(connection));
}

#endif
