/* Which build this is. libviaduct and the libraries over it share structures that are no public interface: files of two
 * builds must not be loaded into one process. Each library carries the identity it was built with (BUILD_ID, made from
 * all sources and the options, see cmake/build_id.cmake); the upper one compares when it is loaded, see
 * src/mpi/build.c. */
#pragma once

#include "base/compiler.h"

VEXPORT extern const char vbase_build_id[]; /* 16 hexadecimal digits */
