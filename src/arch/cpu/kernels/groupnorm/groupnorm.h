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

// y = act(fma((x - mean) - lost, factor, offset)) with, for each channel of an image and the
// moments of its group, factor = scale / sqrt(variance + epsilon); `mean + lost` is the mean of the
// group in two floats, so that a mean that is large beside the deviation costs no digits.
//
// The bits: an image's pixels are cut into slices, those into blocks of LN_MOMENTS_ROWS. In a block
// pixel i of a channel goes to sum i % 4, these are added as (0 + 1) + (2 + 3), and the mean m is
// that over the number of pixels n. With d = x - m, r is the sum of d in the same order over n,
// q the sum of d d, by fma, and q' = max(0, fma(-(n r), r, q)). A slice's blocks are merged in
// order: the first is taken as it is; then, with e = (m - mean) + (r - lost), w = n / total,
//     mean, error = the sum mean + e w and its rounding error, lost = lost + error,
//     squares = fma(e e, before w, squares + q'),
// `before` and `total` being the pixels without and with the block. The slices and channels of a
// group are merged in double, in ascending order of slices, then channels; mean, lost and factor
// are rounded to float once each.
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

// Mean, as mean + lost, and sum of squares of each channel over `rows` pixels.
typedef void ln_moments_f32_fn(size_t rows, size_t channels, const float *x, float *mean,
                               float *lost, float *squares);

LN_KERNELS(ln_moments_f32_fn, moments_f32)

LN_CPPEND

#endif
