// SPDX-License-Identifier: Apache-2.0
// ONNX's normalisations, on arch `ref`: all in double, rounded once.

#ifndef LN_ARCH_REF_ONNX_NORM_H
#define LN_ARCH_REF_ONNX_NORM_H

#include <lightnet/call.h>

#include "op/onnx/elementwise.h"
#include "op/onnx/norm.h"

// (src - mean) * inverse * scale + bias, where mean and inverse are those of the part that an
// element belongs to.
typedef struct ln_norm {
    const tl_tensor *src;
    tl_tensor *dst;
    ln_shaped shape;                   // how `src` and `dst` are seen
    ln_shaped parts;                   // the same with 1 where elements belong to one part
    const tl_tensor *scale, *bias;     // NULL: 1 and 0
    ln_shaped scale_shape, bias_shape; // how they are seen: broadcast to `shape`
    size_t part_count;
    double *mean, *inverse; // of each part
} ln_norm;

// Measures, inverts and applies over the last dimensions from `axis` on; `mean_dst` and
// `inverse_dst` may be NULL.
ln_status ln_norm_layer(ln_call *call, ln_norm *norm, int axis, double epsilon, bool is_centered,
                        tl_tensor *mean_dst, tl_tensor *inverse_dst);

ln_shaped ln_shape_of(const tl_tensor *t);

#endif
