// SPDX-License-Identifier: Apache-2.0
// Tensors that come from no other tensor: constants, zeros, ranges.

#include "arch/ref/functions.h"

#include <string.h>

#include "op/call.h"
#include "op/first_values.h"

ln_status ln_ref_create(ln_call *call)
{
    if (ln_call_int(call, "from_file"))
        return LN_OK; // loading has filled it
    size_t count;
    const double *data = ln_call_floats(call, "data", &count);
    const double ran[2] = {ln_call_float_at(call, "ran", 0), ln_call_float_at(call, "ran", 1)};
    return ln_first_values(ln_call_dst(call, 0), call->outs[0].entry->name, ran, data, (int)count);
}

ln_status ln_ref_zeros(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    memset(dst->data, 0, tl_tensor_size(dst));
    return LN_OK;
}

ln_status ln_ref_range(ln_call *call)
{
    return tl_tensor_rearange(ln_call_dst(call, 0), ln_call_float(call, "start"),
                              ln_call_float(call, "stop"), ln_call_float(call, "step"));
}
