// SPDX-License-Identifier: Apache-2.0
// Layout of convolutions: what those of images and those of volumes share.

#ifndef LN_ARCH_CPU_LAYOUT_CONV_H
#define LN_ARCH_CPU_LAYOUT_CONV_H

#include <lightnet/act.h>

#include "arch/cpu/conv_nhwc.h"
#include "arch/cpu/layout.h"

LN_CPPSTART

#define LN_LAYOUT_MAX_AXES 3

// A convolution as the channels-last operators want it.
typedef struct ln_layout_conv {
    const char *src, *weight, *bias, *addend; // names; NULL: none
    int axis_count;
    int group;
    int size[LN_LAYOUT_MAX_AXES], stride[LN_LAYOUT_MAX_AXES], dilation[LN_LAYOUT_MAX_AXES];
    int padding[2 * LN_LAYOUT_MAX_AXES]; // `axis_count` before, as many after
    ln_act act;
    double alpha, beta;
} ln_layout_conv;

// Reads a `conv` or `deconv`, once it is checked, as one over `axis_count` axes: those that it
// lacks come first and have the length 1. False if the channels-last operator cannot say it.
bool ln_layout_read_conv(const ln_layout_build *build, int axis_count, ln_layout_conv *out_conv);

ln_layout_params ln_layout_conv_params(const ln_layout_conv *conv, int channels,
                                       const char *algorithm);
void ln_layout_add_conv_act(ln_layout_params *p, const ln_layout_conv *conv);
// The name of `algorithm`, or of the direct one where the options avoid it.
const char *ln_layout_algorithm_name(const ln_layout_build *build, ln_conv_algorithm algorithm);
ln_layout_params ln_layout_conv_pack_params(const ln_layout_conv *conv, const char *algorithm);

// src, packed, bias and addend, those that there are. *out_is_complete: none is missing.
ln_list *ln_layout_conv_ins(const ln_layout_conv *conv, const char *src, const char *packed,
                            const char *addend, bool *out_is_complete);

// ---- layout_conv3d.c ----

bool ln_layout_fits_conv3d(const ln_layout_build *build);
ln_status ln_layout_rewrite_conv3d(ln_layout_build *build);

LN_CPPEND

#endif
