// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last bytes with a depthwise one or a max pooling after it, band by band:
// what is between them is some rows in the cache, never an image.
//
//     | x |  convolution  | some rows |  depthwise convolution, or pooling  | y |
//
// The bytes are those of the two one after the other: all sums are exact.

#ifndef LN_ARCH_CPU_KERNELS_BAND_I8_H
#define LN_ARCH_CPU_KERNELS_BAND_I8_H

#include "arch/cpu/kernels/conv_i8/conv_i8.h"
#include "arch/cpu/kernels/quant/maxpool_i8.h"

LN_CPPSTART

// Each as if it were alone, with a dense image of bytes between them, of which pointers and steps
// are not looked at. All results are bytes.
typedef struct ln_band_i8_args {
    const ln_conv_i8_args *conv;      // not depthwise
    const ln_conv_i8_args *depthwise; // NULL: a pooling
    const ln_maxpool_i8_args *pool;   // dense, too
    void *y;
} ln_band_i8_args;

// Bytes of workspace, the same on every machine; SIZE_MAX if they are more than a pointer reaches.
// `depthwise` is NULL where a pooling with such windows from top to bottom comes after it.
size_t ln_band_i8_workspace(const ln_conv_shape *conv, const ln_conv_shape *depthwise,
                            const ln_window_1d *windows, size_t out_h);

// `workspace` at a multiple of 64 bytes.
void ln_band_i8(ln_cpu_isa isa, const ln_band_i8_args *args, void *workspace, ln_pool *pool);

LN_CPPEND

#endif
