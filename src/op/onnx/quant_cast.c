// SPDX-License-Identifier: Apache-2.0
// Shapes of Cast, CastLike and BitCast.

#include "op/functions.h"
#include "op/onnx/quant.h"

static ln_status give_cast(ln_call *call, tl_dtype to)
{
    const tl_tensor *in = ln_call_in(call, 0);
    if (!(LN_TYPES_CAST >> to & 1))
        return ln_call_fail(call, LN_INVALID, "cannot cast to %s", tl_dtype_title(to));
    return ln_call_out(call, 0, to, in->ndim, in->dims);
}

ln_status ln_infer_cast(ln_call *call)
{
    tl_dtype to;
    LN_TRY(ln_call_dtype(call, "to", &to));
    return give_cast(call, to);
}

ln_status ln_infer_cast_like(ln_call *call)
{
    return give_cast(call, ln_call_in(call, 1)->dtype);
}

// Bits of an element as ONNX has it.
static size_t bits_of(tl_dtype dtype)
{
    switch (dtype) {
    case TL_BOOL: return 8;
    case TL_INT4:
    case TL_UINT4:
    case TL_FLOAT4E2M1: return 4;
    case TL_INT2:
    case TL_UINT2: return 2;
    case TL_STRING:
    case TL_OBJECT: return 0;
    default: return 8 * tl_size_of(dtype);
    }
}

ln_status ln_infer_bit_cast(ln_call *call)
{
    const tl_tensor *in = ln_call_in(call, 0);
    tl_dtype to;
    LN_TRY(ln_call_dtype(call, "to", &to));
    if (bits_of(in->dtype) == 0 || bits_of(in->dtype) != bits_of(to))
        return ln_call_fail(call, LN_INVALID, "%s and %s do not have the same number of bits",
                            tl_dtype_title(in->dtype), tl_dtype_title(to));
    return ln_call_out(call, 0, to, in->ndim, in->dims);
}
