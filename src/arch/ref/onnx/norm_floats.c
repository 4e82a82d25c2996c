// SPDX-License-Identifier: Apache-2.0
// Loops over floats in double, of which the compiler makes vectors: it has eight sums to add to.

#include "arch/ref/onnx/norm_floats.h"

#define SUMS 8

double ln_sum_of_floats(const float *x, size_t n)
{
    double sums[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += (double)x[i + k];
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    for (; i < n; i++)
        sum += (double)x[i];
    return sum;
}

double ln_squares_of_floats(const float *x, size_t n, double mean)
{
    double sums[SUMS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            sums[k] += ((double)x[i + k] - mean) * ((double)x[i + k] - mean);
    for (size_t k = 0; k < SUMS; k++)
        sum += sums[k];
    for (; i < n; i++)
        sum += ((double)x[i] - mean) * ((double)x[i] - mean);
    return sum;
}

void ln_scale_floats(size_t n, const float *x, double mean, double inverse, double scale,
                     double bias, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(((double)x[i] - mean) * inverse * scale + bias);
}
