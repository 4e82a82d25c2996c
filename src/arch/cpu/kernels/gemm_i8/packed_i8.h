// SPDX-License-Identifier: Apache-2.0
// Products of bytes with packed weights: Y[m, n] = epilogue((A[m, k] - zero) * (W[k, n] - zeros)),
// exact but for what the epilogue rounds (tile_i8.h).

#ifndef LN_ARCH_CPU_KERNELS_PACKED_I8_H
#define LN_ARCH_CPU_KERNELS_PACKED_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/gemm_i8/tile_i8.h"
#include "arch/cpu/kernels/rescale/rescale.h"
#include "base/pool.h"

LN_CPPSTART

// Numbers of columns, those of what is added, multiplied or a zero point, are this many.
size_t ln_gemm_i8_columns(size_t n);

// Bytes of packed weights, which have their spans and the sums of their columns with them;
// SIZE_MAX if they are more than memory.
size_t ln_gemm_i8_packed_bytes(size_t k, size_t n);

// W[p][j] = w[p * row_step + j * column_step], where one of the steps is 1; unsigned bytes less
// 128. Without spans all of them are as large as can be: right, too, and found at once.
typedef struct ln_i8_weights {
    const void *w;
    size_t row_step, column_step;
    bool is_signed, has_spans;
} ln_i8_weights;

// Whether products of m rows are faster with spans by more than it takes to find them.
bool ln_gemm_i8_uses_spans(ln_cpu_isa isa, size_t m);

// `packed` is aligned for int32_t.
void ln_gemm_pack_i8(size_t k, size_t n, const ln_i8_weights *weights, int8_t *packed,
                     ln_pool *pool);

// Bytes of workspace, the same on every machine; SIZE_MAX if they are more than memory.
size_t ln_gemm_i8_workspace(size_t k, size_t n);
size_t ln_gemm_i8_bytes_workspace(size_t k, size_t n); // of sets that widen nothing to words
size_t ln_gemm_i8_task_workspace(size_t k, size_t n);  // where the pool is NULL

typedef struct ln_gemm_i8_args {
    size_t m, n, k;
    const void *a;
    size_t a_step; // bytes from row to row
    // In the place of both: writes the k bytes of each of some rows, `step` bytes apart. NULL:
    // there is A.
    void (*gather)(const void *gathered, size_t first, size_t count, uint8_t *to, size_t step);
    const void *gathered;
    bool is_signed; // A
    int32_t zero;   // of A
    const int8_t *packed;
    const int32_t *zeros;              // of columns of W, less 128 if W is unsigned; NULL: none
    const int32_t *bias;               // of columns, added to sums; NULL: none
    void *y;                           // apart from A
    size_t y_step;                     // elements from row to row
    ln_epilogue_i8 epilogue;           // without what is of rows or columns of integers
    const ln_rescale_columns *rescale; // of sums, which are the epilogue's result; NULL: none
} ln_gemm_i8_args;

// `workspace` is aligned to 64 bytes and may hold anything.
void ln_gemm_i8(ln_cpu_isa isa, const ln_gemm_i8_args *args, void *workspace, ln_pool *pool);

LN_CPPEND

#endif
