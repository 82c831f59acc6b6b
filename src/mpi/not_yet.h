/* What the functions of not_yet.def return; in error.c. */
#pragma once

#include "base/base.h"

int mpi_not_yet(const char *call) COLD;
int mpi_not_yet_of(const char *call, void *comm) COLD; /* COMM: a communicator, or none */
int mpi_no_file(const char *call) COLD;
