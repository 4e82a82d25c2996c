// SPDX-License-Identifier: Apache-2.0
// Integers in another scale, with the roundings of the systems that quantized models come from.
//
//     float       src as TL_FLOAT, times a multiplier of TL_FLOAT, rounded to TL_FLOAT; then to
//                 the nearest integer, ties to even: quant_conv, ONNX, XNNPACK
//     away        the same, ties away from zero: Tengine
//     q31         gemmlowp's: the product of 32-bit integers over 2^31, ties upwards, and then over
//                 a power of two, ties away from zero
//     q31_single  the product of 32-bit integers, divided once, ties upwards
//     q15         the multiplier in 16 bits, times an integer of 48, divided once, ties upwards
//     shift       divided by a power of two, ties upwards: CVM

#ifndef LN_OP_RESCALE_H
#define LN_OP_RESCALE_H

#include <stdint.h>

#include <lightnet/call.h>

#include "op/onnx/quant.h"

LN_CPPSTART

typedef enum ln_rounding {
    LN_ROUNDING_FLOAT,
    LN_ROUNDING_AWAY,
    LN_ROUNDING_Q31,
    LN_ROUNDING_Q31_SINGLE,
    LN_ROUNDING_Q15,
    LN_ROUNDING_SHIFT,
    LN_ROUNDING_COUNT
} ln_rounding;

// What shifts may be: of multipliers of q formats, and of divisors of `shift`.
#define LN_RESCALE_MIN_SHIFT     (-31)
#define LN_RESCALE_MAX_SHIFT     30
#define LN_RESCALE_MAX_Q15_SHIFT 7
#define LN_RESCALE_MAX_LEFT      30
#define LN_RESCALE_MAX_DIVISOR   62

typedef struct ln_rescale {
    const tl_tensor *src, *multiplier, *shift, *src_zero, *dst_zero; // NULL: not there
    ln_rounding rounding;
    int left;
    int64_t low, high;  // of the result, within its type
    ln_quant_grid grid; // which multiplier and shift is for which element
    tl_dtype dtype;     // of the result
} ln_rescale;

// Reads and checks operands and parameters.
ln_status ln_rescale_read(ln_call *call, ln_rescale *out_rescale);

// Fails: LN_INVALID if a shift, which may come in the run, is outside of the range of its rounding.
ln_status ln_rescale_check_shifts(ln_call *call, const ln_rescale *r);

// x times the multiplier, rounded, in one of the roundings of TL_INT32 multipliers. Shifts are in
// the ranges above, x * 2^left saturates at what the rounding takes.
int64_t ln_rescale_integer(ln_rounding rounding, int64_t x, int left, int32_t multiplier,
                           int32_t shift);

// The same for `float` and `away`; saturates, and NaN is the least integer.
int64_t ln_rescale_float(ln_rounding rounding, int64_t x, float multiplier);

LN_CPPEND

#endif
