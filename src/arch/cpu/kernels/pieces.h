// SPDX-License-Identifier: Apache-2.0
// How many pieces the work of a kernel is cut into that is not a product.

#ifndef LN_ARCH_CPU_KERNELS_PIECES_H
#define LN_ARCH_CPU_KERNELS_PIECES_H

#include <stddef.h>

#include "base/pool.h"

// Microseconds in one thread below which it does not pay to share: to hand over takes threads that
// are far from each other 2. What is read was written by all of them as a rule, so one alone would
// have to fetch what the others hold. And those of the least piece.
#define LN_PIECES_MIN_SHARED 4.0
#define LN_PIECES_MIN_EACH   2.0
#define LN_PIECES_PER_THREAD 6

// For work that takes so many microseconds in one thread: 1, or a multiple of the threads, if there
// are `most` or more of what pieces are made of.
static inline size_t ln_pieces(double microseconds, size_t most, const ln_pool *pool)
{
    size_t threads = ln_pool_thread_count(pool), count = threads * LN_PIECES_PER_THREAD;
    if (threads == 1 || microseconds < LN_PIECES_MIN_SHARED)
        return 1;
    if (microseconds < LN_PIECES_MIN_EACH * (double)count)
        count = (size_t)(microseconds / LN_PIECES_MIN_EACH);
    if (count > threads)
        count -= count % threads;
    return count < most ? count : most;
}

#endif
