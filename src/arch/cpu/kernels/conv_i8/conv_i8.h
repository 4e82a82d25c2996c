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

#include "arch/cpu/kernels/conv_i8/taps_i8.h"
#include "arch/cpu/kernels/conv_shape.h"
#include "arch/cpu/kernels/gemm_i8/packed_i8.h"
#include "arch/cpu/kernels/window.h"

LN_CPPSTART

// Whether each output channel reads the one input channel of its number.
bool ln_conv_i8_is_depthwise(const ln_conv_shape *shape);

// Bytes of packed weights, SIZE_MAX if they are more than memory: of channels, groups and the
// kernel only.
size_t ln_conv_i8_packed_bytes(const ln_conv_shape *shape);

// Packs weights [out_channels, in_channels / group, kernel_h, kernel_w], unsigned bytes less 128.
// `scratch` holds as many bytes as the weights.
void ln_conv_i8_pack(const ln_conv_shape *shape, const void *weight, bool is_signed,
                     uint8_t *scratch, int8_t *packed, ln_pool *pool);

// The first axis of volumes [batch, window.in, in_h, in_w, in_channels]; all 0: images. The rows of
// the shape's kernel are then those of all its depths, `window.kernel` of them.
typedef struct ln_conv_i8_depth {
    ln_window_1d window;
    size_t out;
} ln_conv_i8_depth;

// Bytes of workspace, the same on every machine; SIZE_MAX if they are more than memory.
size_t ln_conv_i8_workspace(const ln_conv_shape *shape, const ln_conv_i8_depth *depth);

typedef struct ln_conv_i8_args {
    ln_conv_shape shape;
    ln_conv_i8_depth depth;
    const void *x;  // [batch, in_h, in_w, in_channels]
    bool is_signed; // x
    int32_t zero;   // of x
    const int8_t *packed;
    const int32_t *zeros; // of weights of output channels, less 128 if they are unsigned; NULL: 0
    const int32_t *bias;  // of output channels, added to sums
    void *y;       // [batch, out_h, out_w, out_channels], of volumes with depth.out before these
    size_t y_step; // elements from pixel to pixel of y; 0: out_channels
    ln_epilogue_i8 epilogue;           // factors and bias of output channels
    const ln_rescale_columns *rescale; // of sums, which are the epilogue's result; NULL: none
} ln_conv_i8_args;

// Arrays of channels are as long as ln_conv_i8_channels says. `workspace` is aligned to 64 bytes.
size_t ln_conv_i8_channels(const ln_conv_shape *shape);
size_t ln_conv_i8_element_bytes(const ln_conv_i8_args *args); // of the result
size_t ln_conv_i8_y_step(const ln_conv_i8_args *args);
void ln_conv_i8(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace, ln_pool *pool);

// ---- Some rows ----
//
// By one thread, for those that make more of them while they are at hand.

// Rows [first, first + count) of all images of a convolution that is not depthwise, to `y`, one
// after the other. `workspace` is aligned to 64 bytes; its size is the same on every machine.
size_t ln_conv_i8_rows_workspace(const ln_conv_shape *shape);
void ln_conv_i8_rows(ln_cpu_isa isa, const ln_conv_i8_args *args, size_t first, size_t count,
                     void *y, void *workspace);

// What all rows of a depthwise convolution need; `workspace` stays as it is until they are made.
typedef struct ln_depthwise_i8 {
    const ln_conv_i8_args *args; // x and y are not looked at
    const ln_taps_i8_kernel *kernel;
    ln_taps_i8_args taps;
    const int8_t *windows; // weights of windows; NULL: these are not run
    const uint8_t *outside;
    ln_conv_i8_depth depth;
    ln_window_1d rows; // of one depth
} ln_depthwise_i8;

size_t ln_depthwise_i8_workspace(const ln_conv_shape *shape);
void ln_depthwise_i8_begin(ln_cpu_isa isa, const ln_conv_i8_args *args, void *workspace,
                           ln_depthwise_i8 *out_depthwise);

// A row of an image of which all lines that its windows look at are there.
void ln_depthwise_i8_row(const ln_depthwise_i8 *depthwise, const ln_lines_i8 *lines, size_t row,
                         void *y);

LN_CPPEND

#endif
