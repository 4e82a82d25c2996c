// SPDX-License-Identifier: Apache-2.0
// x = m 2^e, and of 2 / pi only those binary digits matter that m 2^e moves to just above the point
// and after it (Payne and Hanek, 1983). So the angle is found in integers, as quarters of a
// turn and what is left, and the rest in double. The same bits everywhere.

#include "arch/cpu/kernels/eltwise/sin_large.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// 32 zeros, then 2 / pi after the point.
static const uint32_t two_over_pi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// The 32 digits from `first` on.
static uint32_t digits_at(size_t first)
{
    size_t word = first / 32, shift = first % 32;
    uint64_t both = (uint64_t)two_over_pi[word] << 32 | two_over_pi[word + 1];
    return (uint32_t)(both << shift >> 32);
}

// m 2^e 2 / pi modulo 4: two digits above the point, 62 after it.
static uint64_t quarters_of(uint32_t m, int e)
{
    size_t first = (size_t)(e + 30); // the digit that has the value 2
    uint64_t low = (uint64_t)m * digits_at(first + 64);
    uint64_t middle = (uint64_t)m * digits_at(first + 32);
    return ((uint64_t)m * digits_at(first) << 32) + middle + (low >> 32);
}

static double series(const double *factors, size_t count, double z)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum = sum * z + factors[k];
    return sum;
}

float ln_sin_large(float x, bool is_cos)
{
    static const double sin_series[] = {
        1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1};
    static const double cos_series[] = {
        1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1};
    if (!(fabsf(x) < INFINITY))
        return x - x;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t m = (bits & 0x7fffff) | 0x800000;
    uint64_t angle = quarters_of(m, (int)(bits >> 23 & 0xff) - 150);
    uint64_t quarter = (angle + ((uint64_t)1 << 61)) >> 62; // the nearest one
    double r = (double)(int64_t)(angle - (quarter << 62)) * 0x1.921fb54442d18p-62;
    if (is_cos)
        quarter++;
    double y = quarter & 1 ? series(cos_series, COUNT(cos_series), r * r)
                           : r * series(sin_series, COUNT(sin_series), r * r);
    bool is_below = (quarter & 2) != 0;
    if (x < 0 && !is_cos)
        is_below = !is_below;
    return (float)(is_below ? -y : y);
}
