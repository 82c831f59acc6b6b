/* What the library of a PMIx launcher answers: values of any type, keys that are not there, texts without an end that would fit. A
 * rank joins such a job, and meets the ranks of its node. Each answer is taken from the input when it is asked for. */
#include "fuzz.h"
#include "check.h"
#include "../../src/boot/pmix.c"

static int fake_get(const struct boot_pmix_process *process, const char *key, const struct boot_pmix_info *how, size_t count,
                    struct boot_pmix_value **value)
{
    (void)process, (void)key, (void)how, (void)count;
    unsigned kind = fuzz_below(16);
    if (kind == 0 || fuzz_over())
        return -46;
    *value = NULL;
    if (kind == 1) /* it says that all is well */
        return 0;
    *value = calloc(1, sizeof **value);
    if (!*value)
        abort();
    if (kind < 4) {
        (*value)->type = (uint16_t)fuzz_word(BOOT_PMIX_UINT32); /* no text: what it would point to is ours */
        (*value)->type += (*value)->type == BOOT_PMIX_STRING;
        (*value)->data.uint32 = (uint32_t)fuzz_word(4);
    } else if (kind < 8) {
        (*value)->type = BOOT_PMIX_UINT32;
        (*value)->data.uint32 = (uint32_t)fuzz_word(4);
    } else {
        unsigned length = fuzz_below(400);
        (*value)->type = BOOT_PMIX_STRING;
        (*value)->data.string = kind == 8 ? NULL : calloc(1, length + 1);
        for (unsigned i = 0; kind > 8 && i < length; i++)
            (*value)->data.string[i] = (char)fuzz_byte();
    }
    return 0;
}

static int fake_put(uint8_t scope, const char *key, struct boot_pmix_value *value) { return scope && key && value ? 0 : -1; }
static int fake_commit(void) { return 0; }
static const char *fake_error(int status) { return status ? "a reason" : "success"; }
static int fake_fence(const struct boot_pmix_process *processes, size_t count, const struct boot_pmix_info *how, size_t hows,
                      void (*done)(int, void *), void *context)
{
    (void)processes, (void)count, (void)how, (void)hows;
    if (fuzz_below(8) == 0)
        return -24;
    done(fuzz_below(8) ? 0 : -61, context);
    return 0;
}

static void one_value(struct boot_own *own)
{
    char text[64];
    size_t room = 1 + fuzz_below(sizeof text);
    memset(text, '#', sizeof text);
    int error = pmix_get(own, 0, "key", text, room);
    CHECK(error == OK || error == ERR_NOT_FOUND || error == ERR_PROTOCOL);
    CHECK(error || memchr(text, 0, room));
    for (size_t i = error ? 0 : room; i < sizeof text; i++)
        CHECK_EQUAL(text[i], '#');
}

int FUZZ(const uint8_t *data, size_t size)
{
    struct boot_own own = {.job = {.host = "host"}};
    fuzz_begin(data, size);
    pmix.Get = fake_get;
    pmix.Put = fake_put;
    pmix.Commit = fake_commit;
    pmix.Fence_nb = fake_fence;
    pmix.Error_string = fake_error;
    pmix.self.rank = (uint32_t)fuzz_word(2);
    one_value(&own);
    if (job_read(&own) == OK) {
        CHECK(own.job.rank >= 0 && own.job.rank < own.job.size);
        if (own.job.size < 100 && vboot_node_meet(&own) == OK)
            CHECK(own.job.local_index < own.job.local_count && own.job.local_ranks[own.job.local_index] == own.job.rank);
    }
    free(own.job.local_ranks);
    if (check_failed)
        abort();
    return 0;
}
