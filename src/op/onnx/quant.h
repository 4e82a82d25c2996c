// SPDX-License-Identifier: Apache-2.0
// Shapes and granularity of operators that convert and quantize.

#ifndef LN_OP_ONNX_QUANT_H
#define LN_OP_ONNX_QUANT_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

#include "op/types.h"

LN_CPPSTART

// ---- Cast, CastLike, BitCast: quant_cast.c ----

// ---- QuantizeLinear, DequantizeLinear: quant.c ----

// Which scale belongs to which element: the tensor is `outer` times `axis_len` rows of `inner`
// elements; `block` rows of an axis share a scale; `scale_len` is how many the scales have.
typedef struct ln_quant_grid {
    bool is_single; // one scale for all; nothing else counts
    int64_t axis_len;
    int64_t inner;
    int64_t block;
    int64_t scale_len;
    bool has_rows; // blocked: scales differ along the other axes, too
} ln_quant_grid;

// Position in the scales of the one for element `i`.
static inline int64_t ln_quant_scale_of(const ln_quant_grid *grid, int64_t i)
{
    if (grid->is_single)
        return 0;
    int64_t row = i / grid->inner, at = row % grid->axis_len / grid->block;
    if (!grid->has_rows)
        return at;
    return (row / grid->axis_len * grid->scale_len + at) * grid->inner + i % grid->inner;
}

// Checks that the shapes of inputs x, scale and zero point (may be NULL) go together.
ln_status ln_quant_grid_read(ln_call *call, const tl_tensor *x, const tl_tensor *scale,
                             const tl_tensor *zero_point, ln_quant_grid *out_grid);

LN_CPPEND

#endif
