// SPDX-License-Identifier: Apache-2.0
// How the kernels of `ref` read, add up and write elements of any dtype.
//
// A kernel is written once, for all dtypes: an always-inline function with the dtype as an
// argument, called from LN_REF_FOR_DTYPE. For floating dtypes that is a constant, so that the
// compiler removes every switch below. All others share one copy, which asks for the dtype at each
// element, or once for a row of products: a copy for each made 50 KB of code that runs seldom.
//
// Sums are exact in a wider type: floating elements in double, all others in 64-bit integers. A
// sum beyond 64 bits wraps, which makes it independent of the order; a result beyond the range of
// its dtype saturates. Doubles become floats as IEEE 754 rounds them, so that too large is
// infinite.

#ifndef LN_ARCH_REF_ELEMENT_H
#define LN_ARCH_REF_ELEMENT_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/dtype.h>

#define LN_REF_INLINE static inline __attribute__((always_inline))

// Calls `function(problem, dtype)`, with a constant if `dtype` is floating.
#define LN_REF_FOR_DTYPE(dtype, function, problem)                                                 \
    do {                                                                                           \
        const tl_dtype of_all_ = (dtype);                                                          \
        if (of_all_ == TL_DOUBLE)                                                                  \
            function(problem, TL_DOUBLE);                                                          \
        else if (of_all_ == TL_FLOAT)                                                              \
            function(problem, TL_FLOAT);                                                           \
        else if (TL_DTYPE_IS_NATIVE(of_all_)) /* operators refuse the others */                    \
            function(problem, of_all_);                                                            \
    } while (0)

// Whether the switches below are worth a copy: else they are called.
#define LN_REF_IS_CONSTANT(dtype) __builtin_constant_p(dtype)

// A floating element is in `real`, any other one in `whole`, in two's complement if signed. The
// other member is 0.
typedef struct ln_ref_number {
    double real;
    uint64_t whole;
} ln_ref_number;

LN_REF_INLINE bool ln_ref_is_floating(tl_dtype dtype)
{
    return dtype == TL_DOUBLE || dtype == TL_FLOAT;
}

LN_REF_INLINE bool ln_ref_is_signed(tl_dtype dtype)
{
    return dtype == TL_INT64 || dtype == TL_INT32 || dtype == TL_INT16 || dtype == TL_INT8;
}

LN_REF_INLINE ln_ref_number ln_ref_real(double x)
{
    return (ln_ref_number){.real = x};
}

LN_REF_INLINE ln_ref_number ln_ref_signed(int64_t x)
{
    return (ln_ref_number){.whole = (uint64_t)x};
}

LN_REF_INLINE ln_ref_number ln_ref_unsigned(uint64_t x)
{
    return (ln_ref_number){.whole = x};
}

// ---- Memory ----

LN_REF_INLINE ln_ref_number ln_ref_load_of(const void *data, size_t i, tl_dtype dtype)
{
    switch (dtype) {
    case TL_DOUBLE: return ln_ref_real(((const double *)data)[i]);
    case TL_FLOAT: return ln_ref_real((double)((const float *)data)[i]);
    case TL_INT64: return ln_ref_signed(((const int64_t *)data)[i]);
    case TL_INT32: return ln_ref_signed(((const int32_t *)data)[i]);
    case TL_INT16: return ln_ref_signed(((const int16_t *)data)[i]);
    case TL_INT8: return ln_ref_signed(((const int8_t *)data)[i]);
    case TL_UINT64: return ln_ref_unsigned(((const uint64_t *)data)[i]);
    case TL_UINT32: return ln_ref_unsigned(((const uint32_t *)data)[i]);
    case TL_UINT16: return ln_ref_unsigned(((const uint16_t *)data)[i]);
    case TL_UINT8: return ln_ref_unsigned(((const uint8_t *)data)[i]);
    case TL_BOOL: return ln_ref_unsigned(((const tl_bool *)data)[i] != 0);
    default: break;
    }
    return ln_ref_unsigned(0);
}

// The same for a dtype that is no constant.
ln_ref_number ln_ref_load_any(const void *data, size_t i, tl_dtype dtype);

LN_REF_INLINE ln_ref_number ln_ref_load(const void *data, size_t i, tl_dtype dtype)
{
    return LN_REF_IS_CONSTANT(dtype) ? ln_ref_load_of(data, i, dtype)
                                     : ln_ref_load_any(data, i, dtype);
}

LN_REF_INLINE int64_t ln_ref_clamp_signed(ln_ref_number x, int64_t min, int64_t max)
{
    int64_t value = (int64_t)x.whole;
    return value < min ? min : value > max ? max : value;
}

LN_REF_INLINE uint64_t ln_ref_clamp_unsigned(ln_ref_number x, uint64_t max)
{
    return x.whole > max ? max : x.whole;
}

// Saturates.
LN_REF_INLINE void ln_ref_store_of(void *data, size_t i, tl_dtype dtype, ln_ref_number x)
{
    switch (dtype) {
    case TL_DOUBLE: ((double *)data)[i] = x.real; break;
    case TL_FLOAT: ((float *)data)[i] = (float)x.real; break;
    case TL_INT64: ((int64_t *)data)[i] = (int64_t)x.whole; break;
    case TL_INT32:
        ((int32_t *)data)[i] = (int32_t)ln_ref_clamp_signed(x, INT32_MIN, INT32_MAX);
        break;
    case TL_INT16:
        ((int16_t *)data)[i] = (int16_t)ln_ref_clamp_signed(x, INT16_MIN, INT16_MAX);
        break;
    case TL_INT8: ((int8_t *)data)[i] = (int8_t)ln_ref_clamp_signed(x, INT8_MIN, INT8_MAX); break;
    case TL_UINT64: ((uint64_t *)data)[i] = x.whole; break;
    case TL_UINT32: ((uint32_t *)data)[i] = (uint32_t)ln_ref_clamp_unsigned(x, UINT32_MAX); break;
    case TL_UINT16: ((uint16_t *)data)[i] = (uint16_t)ln_ref_clamp_unsigned(x, UINT16_MAX); break;
    case TL_UINT8: ((uint8_t *)data)[i] = (uint8_t)ln_ref_clamp_unsigned(x, UINT8_MAX); break;
    case TL_BOOL: ((tl_bool *)data)[i] = x.whole != 0; break;
    default: break;
    }
}

void ln_ref_store_any(void *data, size_t i, tl_dtype dtype, ln_ref_number x);

LN_REF_INLINE void ln_ref_store(void *data, size_t i, tl_dtype dtype, ln_ref_number x)
{
    if (LN_REF_IS_CONSTANT(dtype))
        ln_ref_store_of(data, i, dtype, x);
    else
        ln_ref_store_any(data, i, dtype, x);
}

// ---- Any dtype as double, for functions such as exp ----

LN_REF_INLINE double ln_ref_load_double(const void *data, size_t i, tl_dtype dtype)
{
    ln_ref_number x = ln_ref_load_of(data, i, dtype);
    return ln_ref_is_floating(dtype) ? x.real
           : ln_ref_is_signed(dtype) ? (double)(int64_t)x.whole
                                     : (double)x.whole;
}

// Integers by the library's conversion: saturating, toward zero, NaN to 0.
LN_REF_INLINE void ln_ref_store_double(void *data, size_t i, tl_dtype dtype, double x)
{
    if (ln_ref_is_floating(dtype))
        ln_ref_store_of(data, i, dtype, ln_ref_real(x));
    else
        (void)tl_convert((char *)data + i * tl_size_of(dtype), dtype, &x, TL_DOUBLE);
}

// ---- Arithmetic ----

LN_REF_INLINE ln_ref_number ln_ref_add(ln_ref_number a, ln_ref_number b)
{
    return (ln_ref_number){.real = a.real + b.real, .whole = a.whole + b.whole};
}

LN_REF_INLINE ln_ref_number ln_ref_mul(ln_ref_number a, ln_ref_number b)
{
    return (ln_ref_number){.real = a.real * b.real, .whole = a.whole * b.whole};
}

// False when one is NaN.
LN_REF_INLINE bool ln_ref_less(ln_ref_number a, ln_ref_number b, tl_dtype dtype)
{
    return ln_ref_is_floating(dtype) ? a.real < b.real
           : ln_ref_is_signed(dtype) ? (int64_t)a.whole < (int64_t)b.whole
                                     : a.whole < b.whole;
}

// NaN and -0 stay.
LN_REF_INLINE ln_ref_number ln_ref_positive_part(ln_ref_number x, tl_dtype dtype)
{
    ln_ref_number zero = ln_ref_unsigned(0);
    return ln_ref_less(x, zero, dtype) ? zero : x;
}

// What every number is at least as large as, and the result of a maximum over nothing.
LN_REF_INLINE ln_ref_number ln_ref_least(tl_dtype dtype)
{
    switch (dtype) {
    case TL_DOUBLE:
    case TL_FLOAT: return ln_ref_real(-(double)__builtin_inff());
    case TL_INT64:
    case TL_INT32:
    case TL_INT16:
    case TL_INT8: return ln_ref_signed(INT64_MIN); // storing saturates
    default: return ln_ref_unsigned(0);
    }
}

// ---- Sums of neighbouring outputs ----

#define LN_REF_SUMS 64

// As a number: floating sums are in `real`, the others in `whole`.
typedef struct ln_ref_sums {
    double real[LN_REF_SUMS];
    uint64_t whole[LN_REF_SUMS];
} ln_ref_sums;

// All begin with element `channel` of `bias`, or with 0 if that is NULL.
LN_REF_INLINE void ln_ref_start_sums(ln_ref_sums *sums, tl_dtype dtype, int64_t count,
                                     const void *bias, int64_t channel)
{
    ln_ref_number start = bias ? ln_ref_load(bias, (size_t)channel, dtype) : ln_ref_unsigned(0);
    for (int64_t x = 0; x < count; x++) {
        if (ln_ref_is_floating(dtype))
            sums->real[x] = start.real;
        else
            sums->whole[x] = start.whole;
    }
}

// Adds weight * src[at], weight * src[at + src_step], ... to the sums first, first + step, ... <
// end.
LN_REF_INLINE void ln_ref_add_products_of(ln_ref_sums *sums, tl_dtype dtype, int64_t first,
                                          int64_t end, int64_t step, const void *src, int64_t at,
                                          int64_t src_step, ln_ref_number weight)
{
    if (step == 1 && src_step == 1) { // the compiler's chance to use vectors
        for (int64_t x = 0; x < end - first; x++) {
            ln_ref_number element = ln_ref_load_of(src, (size_t)(at + x), dtype);
            if (ln_ref_is_floating(dtype))
                sums->real[first + x] += element.real * weight.real;
            else
                sums->whole[first + x] += element.whole * weight.whole;
        }
        return;
    }
    for (int64_t x = first; x < end; x += step, at += src_step) {
        ln_ref_number element = ln_ref_load_of(src, (size_t)at, dtype);
        if (ln_ref_is_floating(dtype))
            sums->real[x] += element.real * weight.real;
        else
            sums->whole[x] += element.whole * weight.whole;
    }
}

void ln_ref_add_products_any(ln_ref_sums *sums, tl_dtype dtype, int64_t first, int64_t end,
                             int64_t step, const void *src, int64_t at, int64_t src_step,
                             ln_ref_number weight);

LN_REF_INLINE void ln_ref_add_products(ln_ref_sums *sums, tl_dtype dtype, int64_t first,
                                       int64_t end, int64_t step, const void *src, int64_t at,
                                       int64_t src_step, ln_ref_number weight)
{
    if (LN_REF_IS_CONSTANT(dtype))
        ln_ref_add_products_of(sums, dtype, first, end, step, src, at, src_step, weight);
    else
        ln_ref_add_products_any(sums, dtype, first, end, step, src, at, src_step, weight);
}

LN_REF_INLINE void ln_ref_store_sums(const ln_ref_sums *sums, tl_dtype dtype, int64_t count,
                                     bool is_relu, void *dst, size_t at)
{
    for (int64_t x = 0; x < count; x++) {
        ln_ref_number sum = ln_ref_is_floating(dtype) ? ln_ref_real(sums->real[x])
                                                      : ln_ref_unsigned(sums->whole[x]);
        ln_ref_store(dst, at + (size_t)x, dtype, is_relu ? ln_ref_positive_part(sum, dtype) : sum);
    }
}

#endif
