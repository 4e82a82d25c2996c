// SPDX-License-Identifier: Apache-2.0
// Convolution of quantized tensors: row by row as conv, on differences from zero points. What is
// outside of the input takes no part, as if it were the zero point.

#include "arch/ref/element.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/quant_result.h"
#include "arch/ref/onnx/taps.h"
#include "arch/ref/quant.h"
#include "base/deadline.h"

typedef struct conv {
    ln_conv_call args;
    const float *src, *weight;
    ln_ref_quant_sums result;
    ln_taps taps;
    int64_t in_len, out_len, tap_count; // elements of a channel, of its results, of its weights
} conv;

static void sum_row(const conv *c, int64_t src, int64_t weight, int64_t x, int64_t count,
                    ln_ref_sums *sums)
{
    const ln_window_axis *row = &c->args.window.axis[c->args.window.axis_count - 1];
    for (int64_t i = 0; i < c->args.in_channels; i++) {
        for (int64_t t = 0; t < c->taps.count; t++) {
            int64_t from = src + i * c->in_len + c->taps.list[t].src;
            int64_t w = weight + i * c->tap_count + c->taps.list[t].weight;
            for (int64_t u = 0; u < row->size; u++) {
                int64_t start = x * row->stride - row->pad_begin + u * row->dilation, first, end;
                ln_window_inside(start, row->stride, row->in, count, &first, &end);
                ln_ref_add_products(sums, TL_FLOAT, first, end, 1, c->src,
                                    from + start + first * row->stride, row->stride,
                                    ln_ref_real((double)c->weight[w + u]));
            }
        }
    }
}

// Row number `row` of all channels of image `n`.
static void convolve_row(const conv *c, int64_t n, int64_t row)
{
    const ln_conv_call *args = &c->args;
    int64_t width = args->window.axis[args->window.axis_count - 1].out;
    int64_t channels = args->group * args->out_channels;
    ln_ref_sums sums;
    for (int64_t o = 0; o < channels; o++) {
        int64_t group = o / args->out_channels;
        int64_t src = (n * args->group + group) * args->in_channels * c->in_len;
        int64_t weight = o * args->in_channels * c->tap_count;
        int64_t to = (n * channels + o) * c->out_len + row * width, count;
        for (int64_t x = 0; x < width && !ln_deadline_passed(); x += count) {
            count = width - x < LN_REF_SUMS ? width - x : LN_REF_SUMS;
            ln_ref_start_sums(&sums, TL_FLOAT, count, NULL, 0);
            sum_row(c, src, weight, x, count, &sums);
            for (int64_t i = 0; i < count; i++)
                ln_ref_quant_put(&c->result, to + x + i, sums.real[i]);
        }
    }
}

// A zero point for each channel may have axes of one element before them.
static float *centre_weight(ln_call *call, const tl_tensor *weight)
{
    const tl_tensor *zero = ln_call_in(call, 5);
    if (!zero || zero->ndim < 2)
        return ln_quant_centred(call, weight, zero, 0);
    int count = zero->len;
    tl_tensor flat = *zero;
    flat.ndim = 1;
    flat.dims = &count;
    return ln_quant_centred(call, weight, &flat, 0);
}

ln_status ln_ref_quant_conv(ln_call *call)
{
    conv c;
    const tl_tensor *dst = ln_call_dst(call, 0);
    LN_TRY(ln_conv_call_read_plain(call, &c.args));
    c.tap_count = ln_window_tap_count(&c.args.window);
    LN_TRY(ln_ref_quant_sums_start(call, c.args.weight->dims[0], c.args.in_channels * c.tap_count,
                                   &c.result));
    if (dst->len == 0)
        return LN_OK;
    c.src = ln_quant_centred(call, c.args.src, ln_call_in(call, 3), -1);
    c.weight = centre_weight(call, c.args.weight);
    if (!c.src || !c.weight)
        return ln_error_status();
    c.in_len = ln_window_in_len(&c.args.window);
    c.out_len = ln_window_out_len(&c.args.window);
    c.result.inner = c.out_len;
    LN_TRY(ln_taps_create(call, &c.args.window, &c.taps));
    if (ln_call_is_counting(call))
        return LN_OK;

    int64_t rows = ln_window_rows(&c.args.window);
    for (int64_t n = 0; n < dst->dims[0]; n++) {
        for (int64_t row = 0; row < rows; row++) {
            ln_taps_list(&c.taps, false);
            convolve_row(&c, n, row);
            ln_taps_next(&c.taps);
        }
    }
    return LN_OK;
}
