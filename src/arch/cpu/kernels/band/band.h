// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of channels-last images with a 1x1 convolution before it, one after
// it, or both, band by band: what is between them is some rows in the cache, never an image.
//
//     | x: rows |  expand   | some rows, C channels |  depthwise  | some rows |  project  | y |
//
// Rows that windows of the next band look at again stay where they are.
//
// The bits: those of the convolutions one after the other (direct/direct.h, depthwise/depthwise.h).
// Rows outside of the image between them are not computed; they take no part, as everywhere.

#ifndef LN_ARCH_CPU_KERNELS_BAND_H
#define LN_ARCH_CPU_KERNELS_BAND_H

#include "arch/cpu/kernels/conv_nhwc.h"

LN_CPPSTART

// Each as if it were alone, the first reading x and the last writing y, with the images between
// them dense: pointers and strides of those are not looked at. An addend of the first or the middle
// one is not allowed.
typedef struct ln_band_nhwc_f32_args {
    const ln_conv_nhwc_f32_args *expand; // 1x1, stride 1, no padding, one group; NULL: none
    const ln_conv_nhwc_f32_args *depthwise;
    const ln_conv_nhwc_f32_args *project; // as expand; its addend may be y, if y is not x
} ln_band_nhwc_f32_args;

// Bytes of workspace, the same on every machine; SIZE_MAX if they are more than a pointer reaches.
size_t ln_band_nhwc_f32_workspace(const ln_conv_shape *depthwise, bool has_expand,
                                  bool has_project);

// `workspace` at a multiple of 64 bytes.
void ln_band_nhwc_f32(ln_cpu_isa isa, const ln_band_nhwc_f32_args *args, ln_pool *pool,
                      float *workspace);

LN_CPPEND

#endif
