// SPDX-License-Identifier: Apache-2.0
// Plug-ins at the end of the library.

#ifndef LN_COMPILE_PLUGIN_H
#define LN_COMPILE_PLUGIN_H

#include <lightnet/plugin.h>

// Unregisters what plug-ins have registered, but for what is in use.
void ln_plugins_take_back(void);

// Unloads all, once the registries are empty. The code of what is still in use stays.
void ln_plugins_close(void);

#endif
