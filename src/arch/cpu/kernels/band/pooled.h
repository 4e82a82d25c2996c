// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images with a max pooling after it, band by band: what is between
// them is some rows in the cache, never an image.
//
//     | x: rows |  convolution  | some rows |  pooling  | y |
//
// The bits: those of the two one after the other (direct/direct.h, winograd/winograd.h,
// pool/pool_nhwc.h).

#ifndef LN_ARCH_CPU_KERNELS_BAND_POOLED_H
#define LN_ARCH_CPU_KERNELS_BAND_POOLED_H

#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/pool/pool_nhwc.h"

LN_CPPSTART

// Each as if it were alone, the convolution reading x and the pooling writing y, with a dense image
// between them: pointers and strides of that are not looked at. An addend is not allowed.
typedef struct ln_pooled_nhwc_f32_args {
    size_t winograd; // the side of Winograd's tiles; 0: direct convolution
    const ln_conv_nhwc_f32_args *conv;
    const ln_pool_nhwc_f32_args *pool; // of the maximum
} ln_pooled_nhwc_f32_args;

// Bytes of workspace, the same on every machine; SIZE_MAX if they are more than a pointer reaches.
// `rows` are the pooling's windows from top to bottom.
size_t ln_pooled_nhwc_f32_workspace(size_t winograd, const ln_conv_shape *conv,
                                    const ln_window_1d *rows);

// `workspace` at a multiple of 64 bytes.
void ln_pooled_nhwc_f32(ln_cpu_isa isa, const ln_pooled_nhwc_f32_args *args, ln_pool *pool,
                        float *workspace);

LN_CPPEND

#endif
