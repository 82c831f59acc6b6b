/* Libraries of this installation that are preloaded into programs. */
#pragma once

#include "base/base.h"

/* Where the library with this file name lies; the detail of an error says why it cannot be preloaded. */
int preload_find(const char *name, char path[PATH_MAX]) MUST_CHECK;
