// SPDX-License-Identifier: Apache-2.0
// --plugin, of the commands that take a model or a target.

#ifndef LN_CLI_PLUGIN_OPTION_H
#define LN_CLI_PLUGIN_OPTION_H

#include "options.h"

// The option's function: loads the plug-in.
int take_plugin(void *unused, const char *verb, const char *path);

#define TAKES_PLUGIN                                                                               \
    {                                                                                              \
        OPT_PLUGIN, 0, take_plugin, NULL, 0                                                        \
    }

#endif
