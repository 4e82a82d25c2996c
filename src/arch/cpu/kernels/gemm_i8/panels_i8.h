// SPDX-License-Identifier: Apache-2.0
// Where packed weights have what (tile_i8.h): panels, then spans, then the sums of columns.

#ifndef LN_ARCH_CPU_KERNELS_PANELS_I8_H
#define LN_ARCH_CPU_KERNELS_PANELS_I8_H

#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"
#include "base/minmax.h"

static inline size_t fours_of(size_t k)
{
    return ln_div_up(k, 4);
}

static inline size_t eights_of(size_t k)
{
    return fours_of(k) / 2;
}

static inline size_t panel_bytes(size_t k)
{
    return fours_of(k) * 4 * LN_TILE_I8_LANES;
}

// Of all halves of a panel.
static inline size_t span_bytes(size_t k)
{
    return 4 * eights_of(k);
}

static inline uint8_t *spans_of(const int8_t *packed, size_t k, size_t n)
{
    return (uint8_t *)(uintptr_t)(packed + ln_div_up(n, LN_TILE_I8_LANES) * panel_bytes(k));
}

// After the spans, of which whole vectors are read.
static inline int32_t *column_sums(const int8_t *packed, size_t k, size_t n)
{
    return (int32_t *)(void *)(spans_of(packed, k, n) +
                               ln_div_up(n, LN_TILE_I8_LANES) * span_bytes(k));
}

#endif
