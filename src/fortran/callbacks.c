/* See callbacks.h. A place is taken for the first use of a function and kept: an operation may be freed while it is
 * still at work, and the functions of a program are few. */
#include "fortran/callbacks.h"
#include <pthread.h>
#include <stdio.h>

#define PLACES 1024

typedef void fortran_function(void *, void *, void *, void *);

static struct {
    fortran_function *_Atomic function;
    enum fortran_callee kind;
} place[PLACES];
static int taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int handle_number(enum fortran_callee kind, void *handle)
{
    switch (kind) {
    case CALLEE_COMM: return MPI_Comm_toint(*(MPI_Comm *)handle);
    case CALLEE_FILE: return MPI_File_toint(*(MPI_File *)handle);
    case CALLEE_SESSION: return MPI_Session_toint(*(MPI_Session *)handle);
    case CALLEE_WIN: return MPI_Win_toint(*(MPI_Win *)handle);
    default: return MPI_Type_toint(*(MPI_Datatype *)handle);
    }
}

/* An operation: two vectors, a length of either size, a datatype. A handler: a handle and an error code. */
static void run(int number, void *first, void *second, void *third, void *fourth)
{
    bool operation = place[number].kind == CALLEE_OP;
    int handle = handle_number(place[number].kind, operation ? fourth : first);
    if (operation)
        place[number].function(first, second, third, &handle);
    else
        place[number].function(&handle, second, NULL, NULL);
}

#define ONE(n) \
    static void callee_##n(void *a, void *b, void *c, void *d) { run(0x##n, a, b, c, d); }
#define NAME(n) callee_##n,
#define SIXTEEN(M, n)                                                                                                  \
    M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7)                                                    \
    M(n##8) M(n##9) M(n##a) M(n##b) M(n##c) M(n##d) M(n##e) M(n##f)
#define MANY(M, n)                                                                                                     \
    SIXTEEN(M, n##0) SIXTEEN(M, n##1) SIXTEEN(M, n##2) SIXTEEN(M, n##3) SIXTEEN(M, n##4) SIXTEEN(M, n##5)              \
    SIXTEEN(M, n##6) SIXTEEN(M, n##7) SIXTEEN(M, n##8) SIXTEEN(M, n##9) SIXTEEN(M, n##a) SIXTEEN(M, n##b)              \
    SIXTEEN(M, n##c) SIXTEEN(M, n##d) SIXTEEN(M, n##e) SIXTEEN(M, n##f)
MANY(ONE, 0) MANY(ONE, 1) MANY(ONE, 2) MANY(ONE, 3)
static fortran_function *const callee[PLACES] = {MANY(NAME, 0) MANY(NAME, 1) MANY(NAME, 2) MANY(NAME, 3)};

static void too_many(const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    snprintf(text, sizeof text, "%s: a program in Fortran may have %d functions for operations and error handlers",
             call, PLACES);
    (void)fortran_raise(MPI_ERR_OTHER, text);
}

void *fortran_callback(const char *call, enum fortran_callee kind, void *function)
{
    int number = 0;
    pthread_mutex_lock(&lock);
    while (number < taken && ((void *)place[number].function != function || place[number].kind != kind))
        number++;
    if (number == taken && taken < PLACES) {
        place[number].kind = kind;
        place[number].function = (fortran_function *)function;
        taken++;
    }
    pthread_mutex_unlock(&lock);
    if (number == PLACES)
        too_many(call);
    return number < PLACES ? (void *)callee[number] : NULL;
}

struct generalized {
    void (*query)(MPI_Aint *state, int *status, int *ierror);
    void (*free)(MPI_Aint *state, int *ierror);
    void (*cancel)(MPI_Aint *state, int *complete, int *ierror);
    MPI_Aint *state; /* the program's own variable, which it may change */
};

static int query(void *extra, MPI_Status *status)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->query(request->state, (int *)status, &error);
    return error;
}

static int end(void *extra)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->free(request->state, &error);
    free(extra);
    return error;
}

static int cancel(void *extra, int complete)
{
    const struct generalized *request = extra;
    int error = MPI_SUCCESS;
    request->cancel(request->state, &complete, &error);
    return error;
}

int fortran_generalized(fortran_start *start, void *const function[3], MPI_Aint *state, int *request)
{
    MPI_Request made;
    struct generalized *extra = malloc(sizeof *extra);
    if (!extra)
        return MPI_ERR_NO_MEM;
    *extra = (struct generalized){(void (*)(MPI_Aint *, int *, int *))function[0],
                                  (void (*)(MPI_Aint *, int *))function[1],
                                  (void (*)(MPI_Aint *, int *, int *))function[2], state};
    int error = start(query, end, cancel, extra, &made);
    if (error)
        free(extra);
    else
        *request = MPI_Request_toint(made);
    return error;
}
