// SPDX-License-Identifier: Apache-2.0
// Sums and scales of rows of floats, in double.

#ifndef LN_ARCH_REF_ONNX_NORM_FLOATS_H
#define LN_ARCH_REF_ONNX_NORM_FLOATS_H

#include <stddef.h>

double ln_sum_of_floats(const float *x, size_t n);

// The sum of (x - mean)^2.
double ln_squares_of_floats(const float *x, size_t n, double mean);

// y = (x - mean) * inverse * scale + bias, rounded once; y may be x.
void ln_scale_floats(size_t n, const float *x, double mean, double inverse, double scale,
                     double bias, float *y);

#endif
