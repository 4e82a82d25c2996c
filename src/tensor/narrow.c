// SPDX-License-Identifier: Apache-2.0
// Narrow floating types. One pair of functions for all: a type is its fields' widths, its bias, and
// where its patterns for values end.

#include "tensor/narrow.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { NO_CODE = 0x10000 };

// A pattern without its sign is a code; codes are in the order of their values.
typedef struct format {
    int fraction_bits;
    int bias;
    uint32_t sign;     // the bit; 0: none
    uint32_t largest;  // code of the largest finite value
    uint32_t infinity; // code; NO_CODE: none
    uint32_t nan;      // pattern; NO_CODE: none. Where it is the sign alone there is no -0
} format;

static const format formats[] = {
    [TL_FLOAT16 - TL_FLOAT16] = {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00},
    [TL_BFLOAT16 - TL_FLOAT16] = {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0},
    [TL_FLOAT8E4M3FN - TL_FLOAT16] = {3, 7, 0x80, 0x7e, NO_CODE, 0x7f},
    [TL_FLOAT8E4M3FNUZ - TL_FLOAT16] = {3, 8, 0x80, 0x7f, NO_CODE, 0x80},
    [TL_FLOAT8E5M2 - TL_FLOAT16] = {2, 15, 0x80, 0x7b, 0x7c, 0x7e},
    [TL_FLOAT8E5M2FNUZ - TL_FLOAT16] = {2, 16, 0x80, 0x7f, NO_CODE, 0x80},
    [TL_FLOAT8E8M0 - TL_FLOAT16] = {0, 127, 0, 0xfe, NO_CODE, 0xff},
    [TL_FLOAT4E2M1 - TL_FLOAT16] = {1, 1, 0x8, 0x7, NO_CODE, NO_CODE},
};

static bool has_negative_zero(const format *f)
{
    return f->nan != f->sign;
}

// ---- Patterns to values ----

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double power_of_two(int exponent) // -1022 to 1023
{
    return from_bits((uint64_t)(1023 + exponent) << 52);
}

double ln_narrow_decode(uint32_t bits, tl_dtype dtype)
{
    const format *f = &formats[dtype - TL_FLOAT16];
    if (dtype == TL_FLOAT8E8M0)
        return (bits & 0xff) == f->nan ? (double)NAN : power_of_two((int)(bits & 0xff) - f->bias);
    double sign = bits & f->sign ? -1.0 : 1.0;
    uint32_t code = bits & (f->sign - 1);
    if (code > f->largest || (!has_negative_zero(f) && (bits & (2 * f->sign - 1)) == f->nan))
        return code == f->infinity ? sign * (double)INFINITY : copysign((double)NAN, sign);
    int exponent = (int)(code >> f->fraction_bits);
    double fraction = (double)(code & ((1u << f->fraction_bits) - 1));
    int is_normal = exponent > 0;
    if (is_normal)
        fraction += (double)(1u << f->fraction_bits);
    else
        exponent = 1; // subnormal: the exponent of the least normal value
    return sign * fraction * power_of_two(exponent - f->bias - f->fraction_bits);
}

// ---- Values to patterns ----

// The code nearest to a finite x >= 0; beyond the largest code of the type where x is too large. A
// code that is rounded up past its fraction carries into its exponent, as it should.
static uint64_t nearest_code(uint64_t x_bits, const format *f)
{
    int exponent = (int)(x_bits >> 52) - 1023;
    uint64_t significand = (x_bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    int least_exponent = 1 - f->bias;
    int dropped = 52 - f->fraction_bits;
    uint64_t code = 0;
    if (exponent < least_exponent)
        dropped += least_exponent - exponent;
    else
        code = (uint64_t)(exponent - least_exponent) << f->fraction_bits;
    if (dropped > 53)
        return 0; // below half of the least value; doubles below 2^-1022 are among these
    uint64_t rest = significand & ((UINT64_C(1) << dropped) - 1), half = UINT64_C(1)
                                                                         << (dropped - 1);
    code += significand >> dropped;
    return code + (rest > half || (rest == half && (code & 1)));
}

// Powers of two only; ties go up.
static uint32_t encode_e8m0(double x, int saturates)
{
    const uint32_t nan = 0xff, largest = 0xfe;
    if (isnan(x) || x < 0)
        return nan;
    if (x < 0x1p-127)
        return saturates ? 0 : nan;
    if (isinf(x))
        return saturates ? largest : nan;
    int exponent;
    double fraction = frexp(x, &exponent); // 0.5 to 1
    int code = exponent - 1 + 127 + (fraction >= 0.75);
    return code <= (int)largest ? (uint32_t)code : saturates ? largest : nan;
}

uint32_t ln_narrow_encode(double x, tl_dtype dtype, int saturates)
{
    if (dtype == TL_FLOAT8E8M0)
        return encode_e8m0(x, saturates);
    const format *f = &formats[dtype - TL_FLOAT16];
    uint32_t sign = signbit(x) ? f->sign : 0;
    bool has_nan = f->nan != NO_CODE;
    if (isnan(x)) {
        if (!has_nan)
            return f->sign;
        return has_negative_zero(f) ? f->nan | sign : f->nan;
    }
    if (isinf(x) && f->infinity != NO_CODE && (f->sign == 0x8000 || !saturates))
        return f->infinity | sign;

    uint64_t bits;
    double magnitude = fabs(x);
    memcpy(&bits, &magnitude, sizeof bits);
    uint64_t code = isinf(x) ? UINT64_MAX : nearest_code(bits, f);
    if (code > f->largest) {
        if (saturates || !has_nan)
            return f->largest | sign;
        if (f->infinity != NO_CODE)
            return f->infinity | sign;
        return has_negative_zero(f) ? f->nan | sign : f->nan;
    }
    return code == 0 && !has_negative_zero(f) ? 0 : (uint32_t)code | sign;
}
