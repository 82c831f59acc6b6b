/* Libraries of MPI in this process: the standard's, and those for programs of MPICH and Open MPI. Two of them would be
 * two MPIs over one engine, with calls that go to the first one loaded, so the start of MPI is refused. Files are
 * named, since a library may be closed again. */
#pragma once

#include "base/compiler.h"

/* When one is loaded, and closed. */
VEXPORT void vbase_mpi_loaded(const char *file);
VEXPORT void vbase_mpi_closed(const char *file);
/* Another one than FILE, or one of MPICH or Open MPI themselves; NULL: there is none. */
VEXPORT const char *vbase_mpi_beside(const char *file);
