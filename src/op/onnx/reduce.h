// SPDX-License-Identifier: Apache-2.0
// Shapes of ONNX's operators that work along axes.

#ifndef LN_OP_ONNX_REDUCE_H
#define LN_OP_ONNX_REDUCE_H

#include <stdbool.h>

#include <lightnet/call.h>

// What reduce makes of elements, in the order of the names of param `kind`.
typedef enum ln_reduce_kind {
    LN_REDUCE_TO_SUM,
    LN_REDUCE_TO_MEAN,
    LN_REDUCE_TO_PROD,
    LN_REDUCE_TO_MAX,
    LN_REDUCE_TO_MIN,
    LN_REDUCE_TO_L1,
    LN_REDUCE_TO_L2,
    LN_REDUCE_TO_LOG_SUM,
    LN_REDUCE_TO_LOG_SUM_EXP,
    LN_REDUCE_TO_SUM_SQUARE,
    LN_REDUCE_KIND_COUNT
} ln_reduce_kind;

// That of `reduce`, or of the operator of ONNX that the call is.
ln_status ln_reduce_kind_of(ln_call *call, ln_reduce_kind *out_kind);

// Which axes of the first input go, as input 1 or parameter `axes` says. *out_is_known is false
// where that takes a value that is not there yet.
ln_status ln_reduced_axes(ln_call *call, bool *out_is_reduced, bool *out_is_known);

// A tensor as `outer` times `count` elements that belong together, `inner` apart.
typedef struct ln_lines {
    size_t outer, count, inner;
} ln_lines;

// The lines along `axis`.
ln_lines ln_lines_along(const tl_tensor *t, int axis);

// What softmax, Hardmax and the like work on: `axis`, or all from it on, as `flat` says, or before
// operator set 13.
ln_status ln_softmax_lines(ln_call *call, ln_lines *out_lines);

#endif
