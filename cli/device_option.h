// SPDX-License-Identifier: Apache-2.0
// --device, of the commands that compile or run a model.

#ifndef LN_CLI_DEVICE_OPTION_H
#define LN_CLI_DEVICE_OPTION_H

#include "cli.h"
#include "options.h"

// The option's function: "echo:1,delay=5,depth=2". The options are looked at when a model is
// opened, as a plug-in may come after them.
int take_device(void *unused, const char *verb, const char *text);

// Sets what was given for the devices of `ctx`.
ln_status device_option_apply(ln_context *ctx);

// Notes what a context is compiled for; at the end of a command warns of devices that were given
// and are in no target.
void device_option_note(const ln_context *ctx);
void device_option_warn(void);

#define TAKES_DEVICE                                                                               \
    {                                                                                              \
        OPT_DEVICE, 0, take_device, NULL, 0                                                        \
    }

#endif
