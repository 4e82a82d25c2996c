// SPDX-License-Identifier: Apache-2.0
// First values of tensors: random numbers, or given ones with zeros after them.

#include "op/first_values.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tensor/elem.h"

// ---- Random numbers ----

static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Element i of the numbers of `seed`: 53 bits, in [0, 1).
static double unit_random(uint64_t seed, int i)
{
    return (double)(mix(seed + ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

static double real_between(double unit, double low, double high)
{
    return low * (1 - unit) + high * unit; // high - low could overflow
}

// An integer, unless there is none between `low` and `high`.
static double whole_between(double unit, double low, double high)
{
    double first = ceil(low), last = floor(high);
    if (first > last)
        return low;
    double x = floor(real_between(unit, first, last + 1));
    return x < last ? x : last;
}

static void fill_random(tl_tensor *dst, uint64_t seed, const double ran[2])
{
    bool is_real =
        dst->dtype == TL_DOUBLE || dst->dtype == TL_FLOAT || TL_DTYPE_IS_NARROW(dst->dtype);
    for (int i = 0; i < dst->len; i++) {
        double unit = unit_random(seed, i);
        double x =
            is_real ? real_between(unit, ran[0], ran[1]) : whole_between(unit, ran[0], ran[1]);
        // Converted as given numbers are, so that what is too large for a narrow type saturates.
        if (TL_DTYPE_IS_NARROW(dst->dtype))
            (void)tl_convert((char *)dst->data + (size_t)i * tl_size_of(dst->dtype), dst->dtype, &x,
                             TL_DOUBLE);
        else
            ln_elem_set_real(dst, (size_t)i, x);
    }
}

// No number can be put into the types that are not numeric; their elements start as zeros.
static ln_status expect_zeros(tl_dtype dtype, const double ran[2], const double *data, int data_len)
{
    bool is_zero = ran[0] == 0 && ran[1] == 0;
    for (int i = 0; i < data_len; i++)
        is_zero &= data[i] == 0;
    return is_zero
               ? LN_OK
               : LN_FAIL(LN_UNSUPPORTED, "numbers cannot be put into %s", tl_dtype_title(dtype));
}

ln_status ln_first_values(tl_tensor *dst, const char *name, const double ran[2], const double *data,
                          int data_len)
{
    if (dst->len > 0)
        memset(dst->data, 0, tl_tensor_size(dst));
    if (dst->dtype >= TL_COMPLEX64)
        return expect_zeros(dst->dtype, ran, data, data_len);
    if (ran[0] != 0 || ran[1] != 0) {
        fill_random(dst, hash(name), ran);
        return LN_OK;
    }
    int count = data_len < dst->len ? data_len : dst->len;
    return count > 0 ? tl_convert_n(dst->data, dst->dtype, data, TL_DOUBLE, (size_t)count) : LN_OK;
}
