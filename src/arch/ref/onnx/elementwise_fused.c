// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that join a few steps, element by element.

#include "arch/ref/functions.h"
#include "arch/ref/onnx/elementwise.h"
#include "arch/ref/onnx/elementwise_rows.h"
#include "tensor/elem.h"

// f(sum of the inputs that are there), each broadcast to the first.
static ln_status map_sum(ln_call *call, double (*f)(double))
{
    tl_tensor *dst = ln_call_dst(call, 0);
    int count = ln_call_in_count(call);
    ln_ref_rows rows;
    LN_TRY(ln_ref_rows_init(call, &rows, count, dst->ndim, dst->dims));
    for (int k = 0; k < count; k++) {
        const tl_tensor *src = ln_call_in(call, k);
        if (src)
            ln_ref_rows_operand(&rows, k, src->ndim, src->dims);
    }
    while (ln_ref_rows_next(&rows))
        for (size_t i = 0; i < rows.len; i++) {
            double sum = 0;
            for (int k = 0; k < count; k++) {
                const tl_tensor *src = ln_call_in(call, k);
                sum += src ? ln_elem_real(src, ln_ref_rows_at(&rows, k, i)) : 0;
            }
            ln_elem_set_real(dst, rows.start + i, f(sum));
        }
    return LN_OK;
}

static double same(double x)
{
    return x;
}

ln_status ln_ref_onnx_fast_gelu(ln_call *call)
{
    return map_sum(call, ln_gelu_tanh);
}

ln_status ln_ref_onnx_bias_gelu(ln_call *call)
{
    return map_sum(call, ln_gelu);
}

ln_status ln_ref_onnx_bias_add(ln_call *call)
{
    return map_sum(call, same);
}
