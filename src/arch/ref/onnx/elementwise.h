// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that work element by element, on arch `ref`.
//
// Floating types are computed in double and rounded once; integers wrap. Division of integers by 0
// gives 0. A NaN stays NaN.

#ifndef LN_ARCH_REF_ONNX_ELEMENTWISE_H
#define LN_ARCH_REF_ONNX_ELEMENTWISE_H

#include <lightnet/call.h>

#include "op/onnx/elementwise.h"

// The larger, the smaller of two: NaN if one is.
double ln_real_max(double a, double b);
double ln_real_min(double a, double b);

// What the core's `elew` computes of any number of inputs.
ln_status ln_ref_fold(ln_call *call, int elew_op);

// How the elements of a dtype are computed with. A bool is NATURAL.
typedef enum ln_number_kind {
    LN_NUMBER_REAL,    // as double
    LN_NUMBER_WHOLE,   // as int64_t
    LN_NUMBER_NATURAL, // as uint64_t
} ln_number_kind;

ln_number_kind ln_number_kind_of(tl_dtype dtype);

#endif
