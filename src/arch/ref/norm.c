// SPDX-License-Identifier: Apache-2.0
// Folding a batch norm into a convolution. All compute in double.

#include <math.h>

#include "arch/ref/functions.h"
#include "tensor/elem.h"

// sqrt(var + epsilon) of channel `c`, with `var` as input `index`; as always, a float is added.
static double deviation(const ln_call *call, int index, size_t c)
{
    return sqrt(ln_elem_real(ln_call_in(call, index), c) +
                (double)(float)ln_call_float(call, "epsilon"));
}

// Element `c` of input `index`, 0 without one.
static double at(const ln_call *call, int index, size_t c)
{
    const tl_tensor *t = ln_call_in(call, index);
    return t ? ln_elem_real(t, c) : 0;
}

ln_status ln_ref_bn_fold_weight(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    int axis;
    LN_TRY(ln_call_axis(call, "axis", weight->ndim, &axis));
    size_t inner = 1, channels = (size_t)weight->dims[axis], len = (size_t)weight->len;
    for (int d = axis + 1; d < weight->ndim; d++)
        inner *= (size_t)weight->dims[d];
    size_t group_planes = len ? len / inner / (size_t)ln_call_int(call, "group") : 1;
    for (size_t i = 0, plane = 0; i < len; plane++) {
        size_t c = plane % channels + channels * (plane / group_planes);
        double factor = at(call, 1, c), divisor = deviation(call, 2, c);
        for (size_t end = i + inner; i < end; i++)
            ln_elem_set_real(dst, i, ln_elem_real(weight, i) * factor / divisor);
    }
    return LN_OK;
}

ln_status ln_ref_bn_fold_bias(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    for (size_t c = 0; c < (size_t)dst->len; c++)
        ln_elem_set_real(dst, c,
                         (at(call, 4, c) - at(call, 2, c)) * at(call, 0, c) /
                                 deviation(call, 3, c) +
                             at(call, 1, c));
    return LN_OK;
}

// (x * scale + shift) ^ power
ln_status ln_ref_bn2scale(ln_call *call)
{
    tl_tensor *scale = ln_call_dst(call, 0), *shift = ln_call_dst(call, 1);
    tl_tensor *power = ln_call_dst(call, 2);
    for (size_t c = 0; c < (size_t)ln_call_in(call, 0)->len; c++) {
        double factor = at(call, 2, c) / deviation(call, 1, c);
        ln_elem_set_real(scale, c, factor);
        ln_elem_set_real(shift, c, at(call, 3, c) - at(call, 0, c) * factor);
        ln_elem_set_real(power, c, 1);
    }
    return LN_OK;
}
