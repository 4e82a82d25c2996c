// SPDX-License-Identifier: Apache-2.0
// Which archs of a target are devices, and what the pass `place` counts where they do not say.

#ifndef LN_PASS_PLACE_H
#define LN_PASS_PLACE_H

#include <stdbool.h>

#include "pass/pass.h"

// Work units that the host and a device do in a second, bytes that are copied in a second, and what
// it takes to begin a group and to notice that it is done: for archs without `evaluate`.
#define LN_HOST_UNITS_PER_SECOND   1e9
#define LN_DEVICE_UNITS_PER_SECOND 8e9
#define LN_COPY_BYTES_PER_SECOND   8e9
#define LN_GROUP_SECONDS           20e-6

// Whether `place` gives operators to it: groups of it compute core types.
bool ln_arch_is_device(const ln_arch *arch);

// The first arch of the target that is no device and computes something: layout, and what else is
// done for the host, is for that one. The first of all where there is none.
const ln_arch *ln_compilation_host(const ln_compilation *compilation);

#endif
