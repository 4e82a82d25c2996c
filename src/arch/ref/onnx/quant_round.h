// SPDX-License-Identifier: Apache-2.0
// The last step of what quantizes: a real number to the integer that stands for it.

#ifndef LN_ARCH_REF_ONNX_QUANT_ROUND_H
#define LN_ARCH_REF_ONNX_QUANT_ROUND_H

#include <math.h>
#include <stdint.h>

#include "tensor/elem.h"

// `x` rounded to the nearest, ties to even, plus the zero point, in the range of integer type
// `dtype`; NaN is the least one.
static inline void ln_put_quantized(void *data, tl_dtype dtype, size_t i, double x,
                                    double zero_point)
{
    double rounded = rint(x) + zero_point;
    ln_data_set_real(data, dtype, i, isnan(rounded) ? tl_dtype_min_double(dtype) : rounded);
}

// The scale and zero point of TL_UINT8 that the range of float tensor `x`, 0 included, asks for.
void ln_dynamic_scale(const tl_tensor *x, float *out_scale, float *out_zero_point);

#endif
