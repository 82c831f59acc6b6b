/* What the functions of not_yet.def return; in error.c. */
#pragma once

#include "base/base.h"

/* OF: the communicator or error handler among its arguments; NULL: it has none. */
int mpi_not_yet(const char *call, void *of) COLD;
int mpi_no_file(const char *call) COLD;
int mpi_no_tool(const char *call) COLD;
