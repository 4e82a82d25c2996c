// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that draw random numbers.

#ifndef LN_OP_ONNX_RANDOM_H
#define LN_OP_ONNX_RANDOM_H

#include <lightnet/call.h>

ln_status ln_infer_random(ln_call *call);
ln_status ln_infer_random_like(ln_call *call);
ln_status ln_infer_multinomial(ln_call *call);
double ln_cost_multinomial(const ln_call *call);

// For `is_random`: 1 if no parameter `seed` is given. Each run begins with the same seed, so that
// with one it gives the same numbers again.
int ln_is_without_seed(const ln_op_arg *op_arg);

#endif
