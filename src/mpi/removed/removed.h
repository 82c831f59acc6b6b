/* A function that an older ABI has and the standard's does not have. */
#pragma once

#include "mpi/arguments.h"

#define OLD(name, ...)                                                                                                 \
    VEXPORT int P##name(__VA_ARGS__);                                                                                  \
    extern VEXPORT __typeof__(P##name) name __attribute__((weak, alias("P" #name)));                                   \
    int P##name(__VA_ARGS__)
