// SPDX-License-Identifier: Apache-2.0
// Size arithmetic that says when it overflows. Sizes that come from a file or a caller go through
// these, never through raw `*` and `+`.

#ifndef LN_BASE_CHECKED_H
#define LN_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// *out = a * b; false on overflow, *out is then 0.
static inline bool ln_size_mul(size_t a, size_t b, size_t *out)
{
    if (!__builtin_mul_overflow(a, b, out))
        return true;
    *out = 0;
    return false;
}

// *out = a + b; false on overflow, *out is then 0.
static inline bool ln_size_add(size_t a, size_t b, size_t *out)
{
    if (!__builtin_add_overflow(a, b, out))
        return true;
    *out = 0;
    return false;
}

// a * b and a + b; SIZE_MAX where that is too large, so that sums of such sizes stay too large.
static inline size_t ln_size_times(size_t a, size_t b)
{
    size_t product;
    return ln_size_mul(a, b, &product) ? product : SIZE_MAX;
}

static inline size_t ln_size_plus(size_t a, size_t b)
{
    size_t sum;
    return ln_size_add(a, b, &sum) ? sum : SIZE_MAX;
}

// *out = `size` rounded up to a multiple of `align`, a power of two; false on overflow.
static inline bool ln_size_align(size_t size, size_t align, size_t *out)
{
    size_t padded;
    if (!ln_size_add(size, align - 1, &padded)) {
        *out = 0;
        return false;
    }
    *out = padded & ~(align - 1);
    return true;
}

#endif
