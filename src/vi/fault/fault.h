/* The fault provider's face: it wraps an opened nic's provider and spoils what passes, by a script. */
#ifndef VI_FAULT_FAULT_H
#define VI_FAULT_FAULT_H

#include "vi/vi.h"

/* Opens PROVIDER with SETUP and wraps it by setup->options. ERR_ARGUMENT: a word of the script is not understood. */
int fault_nic_open(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **nic) MUST_CHECK;

#endif
