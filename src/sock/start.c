/* The beginning of a preloaded process: the real functions, the settings, the memory of the family. */
#include "base/log.h"
#include "base/settings.h"
#include "sock/link.h"
#include "sock/policy.h"
#include "sock/real.h"

__attribute__((constructor(200))) static void start(void)
{
    sock_real_find();
    if (vbase_settings_read() != 0 || vbase_log_start() != 0)
        return; /* a wrong setting is an error of the tool that started us; the program runs without us */
    sock_policy_read(vbase_settings.sock);
    if (sock_policy.on && sock_family_make() != 0)
        LOG_INFO("no memory for the table of connections: all stay TCP");
}
