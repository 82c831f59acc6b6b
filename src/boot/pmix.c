/* The client of PMIx, which has no public wire: its library is loaded at run time, when a launcher's variables ask for
 * it. Called by launcher.c and, through its row in the table of starters, by boot.c.
 *
 * There is one library for the process; it has a thread of its own, which calls answer_came. What it returns belongs to
 * us and is freed here. A key is asked for with a deadline: after a fence it is there or will not come. */
#include "boot/inside.h"
#include "boot/pmix.h"
#include <dlfcn.h>
#include <pthread.h>

static struct {
#define F(name, result, parameters) result(*name) parameters;
    BOOT_PMIX_FUNCTIONS(F)
#undef F
    struct boot_pmix_process self;
} pmix;

static const struct {
    const char *name;
    size_t place;
} functions[] = {
#define F(name, result, parameters) {"PMIx_" #name, offsetof(typeof(pmix), name)},
    BOOT_PMIX_FUNCTIONS(F)
#undef F
};

static int library_load(void)
{
    void *library = dlopen(BOOT_PMIX_LIBRARY, RTLD_NOW | RTLD_LOCAL); /* never closed: it has a thread */
    if (!library)
        return vbase_fail(ERR_LAUNCHER,
                          "the launcher speaks PMIx (PMIX_NAMESPACE=%s), and its library is missing here: install the "
                          "package libpmix2 (Debian, Ubuntu) or pmix (others): %s",
                          vbase_environment("PMIX_NAMESPACE"), dlerror());
    for (size_t i = 0; i < ARRAY_LENGTH(functions); i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return vbase_fail(ERR_LAUNCHER, "%s has no %s", BOOT_PMIX_LIBRARY, functions[i].name);
        memcpy((char *)&pmix + functions[i].place, &function, sizeof function);
    }
    return OK;
}

static struct boot_pmix_info info_make(const char *key, enum boot_pmix_type type, int value)
{
    struct boot_pmix_info info = {.value.type = (uint16_t)type};
    snprintf(info.key, sizeof info.key, "%s", key);
    if (type == BOOT_PMIX_FLAG)
        info.value.data.flag = value != 0;
    else
        info.value.data.integer = value;
    return info;
}

static int value_ask(uint32_t rank, const char *key, struct boot_pmix_value **value)
{
    struct boot_pmix_process whose = pmix.self;
    struct boot_pmix_info how[] = {info_make(BOOT_PMIX_IMMEDIATE, BOOT_PMIX_FLAG, 1),
                                   info_make(BOOT_PMIX_TIMEOUT, BOOT_PMIX_INT, ANSWER_DEADLINE_MS / 1000)};
    whose.rank = rank;
    *value = NULL;
    int status = pmix.Get(&whose, key, how, ARRAY_LENGTH(how), value);
    if (status == 0 && *value)
        return OK;
    return vbase_fail(ERR_NOT_FOUND, "the launcher knows no key %s (PMIx_Get: %s)", key, pmix.Error_string(status));
}

static int number_ask(uint32_t rank, const char *key, int otherwise)
{
    struct boot_pmix_value *value;
    if (value_ask(rank, key, &value) != OK)
        return otherwise;
    int result =
        value->type == BOOT_PMIX_UINT32 && value->data.uint32 <= INT32_MAX ? (int)value->data.uint32 : otherwise;
    free(value);
    return result;
}

static int pmix_put(struct boot_own *own, const char *key, const char *text)
{
    (void)own;
    struct boot_pmix_value value = {.type = BOOT_PMIX_STRING,
                                    .data.string = (char *)(uintptr_t)text}; /* copied there */
    int status = pmix.Put(BOOT_PMIX_EVERYONE, key, &value);
    return status == 0 ? OK
                       : vbase_fail(ERR_LAUNCHER, "the launcher refused to keep %s (PMIx_Put: %s)", key,
                                    pmix.Error_string(status));
}

static int pmix_get(struct boot_own *own, int rank, const char *key, char *text, size_t size)
{
    (void)own;
    struct boot_pmix_value *value;
    int error = value_ask((uint32_t)rank, key, &value);
    if (error != OK)
        return error;
    bool is_text = value->type == BOOT_PMIX_STRING && value->data.string;
    if (is_text && size)
        snprintf(text, size, "%s", value->data.string);
    if (is_text)
        free(value->data.string);
    free(value);
    return is_text ? OK : vbase_fail(ERR_PROTOCOL, "the launcher's value of %s is not a text", key);
}

/* What another thread will report: the library's own, or ours that may hang in it. */
struct answer {
    _Atomic uint32_t here;
    int status;
    void (*changed)(void); /* called when it is here; NULL: not asked for */
};

static void answer_came(int status, void *context)
{
    struct answer *answer = context;
    _Atomic uint32_t *here = &answer->here;
    void (*changed)(void) = answer->changed;
    answer->status = status;
    /* release: pairs with answer_is_here; the waiter may have returned now */
    atomic_store_explicit(here, 1, memory_order_release);
    vbase_futex_wake(here, 1);                            /* of an address: nothing is read there */
    if (changed)
        changed();
}

static bool answer_is_here(const struct answer *answer)
{
    return atomic_load_explicit(&answer->here, memory_order_acquire) != 0;
}

static struct answer fence_answer; /* one fence at a time */

static int fence_failed(int status)
{
    return vbase_fail(ERR_LAUNCHER, "the launcher's fence failed (PMIx_Fence: %s)", pmix.Error_string(status));
}

static int pmix_fence_begin(struct boot_own *own, struct boot_fence *fence)
{
    (void)own;
    struct boot_pmix_info collect = info_make(BOOT_PMIX_COLLECT, BOOT_PMIX_FLAG, 1);
    fence_answer.changed = fence->changed;
    atomic_store_explicit(&fence_answer.here, 0, memory_order_relaxed); /* the library's own locks order it */
    fence->word = &fence_answer.here;
    fence->calls = true;
    int status = pmix.Commit();
    if (status == 0)
        status = pmix.Fence_nb(NULL, 0, &collect, 1, answer_came, &fence_answer);
    fence->over = status == BOOT_PMIX_DONE;
    return status == 0 || fence->over ? OK : fence_failed(status);
}

static void pmix_fence_look(struct boot_own *own, struct boot_fence *fence)
{
    (void)own;
    fence->over = answer_is_here(&fence_answer);
    if (fence->over && fence_answer.status != 0 && fence_answer.status != BOOT_PMIX_DONE)
        fence->error = fence_failed(fence_answer.status);
}

static void pmix_abort(struct boot_own *own, int status, const char *message)
{
    (void)own;
    (void)pmix.Abort(status, message, NULL, 0);
}

static void pmix_finish(struct boot_own *own, bool goodbye)
{
    (void)own;
    if (goodbye)
        (void)pmix.Finalize(NULL, 0);
}

const struct boot_starter vboot_starter_pmix = {pmix_put,        pmix_get,   pmix_fence_begin,
                                                pmix_fence_look, pmix_abort, pmix_finish};

static void *greet(void *answer)
{
    answer_came(pmix.Init(&pmix.self, NULL, 0), answer);
    return NULL;
}

/* Init has no deadline of its own and would wait for ever for a silent launcher, so a thread of ours calls it. */
static int pmix_init(void)
{
    static struct answer answer; /* the thread may outlive us */
    uint64_t end = vbase_clock_ns() + ANSWER_DEADLINE_MS * 1000000ull;
    pthread_t thread;
    if (pthread_create(&thread, NULL, greet, &answer) != 0)
        return vbase_fail(ERR_MEMORY, "cannot create the thread that connects to the launcher (ulimit -u)");
    pthread_detach(thread);
    while (!answer_is_here(&answer) && vbase_clock_ns() < end)
        vbase_futex_wait(&answer.here, 0, end - vbase_clock_ns());
    if (answer_is_here(&answer) && answer.status == 0)
        return OK;
    return vbase_fail(ERR_LAUNCHER, "the PMIx launcher of PMIX_NAMESPACE=%s does not take rank %s (PMIx_Init: %s)",
                      vbase_environment("PMIX_NAMESPACE"), vbase_environment("PMIX_RANK"),
                      answer_is_here(&answer) ? pmix.Error_string(answer.status) : "no answer within 30 s");
}

/* What the launcher says of the job and of this rank. */
static int job_read(struct boot_own *own)
{
    own->starter = &vboot_starter_pmix;
    own->job.kind = BOOT_PMIX;
    own->job.rank = (int)pmix.self.rank;
    own->job.size = number_ask(BOOT_PMIX_ALL, BOOT_PMIX_SIZE, -1);
    own->job.universe = number_ask(BOOT_PMIX_ALL, BOOT_PMIX_UNIVERSE, -1);
    own->job.appnum = number_ask(pmix.self.rank, BOOT_PMIX_APPNUM, -1);
    if (own->job.rank < 0 || own->job.size <= own->job.rank)
        return vbase_fail(ERR_LAUNCHER, "the PMIx launcher says rank %d of %d", own->job.rank, own->job.size);
    return OK;
}

int vboot_pmix_join(struct boot_own *own)
{
    int error = library_load();
    if (error == OK)
        error = pmix_init();
    return error == OK ? job_read(own) : error;
}
