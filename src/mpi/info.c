/* Info objects: small ordered lists of key and value. Local, and allowed at any time, also before MPI_Init; no hint is
 * understood yet, all are kept. */
#include "mpi/info.h"
#include <sys/utsname.h>

static struct mpi_info environment = {.object.identity = (uintptr_t)MPI_INFO_ENV};

struct mpi_info *mpi_info_at(MPI_Info handle)
{
    if (handle == MPI_INFO_ENV)
        return &environment;
    return mpi_object_at(KIND_INFO, handle, sizeof(struct mpi_info));
}

static struct mpi_info_pair *pair_find(const struct mpi_info *info, const char *key)
{
    for (int i = 0; i < info->pairs; i++)
        if (strcmp(info->pair[i].key, key) == 0)
            return &info->pair[i];
    return NULL;
}

const char *mpi_info_value(const struct mpi_info *info, const char *key)
{
    const struct mpi_info_pair *pair = info ? pair_find(info, key) : NULL;
    return pair ? pair->value : NULL;
}

int mpi_info_put(struct mpi_info *info, const char *key, const char *value)
{
    char *value_copy = strdup(value), *key_copy;
    if (!value_copy)
        return MPI_ERR_NO_MEM;
    struct mpi_info_pair *old = pair_find(info, key);
    if (old) {
        free(old->value);
        old->value = value_copy;
        return MPI_SUCCESS;
    }
    key_copy = strdup(key);
    struct mpi_info_pair *bigger = key_copy ? realloc(info->pair, (size_t)(info->pairs + 1) * sizeof *bigger) : NULL;
    if (!bigger) {
        free(key_copy);
        free(value_copy);
        return MPI_ERR_NO_MEM;
    }
    info->pair = bigger;
    info->pair[info->pairs++] = (struct mpi_info_pair){key_copy, value_copy};
    return MPI_SUCCESS;
}

struct mpi_info *mpi_info_copy(const struct mpi_info *info)
{
    struct mpi_info *copy = mpi_object_take(&mpi_kind_info);
    for (int i = 0; copy && info && i < info->pairs; i++)
        if (mpi_info_put(copy, info->pair[i].key, info->pair[i].value)) {
            mpi_drop(copy);
            return NULL;
        }
    return copy;
}

struct mpi_info *mpi_info_of(const char *key, const char *value)
{
    struct mpi_info *info = mpi_info_copy(NULL);
    if (!info || mpi_info_put(info, key, value) == MPI_SUCCESS)
        return info;
    mpi_drop(info);
    return NULL;
}

static void info_end(void *object)
{
    struct mpi_info *info = object;
    for (int i = 0; i < info->pairs; i++) {
        free(info->pair[i].key);
        free(info->pair[i].value);
    }
    free(info->pair);
}

static void *info_at(void *handle) { return mpi_info_at(handle); }
const struct mpi_kind_row mpi_kind_info = {
    MPI_KIND(KIND_INFO, "info object", struct mpi_info, MPI_ERR_INFO, MPI_INFO_NULL), .at = info_at, .end = info_end};

/* What is known of how this process was started, and when MPI does not run yet, too: COUNT ARGUMENTS may say more. The
 * number of ranks is what a launcher wrote into the environment; no launcher asks for a thread level before main. */
static void environment_tell(struct mpi_info *info, int count, char **arguments)
{
    char path[MPI_MAX_INFO_VAL], all[MPI_MAX_INFO_VAL] = "";
    struct utsname system;
    for (int i = 1, at = 0; i < count && at < (int)sizeof all; i++)
        at += snprintf(all + at, sizeof all - (size_t)at, "%s%s", i > 1 ? " " : "", arguments[i]);
    bool named = uname(&system) == 0;
    const char *ranks = vbase_environment("PMI_SIZE");
    const struct mpi_info_pair known[] = {
        {"command", count > 0 ? arguments[0] : program_invocation_name},
        {"argv", all[0] ? all : NULL},
        {"maxprocs", (char *)ranks},
        {"soft", (char *)ranks},
        {"host", named ? system.nodename : NULL},
        {"arch", named ? system.machine : NULL},
        {"wdir", getcwd(path, sizeof path)},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (known[i].value && mpi_info_put(info, known[i].key, known[i].value))
            return; /* memory is short: the next call that needs some tells it */
}

void mpi_info_environment_open(int count, char **arguments) { environment_tell(&environment, count, arguments); }

/* ---- the calls ---- */

static int key_check(const char *call, const char *key)
{
    if (!key || key[0] == 0 || strlen(key) >= MPI_MAX_INFO_KEY)
        return mpi_error(NULL, call, MPI_ERR_INFO_KEY, "the key is %s",
                         !key ? "NULL" : key[0] ? "too long" : "empty");
    return MPI_SUCCESS;
}

int mpi_info_deliver(void *thing, const char *call, struct mpi_info *info, MPI_Info *out)
{
    if (!info)
        return mpi_error(thing, call, MPI_ERR_NO_MEM, "no memory for an info object");
    *out = mpi_object_deliver(info);
    return MPI_SUCCESS;
}

#define COPY_OF(original) mpi_info_deliver(NULL, NAME, mpi_info_copy(original), info)
ENTRY(MPI_Info_create)(MPI_Info *info) { return CHECK(GIVEN(info)) ?: COPY_OF(NULL); }
ENTRY(MPI_Info_dup)(MPI_Info original, MPI_Info *info)
    { return CHECK(INFO_OF(original), GIVEN(info)) ?: COPY_OF(mpi_info_at(original)); }

ENTRY(MPI_Info_create_env)(int argc, char *argv[], MPI_Info *info)
{
    int error = CHECK(GIVEN(info)) ?: COPY_OF(NULL);
    if (!error)
        environment_tell(mpi_info_at(*info), argv ? argc : 0, argv);
    return error;
}

ENTRY(MPI_Info_free)(MPI_Info *info)
{
    return CHECK(BEHIND(mpi_kind_info, info)) ?:
           *info != MPI_INFO_ENV ? mpi_free_handle(NAME, &mpi_kind_info, info)
                                        : mpi_error(NULL, NAME, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
}

ENTRY(MPI_Info_set)(MPI_Info handle, const char *key, const char *value)
{
    struct mpi_info *info;
    int error = CHECK(INFO_OF(handle, &info)) ?: key_check(NAME, key);
    if (error)
        return error;
    if (info == &environment)
        return mpi_error(NULL, NAME, MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
        return mpi_error(NULL, NAME, MPI_ERR_INFO_VALUE, "the value of %s is %s", key, value ? "too long" : "NULL");
    error = mpi_info_put(info, key, value);
    return error ? mpi_error(NULL, NAME, error, "no memory for %s", key) : MPI_SUCCESS;
}

ENTRY(MPI_Info_delete)(MPI_Info handle, const char *key)
{
    struct mpi_info *info;
    int error = CHECK(INFO_OF(handle, &info)) ?: key_check(NAME, key);
    if (error)
        return error;
    struct mpi_info_pair *pair = info == &environment ? NULL : pair_find(info, key);
    if (!pair)
        return mpi_error(NULL, NAME, MPI_ERR_INFO_NOKEY, "there is no key %s", key);
    free(pair->key);
    free(pair->value);
    info->pairs--;
    memmove(pair, pair + 1, (size_t)(info->pair + info->pairs - pair) * sizeof *pair);
    return MPI_SUCCESS;
}

ENTRY(MPI_Info_get_nkeys)(MPI_Info info, int *nkeys)
    { return CHECK(INFO_OF(info), GIVEN(nkeys)) ?: mpi_tell(nkeys, mpi_info_at(info)->pairs); }

static int key_nth(const char *call, const struct mpi_info *info, int n, char *key)
{
    if (n < 0 || n >= info->pairs || !key)
        return mpi_error(NULL, call, MPI_ERR_ARG, "there is no key number %d of %d", n, info->pairs);
    strcpy(key, info->pair[n].key);
    return MPI_SUCCESS;
}
ENTRY(MPI_Info_get_nthkey)(MPI_Info info, int n, char *key)
    { return CHECK(INFO_OF(info)) ?: key_nth(NAME, mpi_info_at(info), n, key); }

/* The value of a key; NULL where there is none, which FLAG tells. */
static int value_find(const char *call, MPI_Info handle, const char *key, int *flag, const char **value)
{
    struct mpi_info *info;
    int error = mpi_arguments(call, ARGUMENTS(INFO_OF(handle, &info), GIVEN(flag))) ?: key_check(call, key);
    if (error)
        return error;
    *value = mpi_info_value(info, key);
    return mpi_tell(flag, *value != NULL);
}

ENTRY(MPI_Info_get_string)(MPI_Info info, const char *key, int *length, char *value, int *flag)
{
    const char *found;
    int error = value_find(NAME, info, key, flag, &found);
    if (error)
        return error;
    if (!length || *length < 0 || (*length > 0 && !value))
        return mpi_error(NULL, NAME, MPI_ERR_ARG, "buflen or value is wrong for key %s", key);
    if (found && *length > 0)
        snprintf(value, (size_t)*length, "%s", found);
    if (found)
        *length = (int)strlen(found) + 1;
    return MPI_SUCCESS;
}

ENTRY(MPI_Info_get)(MPI_Info info, const char *key, int length, char *value, int *flag)
{
    const char *found;
    int error = value_find(NAME, info, key, flag, &found);
    if (error)
        return error;
    if (length < 0 || !value)
        return mpi_error(NULL, NAME, MPI_ERR_ARG, "valuelen or value is wrong for key %s", key);
    if (found) /* LENGTH leaves out the end of the string */
        snprintf(value, (size_t)length + 1, "%s", found);
    return MPI_SUCCESS;
}

ENTRY(MPI_Info_get_valuelen)(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    const char *found;
    int error = CHECK(GIVEN(valuelen)) ?: value_find(NAME, info, key, flag, &found);
    if (!error && found)
        *valuelen = (int)strlen(found);
    return error;
}
