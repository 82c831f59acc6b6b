/* What the table of providers needs of tcp. */
#ifndef VI_TCP_PROVIDER_H
#define VI_TCP_PROVIDER_H

#include "vi/vi.h"

extern const struct vi_ops tcp_ops;

#endif
