// SPDX-License-Identifier: Apache-2.0
// Products with packed weights: Y[m, n] = epilogue(A[m, k] * W[k, n]).
//
// W in panels of 16 columns, as in tile.h: | k0: c0 ... c15 | k1: ... |, the last one with zeros
// after its last column.
//
// The bits: an element starts at +0 and takes fma(A[i][p], W[p][j], sum) for p = 0, 1, ..., k-1,
// then the epilogue (act.h). Nothing else changes them.

#ifndef LN_ARCH_CPU_KERNELS_GEMM_PACKED_H
#define LN_ARCH_CPU_KERNELS_GEMM_PACKED_H

#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "base/pool.h"

LN_CPPSTART

// Floats of packed weights; SIZE_MAX if they are more than memory.
size_t ln_gemm_packed_len(size_t k, size_t n);

// Packs W[p][j] = w[p * row_step + j * column_step]; w may be at any address.
void ln_gemm_pack_f32(ln_cpu_isa isa, size_t k, size_t n, const float *w, size_t row_step,
                      size_t column_step, float *packed, ln_pool *pool);

// The same for rows that are the elements of an image [channels, pixels], and are packed in the
// order of [pixels, channels]; k is a multiple of the channels.
void ln_gemm_pack_image_f32(ln_cpu_isa isa, size_t k, size_t n, size_t channels, const float *w,
                            size_t row_step, size_t column_step, float *packed, ln_pool *pool);

typedef struct ln_gemm_packed_f32_args {
    size_t m, n, k;
    const float *a;
    size_t a_stride; // floats from row to row
    const float *packed;
    float *y; // apart from a; may be the epilogue's addend
    size_t y_stride;
    ln_epilogue_f32 epilogue; // its channels are columns
} ln_gemm_packed_f32_args;

void ln_gemm_packed_f32(ln_cpu_isa isa, const ln_gemm_packed_f32_args *args, ln_pool *pool);

LN_CPPEND

#endif
