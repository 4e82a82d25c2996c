// SPDX-License-Identifier: Apache-2.0
// Single elements of any numeric type as a double or an int64_t. Nothing is checked.
//
// What a kernel computed is rounded as IEEE 754 says, so that too large is infinite; `tl_convert`
// keeps to the largest value. A complex number is its real part, and as one has no imaginary part;
// strings and objects are 0 and stay as they are.

#ifndef LN_TENSOR_ELEM_H
#define LN_TENSOR_ELEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/tensor.h>

#include "tensor/narrow.h"

// All types but double and float, out of line.
double ln_data_real_slow(const void *data, tl_dtype dtype, size_t i);
void ln_data_set_real_slow(void *data, tl_dtype dtype, size_t i, double x);
int64_t ln_data_int_slow(const void *data, tl_dtype dtype, size_t i);
void ln_data_set_int_slow(void *data, tl_dtype dtype, size_t i, int64_t x);

// ---- Elements of an array ----

static inline double ln_data_real(const void *data, tl_dtype dtype, size_t i)
{
    if (dtype == TL_FLOAT)
        return (double)((const float *)data)[i];
    if (dtype == TL_DOUBLE)
        return ((const double *)data)[i];
    return ln_data_real_slow(data, dtype, i);
}

// Rounds to the nearest, ties to even, in floating types (8 bits and fewer saturate); truncates and
// saturates in integers, where NaN is 0; a bool is x != 0.
static inline void ln_data_set_real(void *data, tl_dtype dtype, size_t i, double x)
{
    if (dtype == TL_FLOAT)
        ((float *)data)[i] = (float)x;
    else if (dtype == TL_DOUBLE)
        ((double *)data)[i] = x;
    else
        ln_data_set_real_slow(data, dtype, i, x);
}

// Of a uint64_t its bits; of a floating number what is left when it is truncated and saturated.
static inline int64_t ln_data_int(const void *data, tl_dtype dtype, size_t i)
{
    if (dtype == TL_INT64)
        return ((const int64_t *)data)[i];
    if (dtype == TL_INT32)
        return ((const int32_t *)data)[i];
    return ln_data_int_slow(data, dtype, i);
}

// Wraps in integers; rounds in floating types; a bool is x != 0.
static inline void ln_data_set_int(void *data, tl_dtype dtype, size_t i, int64_t x)
{
    if (dtype == TL_INT64)
        ((int64_t *)data)[i] = x;
    else if (dtype == TL_INT32)
        ((int32_t *)data)[i] = (int32_t)(uint32_t)(uint64_t)x;
    else
        ln_data_set_int_slow(data, dtype, i, x);
}

// ---- Elements of a tensor ----

static inline double ln_elem_real(const tl_tensor *t, size_t i)
{
    return ln_data_real(t->data, t->dtype, i);
}

static inline void ln_elem_set_real(tl_tensor *t, size_t i, double x)
{
    ln_data_set_real(t->data, t->dtype, i, x);
}

static inline int64_t ln_elem_int(const tl_tensor *t, size_t i)
{
    return ln_data_int(t->data, t->dtype, i);
}

static inline void ln_elem_set_int(tl_tensor *t, size_t i, int64_t x)
{
    ln_data_set_int(t->data, t->dtype, i, x);
}

// dst[i] = src[j], of types of one size: bits as they are.
static inline void ln_elem_copy(tl_tensor *dst, size_t i, const tl_tensor *src, size_t j)
{
    switch (tl_size_of(dst->dtype)) {
    case 1: ((uint8_t *)dst->data)[i] = ((const uint8_t *)src->data)[j]; break;
    case 2: memcpy((char *)dst->data + 2 * i, (const char *)src->data + 2 * j, 2); break;
    case 4: memcpy((char *)dst->data + 4 * i, (const char *)src->data + 4 * j, 4); break;
    case 8: memcpy((char *)dst->data + 8 * i, (const char *)src->data + 8 * j, 8); break;
    default: memcpy((char *)dst->data + 16 * i, (const char *)src->data + 16 * j, 16); break;
    }
}

// ---- Numbers ----

// `x` as an element of `dtype` has it. `saturates` says what becomes of a value beyond the range:
// the largest, or what the type has for it (infinity, else NaN; an integer wraps). NaN is 0 in an
// integer. For narrow types see `ln_narrow_encode`.
double ln_elem_round(double x, tl_dtype dtype, int saturates);

// `x` as a double from which any narrow type gets the value nearest to `x`: an odd bit stands for
// all those that a double has no room for, so that rounding twice is rounding once.
double ln_sticky_double(int64_t x);
double ln_sticky_unsigned(uint64_t x);

// The integer that `x` truncated is congruent to modulo 2^64; 0 for NaN and infinities.
int64_t ln_real_wrapped(double x);

// `x` truncated, at least INT64_MIN and at most INT64_MAX; 0 for NaN.
int64_t ln_real_saturated(double x);

#endif
