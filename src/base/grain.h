// SPDX-License-Identifier: Apache-2.0
// The grain: sizes from which on the engine takes another way, such as what outgrows a cache or
// pays for a second thread, are asked for here.
//
// They are the same on all machines and in all processes. Tests alone make the grain finer, so that
// images of a few elements take the ways that megabytes take else.

#ifndef LN_BASE_GRAIN_H
#define LN_BASE_GRAIN_H

#include <stddef.h>

// All sizes are divided by two to the power of this. It stays while there is a context.
extern unsigned ln_grain_shift;

// At least 1.
static inline size_t ln_grain(size_t size)
{
    const size_t fine = size >> ln_grain_shift;
    return fine ? fine : 1;
}

// What a thread is said to work: where sizes are smaller, each element counts for more.
static inline double ln_grain_work(double work)
{
    return work * (double)((size_t)1 << ln_grain_shift);
}

#endif
