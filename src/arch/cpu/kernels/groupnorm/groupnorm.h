// SPDX-License-Identifier: Apache-2.0
// Group normalization of channels-last images.

#ifndef LN_ARCH_CPU_KERNELS_GROUPNORM_H
#define LN_ARCH_CPU_KERNELS_GROUPNORM_H

#include <stddef.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/select.h"
#include "base/pool.h"

LN_CPPSTART

// y = act(fma(x, factor, summand)) with, for each channel of an image and the moments of its group,
//     factor = scale / sqrt(variance + epsilon), summand = offset - mean factor.
//
// The bits: an image's pixels are cut into slices, those into blocks of
// LN_MOMENTS_ROWS. In a block pixel i of a channel goes to sum i % 4, these are added as
// (0 + 1) + (2 + 3), and the mean m is that over the number of pixels n; likewise the squares q of
// (x - m), by fma. A slice's blocks are merged in order: with d = m - mean, w = n / total,
//     mean = fma(d, w, mean), squares = fma(d d, before w, squares + q),
// `before` and `total` being the pixels without and with the block. The slices and channels of a
// group are merged in double, in ascending order of slices, then channels; factor and summand are
// rounded to float once each.
typedef struct ln_groupnorm_f32_args {
    size_t batch;
    size_t pixels; // of an image
    size_t channels;
    size_t groups; // of neighbouring channels, as many in each
    const float *x;
    const float *scale, *offset; // [channels]
    float epsilon;
    float *y; // may be x, else apart from it
    ln_act_f32_args act;
} ln_groupnorm_f32_args;

#define LN_MOMENTS_ROWS 32

// Bytes of workspace, the same on every machine; SIZE_MAX if they are too many.
size_t ln_groupnorm_f32_workspace(size_t batch, size_t pixels, size_t channels);

// `workspace` is aligned for float and may hold anything.
void ln_groupnorm_f32(ln_cpu_isa isa, const ln_groupnorm_f32_args *args, ln_pool *pool,
                      float *workspace);

// ---- Kernels ----

// Mean and sum of squares of each channel over `rows` pixels.
typedef void ln_moments_f32_fn(size_t rows, size_t channels, const float *x, float *mean,
                               float *squares);

LN_KERNELS(ln_moments_f32_fn, moments_f32)

LN_CPPEND

#endif
