/* The beginning of a preloaded process: the real functions and the settings. */
#include "base/log.h"
#include "base/settings.h"
#include "sock/inherit.h"
#include "sock/policy.h"
#include "sock/process.h"
#include "sock/real.h"

__attribute__((constructor(200))) static void start(void)
{
    sock_real_find();
    sock_process_start();
    /* a wrong setting is an error of the tool that started us; the program runs without us */
    if (vbase_settings_read() == 0 && vbase_log_start() == 0)
        sock_policy_read(vbase_settings.sock);
    sock_inherit_take();
}
