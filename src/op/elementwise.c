// SPDX-License-Identifier: Apache-2.0
// Shapes and parameters of the core's element-wise operators.

#include "op/elementwise.h"

#include <string.h>

#include <lightnet/op_support.h>
#include <lightnet/opshape.h>

#include "ir/param_number.h"
#include "op/call.h"
#include "op/functions.h"

// ---- Activations ----

static ln_status find_act(ln_call *call, ln_act *out_act)
{
    const char *name = ln_call_string(call, "act");
    int act = ln_act_from_str(name);
    if (act < 0)
        return ln_op_fail_unknown(call->op_arg, "act", name);
    *out_act = (ln_act)act;
    return LN_OK;
}

ln_status ln_act_read(ln_call *call, ln_act_of *out_act)
{
    LN_TRY(find_act(call, &out_act->act));
    out_act->alpha = ln_param_saturate_float(ln_call_float(call, "alpha"));
    out_act->beta = ln_param_saturate_float(ln_call_float(call, "beta"));
    return LN_OK;
}

ln_status ln_infer_act(ln_call *call)
{
    ln_act act;
    LN_TRY(find_act(call, &act));
    return ln_call_out_like(call, 0, 0);
}

// The channels of the last axis become as many as `scale` has.
ln_status ln_infer_scale_shift(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const tl_tensor *scale = ln_call_in(call, 1), *offset = ln_call_in(call, 2);
    int dims[TL_MAXDIM];
    ln_act act;
    LN_TRY(find_act(call, &act));
    if (src->ndim < 1)
        return ln_call_fail(call, LN_INVALID, "`src` should have a last axis");
    if (scale->ndim != 1 || offset->ndim != 1 || scale->len != offset->len)
        return ln_call_fail(call, LN_INVALID,
                            "`scale` and `offset` should be of one length and rank 1");
    int64_t first = ln_call_int(call, "src_first"), channels = src->dims[src->ndim - 1];
    if (first < 0 || first > channels - scale->len)
        return ln_call_fail(call, LN_INVALID, "channels %lld and %d behind it are not among %lld",
                            (long long)first, scale->len - 1, (long long)channels);
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[src->ndim - 1] = scale->len;
    return ln_call_out(call, 0, src->dtype, src->ndim, dims);
}

// ---- Two operands ----

ln_status ln_elew_op_read(ln_call *call, tl_elew_op *out_op)
{
    const char *name = ln_call_string(call, "elew_op");
    *out_op = tl_elew_op_from_str(name);
    return *out_op < 0 ? ln_op_fail_unknown(call->op_arg, "elew_op", name) : LN_OK;
}

ln_status ln_infer_elew(ln_call *call)
{
    const tl_tensor *src1 = ln_call_in(call, 0);
    int dims[TL_MAXDIM];
    tl_elew_op op;
    ln_act act;
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(find_act(call, &act));
    int ndim = ln_shape_broadcast(dims, src1, ln_call_in(call, 1));
    if (ndim < 0)
        return ln_call_fail(call, ln_error_status(), "%s", ln_error_message());
    return ln_call_out(call, 0, src1->dtype, ndim, dims);
}

int ln_elew_commutes(const ln_call *call)
{
    const char *name = ln_call_string(call, "elew_op");
    tl_elew_op op = tl_elew_op_from_str(name);
    return op == TL_SUM || op == TL_MUL;
}
