/* Errors are raised here. A body returns an MPI class (MPI_SUCCESS is 0); a class that is returned has been raised
 * already, with its sentence, unless a comment says otherwise. */
#pragma once

#include "mpi/entry.h"
#include "mpi/object.h"

struct mpi_comm;

struct mpi_errhandler {
    struct mpi_object object;
    enum { HANDLER_FATAL, HANDLER_ABORT, HANDLER_RETURN, HANDLER_FUNCTION } what;
    enum mpi_kind of; /* of a function: KIND_COMM, KIND_SESSION or KIND_FILE */
    void (*function)(void *object, int *code, ...); /* a MPI_X_errhandler_function */
    /* How a function that is not written in C is called; NULL: as one in C. KIND 0: for a communicator, 1: a file. */
    void (*across)(int kind, int *object, int *code, void (*function)(void *object, int *code, ...));
};

/* What communicators, sessions and datatypes begin with: objects that have a name, attributes, and errors of their
 * own. */
struct mpi_thing {
    struct mpi_object object;
    int rank; /* of this process in it */
    struct mpi_errhandler *errhandler; /* NULL: of datatypes, whose errors go where those without a thing go */
    struct mpi_attribute *attributes;
    char *name; /* NULL: none */
};
enum mpi_kind mpi_thing_kind(const struct mpi_thing *thing);
const char *mpi_thing_name(const void *thing, char text[64]); /* its name, or "communicator 12" */
int mpi_name_set(const char *call, struct mpi_thing *thing, const char *name);
extern struct mpi_thing mpi_file_null; /* MPI_FILE_NULL, whose handler files take over when they are opened */

/* Raises an error: joins the sentence "CALL: FORMAT (CLASS, rank R of THING)", keeps it for MPI_Error_string, and gives
 * it to the error handler of THING, a struct mpi_thing (NULL: where errors without one go). Returns the class, if at
 * all. */
int mpi_error(void *thing, const char *call, int class, const char *format, ...) PRINTF_LIKE(4, 5) COLD;

/* ARGUMENT is NULL: MPI_ERR_ARG. */
int mpi_null(void *thing, const char *call, const char *argument) COLD;
/* HANDLE is no object of this kind. */
int mpi_wrong(void *thing, const char *call, const struct mpi_kind_row *kind, const void *handle) COLD;
/* The same for an error of the engine, with its sentence and detail. */
int mpi_engine_error(void *thing, const char *call, int error) COLD;
int mpi_engine_class(int error);
/* An error of CODE that the program reports itself, with a sentence of its own. Returns CODE, if at all. */
int mpi_report(struct mpi_thing *thing, int code, const char *sentence) COLD;

/* What is told of a class of the standard; of others NULL and "". */
const char *mpi_class_name(int class);
const char *mpi_class_sentence(int class);

/* A class as one rank tells it another one, whose program may be of another ABI with other numbers; 0: MPI_SUCCESS. And
 * back: MPI_ERR_OTHER where that ABI has no such class. */
uint32_t mpi_class_mark(int class);
int mpi_class_marked(uint32_t mark);
const char *mpi_last_sentence(int code); /* of the error raised last in this thread, where it was CODE; else NULL */

struct mpi_errhandler *mpi_errhandler_at(MPI_Errhandler handle);
