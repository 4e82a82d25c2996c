// SPDX-License-Identifier: Apache-2.0
// com.microsoft's poolings of quantized tensors.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/quant_round.h"
#include "base/deadline.h"
#include "op/onnx/quant_elementwise.h"

// What is in one window.
typedef struct summary {
    double sum, most;  // of the elements, as they are stored
    int64_t count;     // of the elements
    int64_t pad_count; // places of the padding
} summary;

// Of the window of output `out_coords` in the channel that begins at `first`, whose elements are
// `step` apart.
static summary summarize(const tl_tensor *x, const ln_window *window, const int64_t *out_coords,
                         int64_t first, int64_t step)
{
    int64_t tap[LN_WINDOW_MAX_AXES] = {0};
    summary s = {.most = -(double)INFINITY};
    for (;;) {
        int64_t at = 0;
        bool is_inside = true, is_padding = true; // or between the padding's two ends
        for (int i = 0; i < window->axis_count; i++) {
            const ln_window_axis *axis = &window->axis[i];
            int64_t place =
                out_coords[i] * axis->stride + tap[i] * axis->dilation - axis->pad_begin;
            is_inside &= place >= 0 && place < axis->in;
            is_padding &= place < axis->in + axis->pad_end;
            at = at * axis->in + place;
        }
        if (is_inside) {
            double element = ln_elem_real(x, (size_t)(first + at * step));
            s.sum += element;
            s.most = fmax(s.most, element);
        }
        s.count += is_inside;
        s.pad_count += is_padding && !is_inside;
        int d = window->axis_count - 1;
        for (; d >= 0 && ++tap[d] == window->axis[d].size; d--)
            tap[d] = 0;
        if (d < 0 || (d + 1 < window->axis_count && ln_deadline_passed()))
            return s;
    }
}

// The window of element `i` of the output.
static summary summarize_for(const ln_quant_pool *pool, const tl_tensor *x, const tl_tensor *dst,
                             int64_t i)
{
    bool is_last = pool->is_channels_last;
    int64_t channels = dst->dims[is_last ? dst->ndim - 1 : 1], in_len = 1, out_len = 1;
    for (int d = 0; d < pool->window.axis_count; d++) {
        in_len *= pool->window.axis[d].in;
        out_len *= pool->window.axis[d].out;
    }
    int64_t pixel = is_last ? i / channels % out_len : i % out_len;
    int64_t channel = is_last ? i % channels : i / out_len % channels;
    int64_t image = i / (out_len * channels), coords[LN_WINDOW_MAX_AXES];
    for (int d = pool->window.axis_count - 1; d >= 0; d--) {
        coords[d] = pixel % pool->window.axis[d].out;
        pixel /= pool->window.axis[d].out;
    }
    int64_t first =
        is_last ? image * in_len * channels + channel : (image * channels + channel) * in_len;
    return summarize(x, &pool->window, coords, first, is_last ? channels : 1);
}

static ln_status average(ln_call *call, bool is_global)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_pool pool;
    ln_quant_tensor x, y;
    bool is_channels_last = ln_call_int(call, "channels_last") != 0;
    LN_TRY(ln_quant_pool_read(call, is_global, is_channels_last, &pool));
    LN_TRY(ln_quant_tensor_read(call, 0, 1, 2, &x));
    LN_TRY(ln_quant_tensor_read(call, -1, 3, 4, &y));
    bool counts_padding = ln_call_int(call, "count_include_pad") != 0;
    double x_scale = ln_elem_real(x.scale, 0), y_scale = ln_elem_real(y.scale, 0);
    double x_zero = x.zero_point ? ln_elem_real(x.zero_point, 0) : 0;
    double y_zero = y.zero_point ? ln_elem_real(y.zero_point, 0) : 0;
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed(); i++) {
        summary s = summarize_for(&pool, x.values, dst, i);
        int64_t count = s.count + (counts_padding ? s.pad_count : 0);
        double sum = x_scale * (s.sum - (double)s.count * x_zero);
        ln_put_quantized(dst->data, dst->dtype, (size_t)i,
                         count ? sum / (double)count / y_scale : 0, y_zero);
    }
    return LN_OK;
}

ln_status ln_ref_onnx_qlinear_average_pool(ln_call *call)
{
    return average(call, false);
}

ln_status ln_ref_onnx_qlinear_global_average_pool(ln_call *call)
{
    return average(call, true);
}

// Of a window that is all padding, the least number there is.
ln_status ln_ref_onnx_nhwc_max_pool(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_quant_pool pool;
    LN_TRY(ln_quant_pool_read(call, false, true, &pool));
    for (int64_t i = 0; i < dst->len && !ln_deadline_passed(); i++) {
        summary s = summarize_for(&pool, ln_call_in(call, 0), dst, i);
        ln_elem_set_real(dst, (size_t)i, s.most); // saturates
    }
    return LN_OK;
}
