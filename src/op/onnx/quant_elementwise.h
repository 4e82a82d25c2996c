// SPDX-License-Identifier: Apache-2.0
// Shapes of com.microsoft's operators on quantized tensors.

#ifndef LN_OP_ONNX_QUANT_ELEMENTWISE_H
#define LN_OP_ONNX_QUANT_ELEMENTWISE_H

#include <stdbool.h>

#include <lightnet/call.h>

#include "op/onnx/quant.h"
#include "op/window.h"

LN_CPPSTART

// A tensor with its scale and zero point; one of each.
typedef struct ln_quant_tensor {
    const tl_tensor *values; // NULL for an output
    const tl_tensor *scale;
    const tl_tensor *zero_point; // NULL: 0
} ln_quant_tensor;

// Inputs number `values` (-1: an output), `scale` and `zero_point`; all scalars are of one element.
ln_status ln_quant_tensor_read(ln_call *call, int values, int scale, int zero_point,
                               ln_quant_tensor *out_tensor);

// The window of a pooling with `src` as [N, C, D1, ...] or, with channels_last, [N, D1, ..., C].
// With `is_global` it covers all.
typedef struct ln_quant_pool {
    ln_window window;
    bool is_channels_last;
} ln_quant_pool;

ln_status ln_quant_pool_read(ln_call *call, bool is_global, bool is_channels_last,
                             ln_quant_pool *out_pool);

// ---- MatMulNBits ----

typedef struct ln_nbits_call {
    int64_t k, n, bits, block, block_count;
} ln_nbits_call;

ln_status ln_nbits_call_read(ln_call *call, ln_nbits_call *out_nbits);

LN_CPPEND

#endif
