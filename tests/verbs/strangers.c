/* A librdmacm.so.1 on the double of libibverbs (with iwarp.so in front): its port is that of double0, on 127.0.0.1 or on
 * any other address, it listens as TCP does, strangers call it without end, and those that it calls are not there.
 * STRANGERS: a file to which the port is added that is listened on. STRANGERS_CARD, set: not on 127.0.0.1. */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct id {
    struct rdma_cm_id id;
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } at;
    int fd;
};

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct rdma_event_channel *channel = malloc(sizeof *channel);
    channel->fd = eventfd(1, EFD_CLOEXEC);
    return channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
    close(channel->fd);
    free(channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space space)
{
    struct id *id = calloc(1, sizeof *id);
    id->id = (struct rdma_cm_id){.channel = channel, .context = context, .ps = space};
    id->fd = -1;
    *out = &id->id;
    return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    if (((struct id *)id)->fd >= 0)
        close(((struct id *)id)->fd);
    free(id);
    return 0;
}

int rdma_bind_addr(struct rdma_cm_id *base, struct sockaddr *address)
{
    static struct ibv_context *context;
    struct id *id = (struct id *)base;
    bool four = address->sa_family == AF_INET;
    socklen_t length = four ? sizeof id->at.in : sizeof id->at.in6;
    memcpy(&id->at, address, length);
    id->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct ibv_device **list = ibv_get_device_list(NULL);
    context = context ? context : ibv_open_device(list[0]);
    ibv_free_device_list(list);
    bool loops = four && id->at.in.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
    base->verbs = loops == !getenv("STRANGERS_CARD") ? context : NULL; /* other cards have none */
    base->port_num = 1;
    (void)setsockopt(id->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)); /* the job before used its port, too */
    return bind(id->fd, &id->at.any, length);
}

uint16_t rdma_get_src_port(struct rdma_cm_id *id)
{
    struct sockaddr_in6 at; /* the port is at the same place in both */
    socklen_t length = sizeof at;
    return getsockname(((struct id *)id)->fd, (struct sockaddr *)&at, &length) ? 0 : at.sin6_port;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    if (listen(((struct id *)id)->fd, backlog))
        return -1;
    FILE *file = fopen(getenv("STRANGERS"), "a");
    fprintf(file, "%d %d\n", ntohs(rdma_get_src_port(id)), ((struct id *)id)->at.any.sa_family == AF_INET ? 4 : 6);
    return fclose(file);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
    *out = calloc(1, sizeof **out);
    (*out)->event = RDMA_CM_EVENT_CONNECT_REQUEST;
    return rdma_create_id(channel, &(*out)->id, NULL, RDMA_PS_TCP);
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    free(event);
    return 0;
}

static int none(void)
{
    errno = ENETUNREACH;
    return -1;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length) { return (void)id, (void)data, (void)length, 0; }
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
    return (void)id, (void)from, (void)to, (void)ms, none();
}
int rdma_resolve_route(struct rdma_cm_id *id, int ms) { return (void)id, (void)ms, none(); }
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *how) { return (void)id, (void)how, none(); }
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *how) { return (void)id, (void)how, none(); }
const char *rdma_event_str(enum rdma_cm_event_type event) { return event ? "an event" : "an address"; }
