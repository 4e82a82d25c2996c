// SPDX-License-Identifier: Apache-2.0
// Arithmetic of counts: the smaller, the larger, and quotients rounded up; and clamping. None of
// them overflows where the result fits.

#ifndef LN_BASE_MINMAX_H
#define LN_BASE_MINMAX_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t ln_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t ln_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline size_t ln_div_up(size_t a, size_t b)
{
    assert(b > 0);
    return a / b + (a % b != 0);
}

// The next multiple of `step`.
static inline size_t ln_round_up(size_t count, size_t step)
{
    return ln_div_up(count, step) * step;
}

// The nearest to x of [low, high].
static inline int64_t ln_clamp64(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

#endif
