// SPDX-License-Identifier: Apache-2.0
// What the families of channels-last convolution have in common: direct, depthwise and Winograd.
//
// An image is [batch, height, width, channels] with channels next to each other, and `..._stride`
// floats from one pixel to the next: more than its channels where it is a part of a wider image.
// Rows and images follow each other without gaps. Layouts of packed weights:
// src/arch/cpu/conv_nhwc.h.

#ifndef LN_ARCH_CPU_KERNELS_CONV_NHWC_H
#define LN_ARCH_CPU_KERNELS_CONV_NHWC_H

#include <stddef.h>

#include <lightnet/status.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/act.h"
#include "arch/cpu/kernels/conv_shape.h"
#include "base/pool.h"

LN_CPPSTART

typedef struct ln_conv_nhwc_f32_args {
    ln_conv_shape shape;
    const float *x;
    size_t x_stride; // >= shape.in_channels
    const float *packed;
    size_t tap_stride; // of a depthwise kernel's packed weights; 0: shape.out_channels
    float *y;          // apart from x; may be the epilogue's addend
    size_t y_stride;   // >= shape.out_channels
    ln_epilogue_f32 epilogue;
} ln_conv_nhwc_f32_args;

LN_CPPEND

#endif
