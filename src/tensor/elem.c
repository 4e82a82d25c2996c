// SPDX-License-Identifier: Apache-2.0
// Single elements of any numeric type: the types that are not worth a branch of their own inline.

#include "tensor/elem.h"

#include <float.h>
#include <math.h>

static double saturated(double x, double least, double most)
{
    return isnan(x) ? 0 : x <= least ? least : x >= most ? most : trunc(x);
}

int64_t ln_real_saturated(double x)
{
    if (isnan(x))
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}

static uint64_t unsigned_saturated(double x)
{
    return !(x > 0) ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
}

int64_t ln_real_wrapped(double x)
{
    if (!isfinite(x))
        return 0;
    double rest = fmod(trunc(x), 0x1p64); // exact
    uint64_t magnitude = (uint64_t)fabs(rest);
    return (int64_t)(rest < 0 ? -magnitude : magnitude);
}

double ln_sticky_unsigned(uint64_t x)
{
    if (x <= UINT64_C(1) << 53)
        return (double)x;
    return (double)((x & ~UINT64_C(0xfff)) | (x & 0xfff ? 0x800 : 0));
}

double ln_sticky_double(int64_t x)
{
    return x < 0 ? -ln_sticky_unsigned(-(uint64_t)x) : ln_sticky_unsigned((uint64_t)x);
}

// ---- As double ----

static inline double narrow_real(uint16_t bits, tl_dtype dtype)
{
    if (dtype == TL_FLOAT16)
        return (double)ln_half_value(bits);
    if (dtype == TL_BFLOAT16)
        return (double)ln_bfloat_value(bits);
    return ln_narrow_decode(bits, dtype);
}

double ln_data_real_slow(const void *data, tl_dtype dtype, size_t i)
{
    switch (dtype) {
#define REAL_CASE(name, type, kind, fmt, min, max)                                                 \
    case name:                                                                                     \
        return REAL_##kind(name, type);
#define REAL_FLOATING(name, type) ((double)((const type *)data)[i])
#define REAL_SIGNED               REAL_FLOATING
#define REAL_UNSIGNED             REAL_FLOATING
#define REAL_INTEGER              REAL_FLOATING
#define REAL_BOOLEAN(name, type)  (((const type *)data)[i] != 0 ? 1.0 : 0.0)
#define REAL_NARROW(name, type)   narrow_real(((const type *)data)[i], name)
#define REAL_COMPLEX(name, type)  ((double)((const type *)data)[i].real)
#define REAL_STRING(name, type)   0
#define REAL_OBJECT(name, type)   0
        TL_DTYPE_LIST(REAL_CASE)
        TL_DTYPE_STORED_LIST(REAL_CASE)
    default: return 0;
    }
}

void ln_data_set_real_slow(void *data, tl_dtype dtype, size_t i, double x)
{
    switch (dtype) {
#define SET_REAL_CASE(name, type, kind, fmt, min, max)                                             \
    case name:                                                                                     \
        SET_REAL_##kind(name, type, min, max);                                                     \
        break;
#define SET_REAL_FLOATING(name, type, min, max) ((type *)data)[i] = (type)x
#define SET_REAL_SIGNED(name, type, min, max)                                                      \
    ((type *)data)[i] = name == TL_INT64 ? (type)ln_real_saturated(x)                              \
                                         : (type)saturated(x, (double)(min), (double)(max))
#define SET_REAL_UNSIGNED(name, type, min, max)                                                    \
    ((type *)data)[i] =                                                                            \
        name == TL_UINT64 ? (type)unsigned_saturated(x) : (type)saturated(x, 0, (double)(max))
#define SET_REAL_INTEGER(name, type, min, max) ((type *)data)[i] = (type)saturated(x, min, max)
#define SET_REAL_BOOLEAN(name, type, min, max) ((type *)data)[i] = x != 0
#define SET_REAL_NARROW(name, type, min, max)                                                      \
    ((type *)data)[i] = (type)ln_narrow_encode(x, name, sizeof(type) == 1)
#define SET_REAL_COMPLEX(name, type, min, max)                                                     \
    ((type *)data)[i].real = (__typeof__(((type *)data)[i].real))x, ((type *)data)[i].imag = 0
#define SET_REAL_STRING(name, type, min, max) (void)0
#define SET_REAL_OBJECT(name, type, min, max) (void)0
        TL_DTYPE_LIST(SET_REAL_CASE)
        TL_DTYPE_STORED_LIST(SET_REAL_CASE)
    default: break;
    }
}

// ---- As int64_t ----

int64_t ln_data_int_slow(const void *data, tl_dtype dtype, size_t i)
{
    switch (dtype) {
#define INT_CASE(name, type, kind, fmt, min, max)                                                  \
    case name:                                                                                     \
        return INT_##kind(name, type);
#define INT_SIGNED(name, type)   ((int64_t)((const type *)data)[i])
#define INT_UNSIGNED             INT_SIGNED
#define INT_INTEGER              INT_SIGNED
#define INT_BOOLEAN(name, type)  (((const type *)data)[i] != 0)
#define INT_FLOATING(name, type) ln_real_saturated(ln_data_real(data, name, i))
#define INT_NARROW               INT_FLOATING
#define INT_COMPLEX              INT_FLOATING
#define INT_STRING(name, type)   0
#define INT_OBJECT(name, type)   0
        TL_DTYPE_LIST(INT_CASE)
        TL_DTYPE_STORED_LIST(INT_CASE)
    default: return 0;
    }
}

// The lowest `bits` bits of `x`, as a signed number.
static int8_t low_bits_signed(int64_t x, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1), low = (uint64_t)x & (2 * sign - 1);
    return (int8_t)((int)(low ^ sign) - (int)sign);
}

static void set_small_int(void *data, tl_dtype dtype, size_t i, int64_t x)
{
    switch (dtype) {
    case TL_INT4: ((int8_t *)data)[i] = low_bits_signed(x, 4); break;
    case TL_INT2: ((int8_t *)data)[i] = low_bits_signed(x, 2); break;
    case TL_UINT4: ((uint8_t *)data)[i] = (uint8_t)(x & 15); break;
    default: ((uint8_t *)data)[i] = (uint8_t)(x & 3); break;
    }
}

void ln_data_set_int_slow(void *data, tl_dtype dtype, size_t i, int64_t x)
{
    switch (dtype) {
#define SET_INT_CASE(name, type, kind, fmt, min, max)                                              \
    case name:                                                                                     \
        SET_INT_##kind(name, type);                                                                \
        break;
#define SET_INT_SIGNED(name, type)   ((type *)data)[i] = (type)(uint64_t)x
#define SET_INT_UNSIGNED             SET_INT_SIGNED
#define SET_INT_FLOATING(name, type) ((type *)data)[i] = (type)x
#define SET_INT_BOOLEAN(name, type)  ((type *)data)[i] = x != 0
#define SET_INT_NARROW(name, type)   ln_data_set_real_slow(data, name, i, ln_sticky_double(x))
#define SET_INT_COMPLEX(name, type)  ln_data_set_real_slow(data, name, i, (double)x)
#define SET_INT_INTEGER(name, type)  set_small_int(data, name, i, x)
#define SET_INT_STRING(name, type)   (void)0
#define SET_INT_OBJECT(name, type)   (void)0
        TL_DTYPE_LIST(SET_INT_CASE)
        TL_DTYPE_STORED_LIST(SET_INT_CASE)
    default: break;
    }
}

// ---- Numbers ----

static float saturated_float(double x)
{
    float f = (float)x;
    return isinf(f) && !isinf(x) ? copysignf(FLT_MAX, f) : f;
}

double ln_elem_round(double x, tl_dtype dtype, int saturates)
{
    union { // room for any number
        int64_t whole;
        double real[2];
    } element = {0};
    if (TL_DTYPE_IS_NARROW(dtype))
        return ln_narrow_decode(ln_narrow_encode(x, dtype, saturates), dtype);
    if (dtype == TL_FLOAT)
        return (double)(saturates ? saturated_float(x) : (float)x);
    if (saturates || dtype == TL_DOUBLE || dtype == TL_BOOL)
        ln_data_set_real(&element, dtype, 0, x);
    else
        ln_data_set_int(&element, dtype, 0, ln_real_wrapped(x));
    return ln_data_real(&element, dtype, 0);
}
