/* A server without memory for a call says so to its caller, and gives the place of a one-way call back: nobody waits for ever.
 * timeout: 8
 * presets: release clang
 * apart: 1 */
#include "pack/pack_test.h"
#include "rpc/rpc.h"
#include <errno.h>

#define ONE_WAY (3 * VD_RPC_ROOM)

static int missing; /* calls for which there will be no memory */
static size_t many; /* bytes of the first ones */

void *__libc_malloc(size_t size);
void *malloc(size_t size)
{
    if (missing && size == many) {
        missing--;
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

static int stopped(void *context) { return *(int *)context; }
static void handle_stop(vd_call *call, void *context)
{
    (void)call;
    *(int *)context = 1;
}

static vd_call *start(uint64_t ns)
{
    vd_call *call = vd_rpc_begin(0, "stop", ns);
    CHECK(call);
    CHECK_EQUAL(vd_rpc_send(call), VD_OK);
    return call;
}

static void turned_away(int rank)
{
    int stop = 0;
    CHECK_EQUAL(vd_init(), VD_OK);
    CHECK_EQUAL(vd_rpc_start(0), VD_OK);
    CHECK_EQUAL(vd_rpc_register("stop", handle_stop, &stop, VD_AT_ONCE), VD_OK);
    if (rank == 0) {
        many = vrpc.calls.first_objects * (vrpc.calls.object_size + 16);
        missing = 1 + ONE_WAY;
        CHECK_EQUAL(vd_rpc_serve(stopped, &stop), VD_OK);
        CHECK_EQUAL(missing, 0);
    } else {
        vd_call *call = start(0);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_NO_MEMORY);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
        for (int i = 0; i < ONE_WAY; i++)
            start(VD_ONE_WAY);
        call = start(0);
        CHECK_EQUAL(vd_rpc_wait(call, NULL), VD_OK);
        CHECK_EQUAL(vd_rpc_end(call), VD_OK);
    }
    CHECK_EQUAL(vd_finalize(), VD_OK);
}

int main(void)
{
    harness_run(2, turned_away);
    return check_done();
}
