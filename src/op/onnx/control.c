// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that run graphs.

#include "op/functions.h"

ln_status ln_infer_sequence_map(ln_call *call)
{
    for (int i = 0; i < ln_call_out_count(call); i++)
        LN_TRY(ln_call_out_object(call, i));
    return LN_OK;
}
