// SPDX-License-Identifier: Apache-2.0
// The data flow graph inside the library.

#ifndef LN_IR_DFG_H
#define LN_IR_DFG_H

#include <lightnet/dfg.h>

// Removes all operators. Allocates nothing, so it always succeeds.
void ln_dfg_clear(ln_dfg *dfg);

#endif
