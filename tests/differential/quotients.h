// SPDX-License-Identifier: Apache-2.0
// Quotients of halves that are computed in floats.
//
// A quantize whose scale is a half rounds its quotient to one, so that 39.476 is 39.5, and then 40;
// where halves are computed as floats it is 39. The second model gives this other number.

#ifndef LN_TESTS_DIFFERENTIAL_QUOTIENTS_H
#define LN_TESTS_DIFFERENTIAL_QUOTIENTS_H

// The model with `precision=TL_FLOAT` where the scale of a quantize is a half and nothing states a
// precision. NULL where there is no such one, or no memory.
char *with_float_quotients(const char *text);

#endif
