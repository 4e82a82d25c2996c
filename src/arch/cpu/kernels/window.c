// SPDX-License-Identifier: Apache-2.0
// Windows of convolutions.

#include "arch/cpu/kernels/window.h"

ln_taps ln_window_taps(const ln_window_1d *w, size_t i)
{
    ln_taps taps;
    ln_window_taps_inside(w, i, &taps.first, &taps.end);
    return taps;
}

ln_window_1d ln_conv_rows(const ln_conv_shape *s)
{
    return (ln_window_1d){.in = s->in_h,
                          .kernel = s->kernel_h,
                          .stride = s->stride_h,
                          .dilation = s->dilation_h,
                          .pad = s->pad_top};
}

ln_window_1d ln_conv_columns(const ln_conv_shape *s)
{
    return (ln_window_1d){.in = s->in_w,
                          .kernel = s->kernel_w,
                          .stride = s->stride_w,
                          .dilation = s->dilation_w,
                          .pad = s->pad_left};
}
