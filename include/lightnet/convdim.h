/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of convolution, pooling and transposed convolution: output sizes and padding.
 *
 * Everywhere: a window of `size` taps, `dilation` apart, covers (size - 1) * dilation + 1 elements
 * and moves by `stride`. Sizes, strides and dilations are at least 1.
 *
 * Paddings of n axes are 2n numbers: what comes before each axis, then what comes after each axis.
 * For two axes that is [top, left, bottom, right].
 */

#ifndef LIGHTNET_CONVDIM_H
#define LIGHTNET_CONVDIM_H

#include <lightnet/export.h>
#include <lightnet/status.h>

LN_CPPSTART

/* How many windows fit one axis of `in` elements with padding:
 *     (in + pad_begin + pad_end - covered) / stride + 1
 * -1 with a recorded failure if none fits, an argument is out of range (LN_INVALID), or the result
 * does not fit an int (LN_LIMIT). */
LN_API int ln_output_dim_conv(int in, int size, int stride, int pad_begin, int pad_end,
                              int dilation);

/* Elements of one axis after a transposed convolution over `in` >= 1 elements:
 *     stride * (in - 1) + output_padding + covered - (pad_begin + pad_end)
 * -1 with a recorded failure if that is below 1, an argument is out of range (LN_INVALID), or the
 * result does not fit an int (LN_LIMIT). */
LN_API int ln_output_dim_deconv(int in, int size, int stride, int pad_begin, int pad_end,
                                int output_padding, int dilation);

/* Fills in `padding` (2 * axis_count numbers) for a convolution or pooling. All other arrays hold
 * axis_count numbers, 0..LN_MAXDIM; `in` are the spatial dimensions alone, without batch and
 * channels.
 *
 * mode "VALID":      no padding.
 * mode "SAME_UPPER": as much that each axis gives ceil(in / stride) outputs; an odd element goes
 *                    to the end.
 * mode "SAME_LOWER": the same, but an odd element goes to the beginning.
 *
 * Padding is never negative. Other modes (also "NOTSET", which means that padding is given and not
 * computed) and bad arguments are LN_INVALID, and `padding` stays as it was. */
LN_API ln_status ln_autopadding_conv(int *padding, const int *in, const int *size,
                                     const int *stride, const int *dilation, int axis_count,
                                     const char *mode);

/* The same for a transposed convolution that shall give `out` elements per axis; `out` NULL means
 * in * stride, `output_padding` NULL means none. Where padding is not enough (the output would be
 * too small without any) it is 0. */
LN_API ln_status ln_autopadding_deconv(int *padding, const int *in, const int *out, const int *size,
                                       const int *stride, const int *output_padding,
                                       const int *dilation, int axis_count, const char *mode);

LN_CPPEND

#endif
