/* What we use of librdmacm.so.1, by which queue pairs of iWARP are connected: as ibverbs.h. Loaded where a device of
 * iWARP is. */
#pragma once

#include "vi/verbs/ibverbs.h"
#include <sys/socket.h>

#define RDMACM_LIBRARY "librdmacm.so.1"

enum { RDMACM_TCP = 0x0106 };
enum rdmacm_event_type {
    RDMACM_ADDR_RESOLVED,
    RDMACM_ROUTE_RESOLVED = 2,
    RDMACM_CONNECT_REQUEST = 4,
    RDMACM_ESTABLISHED = 9
};

struct rdmacm_channel {
    int fd;
};
struct rdmacm_id {
    struct ibverbs_context *verbs; /* of the library's own; NULL: not bound to a device */
    struct rdmacm_channel *channel;
    void *context;
    struct ibverbs_qp *qp;
    uint64_t route[39];
    uint32_t space;
    uint8_t port_num;
};
struct rdmacm_parameters { /* of a connection */
    const void *private_data;
    uint8_t private_data_len, responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count, srq;
    uint32_t qp_num;
};
struct rdmacm_event {
    struct rdmacm_id *id, *listen_id;
    uint32_t event;
    int status;
    struct rdmacm_parameters conn;
};

/* As IBVERBS_FUNCTIONS. */
#define RDMACM_FUNCTIONS(F)                                                                                            \
    F(rdma_create_event_channel, "1.0", struct rdmacm_channel *, (void))                                               \
    F(rdma_destroy_event_channel, "1.0", void, (struct rdmacm_channel *))                                              \
    F(rdma_create_id, "1.0", int, (struct rdmacm_channel *, struct rdmacm_id **, void *, uint32_t))                    \
    F(rdma_destroy_id, "1.0", int, (struct rdmacm_id *))                                                               \
    F(rdma_bind_addr, "1.0", int, (struct rdmacm_id *, struct sockaddr *))                                             \
    F(rdma_listen, "1.0", int, (struct rdmacm_id *, int))                                                              \
    F(rdma_get_src_port, "1.0", uint16_t, (struct rdmacm_id *))                                                        \
    F(rdma_resolve_addr, "1.0", int, (struct rdmacm_id *, struct sockaddr *, struct sockaddr *, int))                  \
    F(rdma_resolve_route, "1.0", int, (struct rdmacm_id *, int))                                                       \
    F(rdma_connect, "1.0", int, (struct rdmacm_id *, struct rdmacm_parameters *))                                      \
    F(rdma_accept, "1.0", int, (struct rdmacm_id *, struct rdmacm_parameters *))                                       \
    F(rdma_reject, "1.0", int, (struct rdmacm_id *, const void *, uint8_t))                                            \
    F(rdma_get_cm_event, "1.0", int, (struct rdmacm_channel *, struct rdmacm_event **))                                \
    F(rdma_ack_cm_event, "1.0", int, (struct rdmacm_event *))                                                          \
    F(rdma_event_str, "1.0", const char *, (uint32_t))

struct rdmacm_library {
#define RDMACM_MEMBER(name, version, result, parameters) result(*name) parameters;
    RDMACM_FUNCTIONS(RDMACM_MEMBER)
#undef RDMACM_MEMBER
};

/* As ibverbs_load. */
int rdmacm_load(const struct rdmacm_library **library) MUST_CHECK;
