// SPDX-License-Identifier: Apache-2.0
// Numbers as strings, and back, whatever the locale.

#ifndef LN_ARCH_REF_ONNX_QUANT_TEXT_H
#define LN_ARCH_REF_ONNX_QUANT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/dtype.h>

#define LN_NUMBER_TEXT_BYTES 40

// The shortest decimal number that is `x` again when it is read as `dtype`, a floating type that
// has the value `x`: with a point between 1e-4 and 1e16, else with an exponent; "nan", "inf",
// "-inf". Returns the length.
size_t ln_real_to_text(double x, tl_dtype dtype, char text[LN_NUMBER_TEXT_BYTES]);

// The number that `text` is, with white space around it at most: digits with or without a point and
// an exponent, "inf", "infinity" and "nan" in any case, a sign before them. False if it is none.
bool ln_real_from_text(const char *text, double *out_x);

// The same for an integer without point and exponent that has 64 bits, signed or unsigned; as
// its bits.
bool ln_whole_from_text(const char *text, bool *out_is_negative, uint64_t *out_bits);

#endif
