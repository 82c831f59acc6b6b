/* What the table of providers needs of shm. */
#ifndef VI_SHM_PROVIDER_H
#define VI_SHM_PROVIDER_H

#include "vi/vi.h"

extern const struct vi_ops shm_ops;

#endif
