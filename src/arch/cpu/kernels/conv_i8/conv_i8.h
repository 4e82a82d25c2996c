// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last images of bytes with packed weights: exact sums, then the epilogue
// of tile_i8.h. Places outside the image are the zero point.
//
// Packed weights, for each group:   direct      those of packed_i8.h, of [kernel row, kernel
// column,
//                                               input channel] times output channels
//                                   depthwise   each four taps: | c0: t0..t3 | c1 ... |, zeros up
//                                   to
//                                               16s of channels; then 32 bits of sum for each

#ifndef LN_ARCH_CPU_KERNELS_CONV_I8_H
#define LN_ARCH_CPU_KERNELS_CONV_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/cpu/kernels/conv_shape.h"
#include "arch/cpu/kernels/gemm_i8/packed_i8.h"

LN_CPPSTART

// Whether each output channel reads the one input channel of its number.
bool ln_conv_i8_is_depthwise(const ln_conv_shape *shape);

// Bytes of packed weights, and of workspace; SIZE_MAX if they are more than memory. Weights need
// channels, groups and the kernel only.
size_t ln_conv_i8_packed_bytes(const ln_conv_shape *shape);
size_t ln_conv_i8_workspace(const ln_conv_shape *shape);

// Packs weights [out_channels, in_channels / group, kernel_h, kernel_w], unsigned bytes less 128.
// `scratch` holds as many bytes as the weights.
void ln_conv_i8_pack(const ln_conv_shape *shape, const void *weight, bool is_signed,
                     uint8_t *scratch, int8_t *packed, ln_pool *pool);

typedef struct ln_conv_i8_args {
    ln_conv_shape shape;
    const void *x;  // [batch, in_h, in_w, in_channels]
    bool is_signed; // x
    int32_t zero;   // of x
    const int8_t *packed;
    const int32_t *zeros; // of weights of output channels, less 128 if they are unsigned; NULL: 0
    const int32_t *bias;  // of output channels, added to sums
    void *y;              // [batch, out_h, out_w, out_channels]
    ln_epilogue_i8 epilogue; // factors and bias of output channels
} ln_conv_i8_args;

// Arrays of channels are as long as ln_conv_i8_channels says. `workspace` is aligned to 64 bytes.
size_t ln_conv_i8_channels(const ln_conv_shape *shape);
void ln_conv_i8(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace, ln_pool *pool);

LN_CPPEND

#endif
