/* Calls every function of the ABI with arguments chosen at random among wrong and right ones: null, freed, foreign and
 * random handles, negative counts, wild ranks and tags, null addresses. What a call returns must be an error class with
 * a sentence that names the function; nothing may crash. Pointers that are not null point to memory of the program.
 *
 * usage: strange [FUNCTION [SEED]]. A child for each function, without a launcher; one that waits for a message that
 * nobody sends is ended and the next seed is tried.
 * presets: release asan */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION(result, name, parameters) {#result, #name, #parameters},
static const struct {
    const char *result, *name, *parameters;
} functions[] = {
#include "../abi/functions.h"
};
#define COUNT (sizeof functions / sizeof functions[0])
#define ROUNDS 150
#define MOST 16

static uint64_t state;
static uint64_t next(void)
{
    uint64_t x = state += 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}
static unsigned pick(unsigned n) { return (unsigned)(next() >> 33) % n; }

/* ---- arguments -------------------------------------------------------------------------------------------------- */

enum { COMM, TYPE, GROUP, INFO, OP, REQUEST, ERRHANDLER, MESSAGE, KINDS };
static const char *const kind_names[KINDS] = {"MPI_Comm", "MPI_Datatype", "MPI_Group",      "MPI_Info",
                                              "MPI_Op",   "MPI_Request",  "MPI_Errhandler", "MPI_Message"};
static void *good[KINDS][4], *stale[KINDS];
static char *ground; /* the middle of a wide piece of address space, all of it writable */
#define REACH ((size_t)1 << 36)
#define ZONE 65536

static int quiet(void) { return MPI_SUCCESS; }

static void make_handles(void)
{
    MPI_Comm comm, freed_comm;
    MPI_Datatype type, raw, freed_type;
    MPI_Group group, freed_group;
    MPI_Info info, freed_info;
    MPI_Op op, freed_op;
    MPI_Request request, freed_request;
    MPI_Errhandler handler, freed_handler;
    int periodic = 1, one = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &periodic, 0, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &freed_comm);
    stale[COMM] = freed_comm;
    MPI_Comm_free(&freed_comm);
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_contiguous(2, MPI_SHORT, &raw);
    MPI_Type_contiguous(2, MPI_INT, &freed_type);
    stale[TYPE] = freed_type;
    MPI_Type_free(&freed_type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &freed_group);
    stale[GROUP] = freed_group;
    MPI_Group_free(&freed_group);
    MPI_Info_create(&info);
    MPI_Info_create(&freed_info);
    stale[INFO] = freed_info;
    MPI_Info_free(&freed_info);
    MPI_Op_create((MPI_User_function *)(void *)quiet, 1, &op);
    MPI_Op_create((MPI_User_function *)(void *)quiet, 1, &freed_op);
    stale[OP] = freed_op;
    MPI_Op_free(&freed_op);
    MPI_Recv_init(ground, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    MPI_Recv_init(ground, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &freed_request);
    stale[REQUEST] = freed_request;
    MPI_Request_free(&freed_request);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)quiet, &handler);
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void *)quiet, &freed_handler);
    stale[ERRHANDLER] = freed_handler;
    MPI_Errhandler_free(&freed_handler);
    stale[MESSAGE] = stale[REQUEST];
    void *const all[KINDS][4] = {{comm, MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL},
                                 {type, raw, MPI_INT, MPI_DOUBLE_INT},
                                 {group, MPI_GROUP_EMPTY, MPI_GROUP_NULL, group},
                                 {info, MPI_INFO_ENV, MPI_INFO_NULL, info},
                                 {op, MPI_SUM, MPI_MAXLOC, MPI_NO_OP},
                                 {request, MPI_REQUEST_NULL, request, MPI_REQUEST_NULL},
                                 {handler, MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL, handler},
                                 {MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL}};
    memcpy(good, all, sizeof good);
}

static int kind_of(const char *type)
{
    for (int k = 0; k < KINDS; k++) {
        size_t length = strlen(kind_names[k]);
        if (strncmp(type, kind_names[k], length) == 0 && (type[length] == 0 || type[length] == ' '))
            return k;
    }
    return -1;
}

static uintptr_t handle(int kind)
{
    switch (pick(kind < 0 ? 3 : 12)) {
    case 0:
        return (uintptr_t)next();
    case 1:
        return pick(4096); /* a predefined handle of any kind, or none */
    case 2:
        return (uintptr_t)good[pick(KINDS)][0];
    case 3:
        return (uintptr_t)stale[kind];
    default:
        return (uintptr_t)good[kind][pick(4)];
    }
}

static int64_t number(void)
{
    static const int values[] = {0, 1, 2, 1, 0, 0, 1, 3, 0, 1, -1, -2, -3, -4, 7, 64, -32766, -2147483647 - 1};
    return values[pick(sizeof values / sizeof values[0])];
}

static int64_t entry(void)
{
    static const int values[] = {0, 1, 2, 1, 0, -1, 5};
    return values[pick(sizeof values / sizeof values[0])];
}

static void fill_handles(char *zone, int kind)
{
    for (int i = 0; i < 128; i++)
        ((uintptr_t *)(void *)zone)[i] = handle(kind);
}

/* Memory for parameter number I of TYPE, with something in it. */
static uintptr_t memory(const char *type, int i)
{
    char *zone = ground + (size_t)i * ZONE;
    const char *base = strncmp(type, "const ", 6) == 0 ? type + 6 : type;
    memset(zone, 0, ZONE);
    if (strncmp(base, "MPI_", 4) == 0 && kind_of(base) >= 0) {
        fill_handles(zone, kind_of(base));
    } else if (strncmp(base, "int", 3) == 0) {
        for (int k = 0; k < 128; k++)
            ((int *)(void *)zone)[k] = (int)entry();
    } else if (strncmp(base, "MPI_Count", 9) == 0 || strncmp(base, "MPI_Aint", 8) == 0) {
        for (int k = 0; k < 128; k++)
            ((int64_t *)(void *)zone)[k] = entry();
    } else if (strcmp(type, "const char *") == 0) {
        memset(zone, 'x', pick(3) ? pick(12) : 3000);
    }
    return (uintptr_t)zone;
}

static uintptr_t argument(const char *name, const char *type, int i)
{
    static const char *const with_place[] = {"all", "gather", "catter", "educe", "can"};
    size_t length = strlen(type);
    if (strstr(type, "_function") || strstr(type, "_fn"))
        return pick(3) ? (uintptr_t)quiet : 0;
    if (type[length - 1] == '*' || strchr(type, '[')) {
        if (!pick(4) || strstr(type, "**"))
            return 0;
        for (size_t k = 0; k < sizeof with_place / sizeof with_place[0]; k++)
            if (strstr(type, "void *") && strstr(name, with_place[k]) && !strstr(name, "_local") && !pick(6))
                return (uintptr_t)MPI_IN_PLACE;
        return memory(type, i);
    }
    if (strcmp(type, "int") == 0 || strcmp(type, "MPI_Count") == 0 || strcmp(type, "MPI_Aint") == 0 ||
        strcmp(type, "MPI_Offset") == 0)
        return (uintptr_t)number();
    return handle(kind_of(type));
}

/* Splits "(const void *, int, MPI_Comm)"; functions as parameters do not occur, they have names. */
static int split(const char *parameters, char types[MOST][64])
{
    int n = 0;
    const char *at = parameters + 1;
    while (*at && *at != ')') {
        size_t length = strcspn(at, ",)");
        snprintf(types[n], sizeof types[n], "%.*s", (int)length, at);
        if (strcmp(types[n], "void") != 0)
            n++;
        at += length + (at[length] == ',');
        at += strspn(at, " ");
    }
    return n;
}

/* ---- a child ---------------------------------------------------------------------------------------------------- */

static void check_answer(const char *name, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = -1, length;
    if (MPI_Error_class(code, &class) != MPI_SUCCESS || MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        fprintf(stderr, "%s returned %d, which is no error code\n", name, code);
    else if (strncmp(text, name, strlen(name)) == 0 && text[strlen(name)] == ':')
        return;
    else
        fprintf(stderr, "%s returned %d without a sentence of its own: %s\n", name, code, text);
    _exit(3);
}

static volatile int *seed_now; /* shared with the parent */

static void call_it(size_t index, int from)
{
    typedef int any(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    const char *name = functions[index].name;
    any *function = (any *)dlsym(RTLD_DEFAULT, name);
    char types[MOST][64];
    int n = split(functions[index].parameters, types);
    bool is_code = strcmp(functions[index].result, "int") == 0 && !strstr(name, "_toint") && strncmp(name, "MPI_T_", 6);
    uintptr_t a[MOST] = {0};
    MPI_Init(NULL, NULL);
    make_handles();
    for (int seed = from; seed < ROUNDS; seed++) {
        *seed_now = seed;
        state = (uint64_t)seed << 32 | index;
        for (int i = 0; i < n; i++)
            a[i] = argument(name, types[i], i);
        if (getenv("STRANGE_SHOW")) {
            fprintf(stderr, "%d: %s(", seed, name);
            for (int i = 0; i < n; i++)
                fprintf(stderr, "%s%s %#lx", i ? ", " : "", types[i], (long)a[i]);
            fprintf(stderr, ")\n");
        }
        ualarm(300000, 0);
        int code = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                            a[15]);
        ualarm(0, 0);
        if (is_code && code)
            check_answer(name, code);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    }
    _exit(0);
}

/* ---- the parent ------------------------------------------------------------------------------------------------- */

static bool may_end(const char *name)
{
    return strcmp(name, "MPI_Abort") == 0 || strcmp(name, "MPI_Finalize") == 0 || strncmp(name, "MPI_Init", 8) == 0;
}

static bool may_wait(const char *name)
{
    static const char *const parts[] = {"end", "ecv", "robe", "Wait", "uffer", "Finalize", "Comm_free", "Comm_disconnect"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static bool try_function(size_t index, int seed)
{
    const char *name = functions[index].name;
    int waits = 0;
    if (!dlsym(RTLD_DEFAULT, name))
        return true;
    while (seed < ROUNDS) {
        int status;
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            call_it(index, seed);
        waitpid(pid, &status, 0);
        if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || may_end(name))
            return true;
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM || !may_wait(name)) {
            fprintf(stderr, "%s with seed %d ended with %s %d\n", name, *seed_now,
                    WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            return false;
        }
        seed = *seed_now + 1;
        if (++waits == 6)
            return true;
    }
    return true;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    ground = mmap(NULL, 2 * REACH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    seed_now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ground == MAP_FAILED || seed_now == MAP_FAILED) {
        fprintf(stderr, "no address space for this test\n");
        return 77;
    }
    ground += REACH;
    for (size_t i = 0; i < COUNT; i++)
        if (argc < 2 || strcmp(argv[1], functions[i].name) == 0)
            wrong += !try_function(i, argc > 2 ? atoi(argv[2]) : 0);
    printf("%zu functions, %d went wrong\n", COUNT, wrong);
    return wrong != 0;
}
