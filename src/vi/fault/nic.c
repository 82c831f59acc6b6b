/* placeholder */
#include "vi/fault/fault.h"
int fault_nic_open(const struct vi_provider *provider, const struct vi_setup *setup, struct vi_nic **nic)
{
    (void)setup, (void)nic;
    return vbase_fail(ERR_UNSUPPORTED, "no fault script over %s yet", provider->name);
}
