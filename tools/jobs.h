/* The jobs that run on this host, as far as this user may look at them. */
#ifndef TOOLS_JOBS_H
#define TOOLS_JOBS_H

#include "base/base.h"

/* Adds what each network card has sent for them, of the network that this process sees. */
void jobs_count_cards(uint64_t sent[COUNT_CARDS]);

#endif
