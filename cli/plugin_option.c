// SPDX-License-Identifier: Apache-2.0
// --plugin.

#include "plugin_option.h"

#include "cli.h"

int take_plugin(void *unused, const char *verb, const char *path)
{
    (void)unused;
    (void)verb;
    if (ln_plugin_load(path) == LN_OK)
        return EXIT_OK;
    (void)ln_fail_prefix("--plugin");
    return say_failure();
}
