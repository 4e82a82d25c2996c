// SPDX-License-Identifier: Apache-2.0
// Memory planning: gives each interval an offset so that live intervals never overlap.
//
// Knows sizes and lifetimes only; the caller turns values into intervals. The same input gives the
// same offsets everywhere.

#ifndef LN_PLAN_ARENA_H
#define LN_PLAN_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include <lightnet/status.h>

typedef struct ln_interval {
    size_t byte_count;
    uint32_t first_step; // inclusive
    uint32_t last_step;  // inclusive
    size_t offset;       // out
} ln_interval;

// Fills in `offset` of every interval: multiples of `align`, a power of two, from `first_offset`
// on, a positive multiple of it (0 is never an offset). *out_byte_count receives the arena size
// from `first_offset` to the end, a multiple of `align`. Empty intervals are at `first_offset`.
// LN_INVALID for bad arguments, LN_LIMIT when the arena would not fit into a size_t; offsets are
// then unchanged. The time grows with `count` times the number alive at once, at worst with its
// square: seconds for 20 000 intervals of which thousands are alive at once.
ln_status ln_plan_arena(ln_interval *intervals, size_t count, size_t align, size_t first_offset,
                        size_t *out_byte_count);

// *out_byte_count receives what no arena can stay below: the largest sum over the steps of the
// aligned sizes of the intervals that are alive there. Same failures.
ln_status ln_plan_lower_bound(const ln_interval *intervals, size_t count, size_t align,
                              size_t *out_byte_count);

#endif
