// SPDX-License-Identifier: Apache-2.0
// What the operators of arch cpu on channels-last images and volumes have in common, and
// convolution of images, of which others are made.

#ifndef LN_ARCH_CPU_NHWC_H
#define LN_ARCH_CPU_NHWC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/call.h>
#include <lightnet/context.h>
#include <lightnet/op.h>
#include <lightnet/tensor.h>

#include "arch/cpu/call.h"
#include "arch/cpu/conv_nhwc.h"
#include "arch/cpu/kernels/conv_nhwc.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "base/pool.h"
#include "op/channels.h"

LN_CPPSTART

// ---- Reading ----

// A parameter of integers, and where it goes in a struct.
typedef struct ln_nhwc_param {
    const char *name; // NULL ends a list of them
    int count;        // of elements; 0: it is a number
    int min;
    size_t offset; // of the first `int`
} ln_nhwc_param;

ln_status ln_nhwc_read(ln_call *call, const ln_nhwc_param *params, void *out_struct);

// The index of a string parameter among names, of which the last is NULL.
ln_status ln_nhwc_read_word(ln_call *call, const char *param, const char *const *names,
                            int *out_index);
ln_status ln_nhwc_read_algorithm(ln_call *call, ln_conv_algorithm *out_algorithm);

// An activation by the names of its three parameters.
ln_status ln_nhwc_read_act(ln_call *call, const char *act, const char *alpha, const char *beta,
                           ln_act_f32_args *out_act);

// Inputs, those that there are, have these ranks.
ln_status ln_nhwc_check_ranks(ln_call *call, int count, const int *ranks);

// A call whose parameters have been checked, to be read once more.
static inline ln_call *ln_nhwc_checked(const ln_call *call)
{
    return (ln_call *)(uintptr_t)call;
}

// A failure with a recorded message as one of the operator.
ln_status ln_nhwc_pass_on(ln_call *call, ln_status status);

// ---- Outputs ----

// Fills dst with `into`, of which channels will be written anew, unless it is there.
void ln_nhwc_start(const tl_tensor *into, tl_tensor *dst);

// ---- Convolution of images ----

// Tensors and parameters of the operator; tensors are NULL where it has none.
typedef struct ln_conv_nhwc {
    const tl_tensor *src, *packed, *bias, *addend, *into;
    int group, count; // of output channels
    int size[2], stride[2], padding[4], dilation[2];
    ln_channels channels;
    int addend_first;
    bool is_addend_last;
    ln_conv_algorithm algorithm;
    ln_act_f32_args act;
    int out[4]; // the shape of the result, by ln_conv_nhwc_infer
} ln_conv_nhwc;

// What does not fit fails, with a message.
ln_status ln_conv_nhwc_infer(ln_conv_nhwc *conv);

double ln_conv_nhwc_macs(const ln_conv_nhwc *conv);
size_t ln_conv_nhwc_workspace(const ln_conv_nhwc *conv); // bytes

// The kernels' arguments; dst may be NULL.
ln_conv_nhwc_f32_args ln_conv_nhwc_args(const ln_conv_nhwc *conv, const tl_tensor *dst);

void ln_conv_nhwc_run(ln_pool *pool, const ln_conv_nhwc *conv, const tl_tensor *dst,
                      void *workspace);

// Packs weights [O, C / group, height, width].
void ln_conv_nhwc_pack(ln_pool *pool, const int weight_dims[4], const float *weight, int group,
                       ln_conv_algorithm algorithm, float *packed);

LN_CPPEND

#endif
