// SPDX-License-Identifier: Apache-2.0
// Layer normalisations of com.microsoft, which first add up what is normalised.

#include <string.h>

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "arch/ref/onnx/norm.h"
#include "base/deadline.h"
#include "tensor/elem.h"

// A tensor of doubles in the shape of `like`, in the scratch memory of the call.
static ln_status make_sum(ln_call *call, const tl_tensor *like, tl_tensor *out_sum)
{
    *out_sum = *like;
    out_sum->dtype = TL_DOUBLE;
    out_sum->data = ln_call_scratch(call, (size_t)like->len + 1, sizeof(double));
    return out_sum->data ? LN_OK : LN_NO_MEMORY;
}

static ln_status add(ln_call *call, tl_tensor *sum, const tl_tensor *term)
{
    double *sums = sum->data;
    ln_ref_rows rows;
    if (ln_call_is_counting(call))
        return LN_OK;
    LN_TRY(ln_ref_rows_init(call, &rows, 1, sum->ndim, sum->dims));
    ln_ref_rows_operand(&rows, 0, term->ndim, term->dims);
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++)
            sums[rows.start + i] += ln_elem_real(term, ln_ref_rows_at(&rows, 0, i));
    return LN_OK;
}

static void store(tl_tensor *dst, const tl_tensor *src)
{
    for (size_t i = 0; dst && i < (size_t)dst->len; i++)
        ln_elem_set_real(dst, i, ln_elem_real(src, i));
}

// Normalises the last dimension of `sum`.
static ln_status normalize_sum(ln_call *call, const tl_tensor *sum, const tl_tensor *gamma,
                               const tl_tensor *beta, bool is_centered, tl_tensor *mean_dst,
                               tl_tensor *inverse_dst)
{
    ln_norm norm = {
        .src = sum,
        .dst = ln_call_dst(call, 0),
        .shape = ln_shape_of(sum),
        .scale = gamma,
        .bias = beta,
    };
    norm.scale_shape = norm.bias_shape = (ln_shaped){1, {sum->dims[sum->ndim - 1]}};
    return ln_norm_layer(call, &norm, sum->ndim - 1, ln_call_float(call, "epsilon"), is_centered,
                         mean_dst, inverse_dst);
}

static ln_status add_and_normalize(ln_call *call, const tl_tensor *gamma, const tl_tensor *beta,
                                   const tl_tensor *bias, bool is_centered)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor sum;
    LN_TRY(make_sum(call, src, &sum));
    LN_TRY(add(call, &sum, src));
    LN_TRY(add(call, &sum, ln_call_in(call, 1)));
    if (bias)
        LN_TRY(add(call, &sum, bias));
    if (!ln_call_is_counting(call))
        store(ln_call_dst(call, 3), &sum);
    return normalize_sum(call, &sum, gamma, beta, is_centered, ln_call_dst(call, 1),
                         ln_call_dst(call, 2));
}

ln_status ln_ref_onnx_skip_layer_normalization(ln_call *call)
{
    return add_and_normalize(call, ln_call_in(call, 2), ln_call_in(call, 3), ln_call_in(call, 4),
                             true);
}

ln_status ln_ref_onnx_skip_simplified_layer_normalization(ln_call *call)
{
    return add_and_normalize(call, ln_call_in(call, 2), NULL, ln_call_in(call, 3), false);
}
