// SPDX-License-Identifier: Apache-2.0
// What scattered elements do with those that are there already.

#ifndef LN_ARCH_REF_ONNX_REDUCTION_H
#define LN_ARCH_REF_ONNX_REDUCTION_H

#include <lightnet/call.h>

LN_CPPSTART

typedef enum ln_reduction {
    LN_REDUCTION_NONE, // they replace them
    LN_REDUCTION_ADD,
    LN_REDUCTION_MUL,
    LN_REDUCTION_MAX,
    LN_REDUCTION_MIN
} ln_reduction;

// The name has been checked; NULL is "none".
ln_reduction ln_reduction_of(const char *name);

// Elements [to, to + count) of the output take those of `src` from `from` on. Integers wrap, a NaN
// is larger and smaller than all else, sums and products of bools are "or" and "and".
ln_status ln_reduce_run(ln_call *call, int out_index, int64_t to, const tl_tensor *src,
                        int64_t from, int64_t count, ln_reduction reduction);

LN_CPPEND

#endif
