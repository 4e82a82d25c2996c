// SPDX-License-Identifier: Apache-2.0
// Floating types that C does not know, as bit patterns: from 16 bits down to 4.
//
// Decoding is exact. Encoding rounds to the nearest value, ties to even, once, whatever the
// rounding mode of the machine.

#ifndef LN_TENSOR_NARROW_H
#define LN_TENSOR_NARROW_H

#include <stdint.h>
#include <string.h>

#include <lightnet/dtype.h>

// The value of a bit pattern. Bits beyond those of the type do not count. NaN keeps its sign only.
double ln_narrow_decode(uint32_t bits, tl_dtype dtype);

// The bit pattern that is nearest to `x`. Of a value that rounds to beyond the largest:
//   saturates:      the largest, also of an infinity if the type has 8 bits or fewer
//   does not:       infinity, or NaN in a type without it
// TL_FLOAT4E2M1, which has neither, always saturates, and NaN is -0. TL_FLOAT8E8M0 has no
// sign and no 0: ties go up, a negative number is NaN, and so is what is below the smallest, unless
// it saturates.
uint32_t ln_narrow_encode(double x, tl_dtype dtype, int saturates);

// The bits of the float that has the value of binary16 `half`: the exponent moves from bias 15 to
// 127, and a subnormal is normalised by subtracting what the implicit bit would add.
static inline uint32_t ln_half_widened(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    uint32_t exponent = bits & 0x0f800000;
    if (exponent == 0x0f800000)
        return sign | 0x7f800000 | bits; // infinity or NaN
    if (exponent != 0)
        return sign | (bits + ((127 - 15) << 23));
    const uint32_t least_normal = (127 - 14) << 23; // 2^-14
    float value, base;
    uint32_t shifted = bits + least_normal;
    memcpy(&value, &shifted, sizeof value);
    memcpy(&base, &least_normal, sizeof base);
    value -= base;
    memcpy(&bits, &value, sizeof bits);
    return sign | bits;
}

static inline float ln_half_value(uint16_t half)
{
    uint32_t bits = ln_half_widened(half);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The binary16 nearest to `x`, as `ln_narrow_encode` without saturating.
static inline uint16_t ln_half_nearest(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits >= 0x477ff000) // 65520 and more, or NaN
        return (uint16_t)ln_narrow_encode((double)x, TL_FLOAT16, 0);
    if (bits >= 0x38800000) // 2^-14: the exponent moves, and ties go to even
        return sign | (uint16_t)((bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13);
    float sum; // beside 0.5 the last bit is 2^-24
    memcpy(&sum, &bits, sizeof sum);
    sum += 0.5f;
    memcpy(&bits, &sum, sizeof bits);
    return sign | (uint16_t)(bits - 0x3f000000);
}

// The same for bfloat16.
static inline uint16_t ln_bfloat_nearest(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)ln_narrow_encode((double)x, TL_BFLOAT16, 0);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float ln_bfloat_value(uint16_t upper)
{
    uint32_t bits = (uint32_t)upper << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
