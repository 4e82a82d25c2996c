// SPDX-License-Identifier: Apache-2.0
// Matrix product: C[m, n] = act(A[m, k] * B[k, n] + bias), row-major with row strides.
//
// The bits: an element of C starts at +0, takes fma(A[i][p], B[p][j], sum) for p = 0, 1, ..., k-1
// in this order, then adds the row's bias, then the column's, then goes through the activation.
// Tile, instruction set and strides do not change them.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_H
#define LN_ARCH_CPU_KERNELS_GEMM_H

#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "arch/cpu/kernels/select.h"

LN_CPPSTART

// Strides count floats from row to row. C overlaps neither input. With k = 0 the product is 0 and
// A and B are not read.
typedef struct ln_gemm_f32_args {
    size_t m;
    size_t n;
    size_t k;
    const float *a;
    size_t a_stride; // >= k
    const float *b;
    size_t b_stride; // >= n
    float *c;
    size_t c_stride;       // >= n
    const float *row_bias; // m floats, added to rows; NULL: none
    const float *col_bias; // n floats, added to columns; NULL: none
    ln_act act;
} ln_gemm_f32_args;

// The widest tile of all instruction sets, so that a workspace does not depend on the machine.
#define LN_GEMM_F32_MAX_NR 32

// Bytes of workspace for a product with this k; SIZE_MAX if they do not fit.
size_t ln_gemm_f32_workspace(size_t k);

// `workspace` is aligned for float (64 is faster) and may hold anything before and after.
void ln_gemm_f32(ln_cpu_isa isa, const ln_gemm_f32_args *args, float *workspace);

// ---- For families that make their own panels ----

// A tile of C: 1 <= m <= mr, 1 <= n <= nr. A row of B has nr readable floats, whatever n is.
typedef void ln_gemm_f32_tile_fn(const ln_gemm_f32_args *tile);

// Packs columns of B into a panel.   | p0: c0..c(nr-1) | p1: c0..c(nr-1) | ...   (0 after `cols`)
typedef void ln_pack_f32_fn(size_t k, size_t cols, const float *b, size_t b_stride, float *panel);

typedef struct ln_gemm_f32_kernel {
    size_t mr;
    size_t nr;
    ln_gemm_f32_tile_fn *tile;
    ln_pack_f32_fn *pack;
} ln_gemm_f32_kernel;

LN_KERNELS(const ln_gemm_f32_kernel, gemm_f32)

// All rows of one panel: as a tile, but with any m.
void ln_gemm_f32_panel(const ln_gemm_f32_kernel *kernel, const ln_gemm_f32_args *panel);

LN_CPPEND

#endif
