// SPDX-License-Identifier: Apache-2.0
// ConvTranspose over any number of axes: each output gathers the inputs that reach it.

#include "arch/ref/functions.h"
#include "arch/ref/onnx/reals.h"
#include "arch/ref/onnx/taps.h"
#include "base/deadline.h"
#include "op/onnx/conv.h"

typedef struct spread {
    ln_conv_call args;
    ln_reals src, weight, bias;
    tl_tensor *dst;
    ln_taps taps;
    int64_t in_len, out_len, tap_count; // elements of a channel, of its results, of its weights
} spread;

// Input `from` of the row reaches place from * stride + tap * dilation - pad_begin.
LN_REF_INLINE int64_t place_of(const ln_window_axis *row, int64_t from, int64_t tap)
{
    return from * row->stride + tap * row->dilation - row->pad_begin;
}

// The first input, of at most `in`, that reaches `place` or one behind it.
LN_REF_INLINE int64_t first_reaching(const ln_window_axis *row, int64_t place, int64_t tap)
{
    int64_t distance = place - place_of(row, 0, tap);
    int64_t from = distance <= 0 ? 0 : (distance + row->stride - 1) / row->stride;
    return from < row->in ? from : row->in;
}

// The sums of outputs [x, x + count) of a row of output channel `o` of a group.
LN_REF_INLINE void sum_row(const spread *s, tl_dtype dtype, int64_t src, int64_t weight, int64_t x,
                           int64_t count, ln_ref_sums *sums)
{
    const ln_window_axis *row = &s->args.window.axis[s->args.window.axis_count - 1];
    int64_t weight_step = s->args.out_channels * s->tap_count;
    for (int64_t i = 0; i < s->args.in_channels; i++) {
        for (int64_t t = 0; t < s->taps.count; t++) {
            int64_t from_row = src + i * s->in_len + s->taps.list[t].src;
            int64_t w = weight + i * weight_step + s->taps.list[t].weight;
            for (int64_t u = 0; u < row->size; u++) {
                int64_t from = first_reaching(row, x, u), end = first_reaching(row, x + count, u);
                int64_t first = place_of(row, from, u) - x;
                ln_ref_add_products(sums, dtype, first, first + (end - from) * row->stride,
                                    row->stride, s->src.data, from_row + from, 1,
                                    ln_ref_real(ln_reals_at(s->weight.data, w + u, dtype)));
            }
        }
    }
}

LN_REF_INLINE void spread_row(const spread *s, tl_dtype dtype, int64_t n, int64_t row)
{
    const ln_conv_call *args = &s->args;
    int64_t width = args->window.axis[args->window.axis_count - 1].out;
    int64_t channels = args->group * args->out_channels;
    ln_ref_sums sums;
    for (int64_t o = 0; o < channels; o++) {
        int64_t group = o / args->out_channels;
        int64_t src = (n * args->group + group) * args->in_channels * s->in_len;
        int64_t weight = (group * args->in_channels * args->out_channels + o % args->out_channels) *
                         s->tap_count;
        int64_t to = (n * channels + o) * s->out_len + row * width, count;
        for (int64_t x = 0; x < width && !ln_deadline_passed(); x += count) {
            count = width - x < LN_REF_SUMS ? width - x : LN_REF_SUMS;
            ln_ref_start_sums(&sums, dtype, count, s->bias.data, o);
            sum_row(s, dtype, src, weight, x, count, &sums);
            ln_ref_store_reals(s->dst, to + x, count, sums.real);
        }
    }
}

LN_REF_INLINE void spread_all(spread *s, tl_dtype dtype)
{
    int64_t rows = ln_window_rows(&s->args.window);
    for (int64_t n = 0; n < s->dst->dims[0]; n++) {
        for (int64_t row = 0; row < rows; row++) {
            ln_taps_list_transposed(&s->taps);
            spread_row(s, dtype, n, row);
            ln_taps_next(&s->taps);
        }
    }
}

ln_status ln_ref_onnx_conv_transpose(ln_call *call)
{
    spread s = {.dst = ln_call_dst(call, 0)};
    LN_TRY(ln_conv_transpose_call_read(call, &s.args));
    LN_TRY(ln_ref_reals(call, s.args.src, &s.src));
    LN_TRY(ln_ref_reals(call, s.args.weight, &s.weight));
    LN_TRY(ln_ref_reals(call, s.args.bias, &s.bias));
    s.in_len = ln_window_in_len(&s.args.window);
    s.out_len = ln_window_out_len(&s.args.window);
    s.tap_count = ln_window_tap_count(&s.args.window);
    LN_TRY(ln_taps_create(call, &s.args.window, &s.taps));
    if (s.dst->len > 0 && !ln_call_is_counting(call))
        LN_REF_FOR_REALS(s.src.dtype, spread_all, &s);
    return LN_OK;
}
