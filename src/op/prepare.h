// SPDX-License-Identifier: Apache-2.0
// `prepare` of operators whose block is one struct.

#ifndef LN_OP_PREPARE_H
#define LN_OP_PREPARE_H

#include <lightnet/call.h>

// Defines `function`, which keeps a struct of `type`, zeroed, and has `read` fill it in.
#define LN_PREPARE(function, type, read)                                                           \
    ln_status function(ln_call *call)                                                              \
    {                                                                                              \
        type *block = ln_call_keep(call, 1, sizeof *block);                                        \
        return block ? read(call, block) : ln_error_status();                                      \
    }

#endif
