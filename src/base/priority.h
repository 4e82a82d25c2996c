// SPDX-License-Identifier: Apache-2.0
// The priority of the run that this thread does.

#ifndef LN_BASE_PRIORITY_H
#define LN_BASE_PRIORITY_H

#include <lightnet/export.h>

LN_CPPSTART

// Returns the one before; 0: outside of runs.
int ln_priority_set(int priority);
int ln_priority_get(void);

LN_CPPEND

#endif
