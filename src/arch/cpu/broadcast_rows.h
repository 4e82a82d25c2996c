// SPDX-License-Identifier: Apache-2.0
// Walks over all positions of an output, row by row, with up to three inputs that are broadcast to
// its shape; rows are dealt to the threads of a pool.

#ifndef LN_ARCH_CPU_BROADCAST_ROWS_H
#define LN_ARCH_CPU_BROADCAST_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/tensor.h>

#include "base/pool.h"

LN_CPPSTART

#define LN_CPU_ROWS_INPUTS 3

typedef struct ln_cpu_rows {
    int ndim; // joined axes; the last one is the row
    size_t dims[TL_MAXDIM];
    size_t strides[LN_CPU_ROWS_INPUTS][TL_MAXDIM]; // in elements, 0 where repeated
    size_t count;                                  // of rows
} ln_cpu_rows;

// Part of a row: elements [to, to + n) of the output; element at[k] of input k, and those after it
// if step[k] is 1, or it alone if that is 0.
typedef void ln_cpu_row_fn(const void *self, size_t n, const size_t *at, const size_t *step,
                           size_t to);

// `inputs` and the shapes they are broadcast from; NULL where there is none.
void ln_cpu_rows_init(ln_cpu_rows *rows, const tl_tensor *dst, const tl_tensor *const *inputs,
                      int input_count);

// The element of input k for the first one of a row, and whether each element of the output has an
// own one, in the same order.
size_t ln_cpu_rows_at(const ln_cpu_rows *rows, int k, size_t row);
bool ln_cpu_rows_are_whole(const ln_cpu_rows *rows, int k);

void ln_cpu_rows_run(const ln_cpu_rows *rows, ln_pool *pool, ln_cpu_row_fn *run, const void *self);

LN_CPPEND

#endif
