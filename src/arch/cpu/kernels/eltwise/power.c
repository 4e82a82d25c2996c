// SPDX-License-Identifier: Apache-2.0
// |x|^y = 2^(y log2 |x|) in double, of which 24 of about 46 good bits are kept; then the sign.
//
// Only additions, multiplications and one division, so that every machine rounds the same way.

#include "arch/cpu/kernels/eltwise/power.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPONENT_BIAS 1023
#define MANTISSA_BITS 52
#define COUNT(array)  (sizeof(array) / sizeof(array)[0])

// artanh(s) = s + s^3 / 3 + s^5 / 5 + ..., and e^t = 1 + t + t^2 / 2 + ...
static const double artanh_series[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                       1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
static const double exp_series[] = {1.0 / 6227020800,
                                    1.0 / 479001600,
                                    1.0 / 39916800,
                                    1.0 / 3628800,
                                    1.0 / 362880,
                                    1.0 / 40320,
                                    1.0 / 5040,
                                    1.0 / 720,
                                    1.0 / 120,
                                    1.0 / 24,
                                    1.0 / 6,
                                    1.0 / 2,
                                    1,
                                    1};

// Of a number above 0, none below double's normal range; infinities and NaN stay.
//
// x = 2^e m with m between sqrt(1/2) and sqrt(2), and log(m) = 2 artanh(s) for s = (m - 1)/(m + 1).
static double log2_of(double x)
{
    uint64_t bits;
    if (!(x < INFINITY))
        return x;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
    int64_t e = (int64_t)(bits - sqrt_half) >> MANTISSA_BITS; // rounds down
    bits -= (uint64_t)e << MANTISSA_BITS;
    double m;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), z = s * s;
    double q = 0;
    for (size_t k = 0; k < COUNT(artanh_series); k++)
        q = q * z + artanh_series[k];
    const double two_over_ln2 = 0x1.71547652b82fep+1;
    return (double)e + (s + s * z * q) * two_over_ln2;
}

// 2^p; NaN stays. p = n + r with n whole and |r| <= 1/2, and e^(r ln 2) by its series.
static double exp2_of(double p)
{
    if (!(p < 200))
        return p * INFINITY; // NaN stays
    if (p < -200)
        return 0;
    const double magic = 0x1.8p52; // adding it rounds to a whole number
    double n = (p + magic) - magic, t = (p - n) * 0x1.62e42fefa39efp-1;
    double q = 0;
    for (size_t k = 0; k < COUNT(exp_series); k++)
        q = q * t + exp_series[k];
    uint64_t bits = (uint64_t)((int64_t)n + EXPONENT_BIAS) << MANTISSA_BITS;
    double factor;
    memcpy(&factor, &bits, sizeof factor);
    return q * factor;
}

float ln_power_f32(float x, float y)
{
    if (x == 1 || y == 0)
        return 1;
    double size = fabs((double)x), exponent = (double)y;
    double power = size == 1 && !isnan(y) ? 1
                   : size == 0            ? (y > 0   ? 0
                                             : y < 0 ? INFINITY
                                                     : exponent)
                                          : exp2_of(exponent * log2_of(size));
    bool is_whole = truncf(y) == y;
    bool is_odd = is_whole && fabsf(y) < 0x1p24f && ((int)y & 1);
    if (is_odd)
        return (float)copysign(power, (double)x);
    return x < 0 && x > -INFINITY && !is_whole ? x - x + NAN : (float)power;
}
