// SPDX-License-Identifier: Apache-2.0
// The grain of the process.

#include "base/grain.h"

unsigned ln_grain_shift = 0;
