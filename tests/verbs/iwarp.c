/* By LD_PRELOAD: libibverbs, or the double of it, with devices that say they are of iWARP, and that take no immediate. Their ports are
 * those of RoCE v2 still. For those who look functions up by dlvsym. */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static struct ibv_device **(*real_list)(int *count);
static struct ibv_context *(*real_open)(struct ibv_device *device);
static int (*real_post)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

static struct ibv_device **device_list(int *count)
{
    struct ibv_device **list = real_list(count);
    for (int i = 0; list && list[i]; i++)
        list[i]->transport_type = IBV_TRANSPORT_IWARP;
    return list;
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    for (*bad = wr; *bad; *bad = (*bad)->next)
        if ((*bad)->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
            return EINVAL;
    return real_post(qp, wr, bad);
}

static struct ibv_context *device_open(struct ibv_device *device)
{
    struct ibv_context *context = real_open(device);
    if (context) {
        real_post = context->ops.post_send;
        context->ops.post_send = post;
    }
    return context;
}

void *dlvsym(void *handle, const char *name, const char *version)
{
    static void *(*real)(void *handle, const char *name, const char *version);
    if (!real)
        real = (void *(*)(void *, const char *, const char *))dlsym(RTLD_NEXT, "dlvsym");
    void *found = real(handle, name, version);
    if (strcmp(name, "ibv_get_device_list") == 0) {
        real_list = (struct ibv_device **(*)(int *))found;
        return (void *)device_list;
    }
    if (strcmp(name, "ibv_open_device") == 0) {
        real_open = (struct ibv_context *(*)(struct ibv_device *))found;
        return (void *)device_open;
    }
    return found;
}
