/* All of base, and the headers of libc that nearly every file needs. The public header of every room includes it. */
#pragma once

#include "base/atomic.h"
#include "base/build.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/copy.h"
#include "base/counters.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/flush.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/pool.h"
#include "base/secret.h"
#include "base/settings.h"
#include "base/topology.h"
#include "base/tunables.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
