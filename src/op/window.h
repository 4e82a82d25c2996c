// SPDX-License-Identifier: Apache-2.0
// Windows that slide over the spatial axes of a tensor [N, C, D1, D2, ...]: what stride, dilation,
// padding and autopad of the core, or strides, dilations, pads and auto_pad of ONNX, come to, with
// ceil_mode and output_shape.

#ifndef LN_OP_WINDOW_H
#define LN_OP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include <lightnet/call.h>

LN_CPPSTART

#define LN_WINDOW_MAX_AXES (TL_MAXDIM - 2)

// Output `o` sees the inputs o * stride + tap * dilation - pad_begin for the taps 0 to size - 1, as
// far as they are in 0 to in - 1. For a transposed window read it with `in` and `out` exchanged:
// input `i` reaches the outputs i * stride + tap * dilation - pad_begin. All fit 32 bits.
typedef struct ln_window_axis {
    int64_t in;
    int64_t out;
    int64_t size;
    int64_t stride;
    int64_t dilation;
    int64_t pad_begin;
    int64_t pad_end;
} ln_window_axis;

typedef struct ln_window {
    int axis_count; // 1 to LN_WINDOW_MAX_AXES
    ln_window_axis axis[LN_WINDOW_MAX_AXES];
} ln_window;

// Fails unless `src` has batch, channels, and at least one spatial axis.
ln_status ln_window_check_rank(ln_call *call, const tl_tensor *src);

// Fails unless it has two.
ln_status ln_window_check_image(ln_call *call, const tl_tensor *src);

// Reads the parameters of `call` for windows over the spatial axes of `src`. `weight` [.., ..,
// sizes] gives the sizes and parameter `kernel_shape` (`size`), if there, must say the same;
// without one it is required. A description without one of the parameters does without it.
ln_status ln_window_read(ln_call *call, const tl_tensor *src, const tl_tensor *weight,
                         ln_window *out_window);

// The same for a transposed window, which spreads each input over `size` outputs, with
// `output_padding` and `output_shape`.
ln_status ln_window_read_transposed(ln_call *call, const tl_tensor *src, const tl_tensor *weight,
                                    ln_window *out_window);

// Fills in dims[2 + i] of the output.
void ln_window_out_dims(const ln_window *window, int64_t *dims);

// Axis `back` before the last one; of an axis that is not there, one with a single element.
const ln_window_axis *ln_window_axis_from_last(const ln_window *window, int back);

// Taps of one window.
int64_t ln_window_tap_count(const ln_window *window);

LN_CPPEND

#endif
