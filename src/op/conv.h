// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions: of the core, and of ONNX.

#ifndef LN_OP_CONV_H
#define LN_OP_CONV_H

#include <lightnet/call.h>

#include "op/window.h"

LN_CPPSTART

// A convolution whose parts fit each other.
typedef struct ln_conv_call {
    const tl_tensor *src;    // [N, C, ...]
    const tl_tensor *weight; // [O, C / group, ...]; transposed: [C, O / group, ...]
    const tl_tensor *bias;   // [O] or NULL
    int64_t group;
    int64_t in_channels;  // of a group
    int64_t out_channels; // of a group
    ln_window window;
} ln_conv_call;

// Reads and checks source, weights, bias and the parameters of a convolution, and of a transposed
// one.
ln_status ln_conv_call_read(ln_call *call, ln_conv_call *out_conv);
ln_status ln_deconv_call_read(ln_call *call, ln_conv_call *out_conv);

// The first without a bias, where what comes after the weights is something else.
ln_status ln_conv_call_read_plain(ln_call *call, ln_conv_call *out_conv);

// DeformConv: `conv` without the offsets.
typedef struct ln_deform_conv_call {
    ln_conv_call conv;
    const tl_tensor *offset; // [N, offset_group * taps * axes, outputs ...]
    const tl_tensor *mask;   // [N, offset_group * taps, outputs ...] or NULL
    int64_t offset_group;
} ln_deform_conv_call;

ln_status ln_deform_conv_call_read(ln_call *call, ln_deform_conv_call *out_deform);

LN_CPPEND

#endif
