// SPDX-License-Identifier: Apache-2.0
// Convolution over any number of axes, and its transpose, where each output gathers the inputs that
// reach it. The innermost loop walks neighbouring outputs of a row, so that what a tap needs to
// know is worked out once for all of them; each output adds up its taps in the order of the
// weights.

#include "op/conv.h"
#include "arch/ref/act.h"
#include "arch/ref/functions.h"
#include "arch/ref/onnx/reals.h"
#include "arch/ref/onnx/taps.h"
#include "base/deadline.h"
#include "op/activation.h"

typedef ln_status read_fn(ln_call *call, ln_conv_call *out_conv);

typedef struct conv {
    ln_conv_call args;
    ln_reals src, weight, bias, addend;
    ln_activation activation;
    tl_tensor *dst;
    ln_taps taps;
    int64_t in_len, out_len, tap_count; // elements of a channel, of its results, of its weights
} conv;

// What is pointwise on all axes is so on one axis of all elements, whose rows are longer.
static void flatten_pointwise(ln_window *window)
{
    ln_window_axis all = {.in = 1, .out = 1, .size = 1, .stride = 1, .dilation = 1};
    for (int i = 0; i < window->axis_count; i++) {
        const ln_window_axis *axis = &window->axis[i];
        if (axis->size != 1 || axis->stride != 1 || axis->in != axis->out || axis->pad_begin != 0)
            return;
        all.in *= axis->in;
        all.out = all.in;
    }
    *window = (ln_window){.axis_count = 1, .axis[0] = all};
}

static ln_status read_conv(ln_call *call, read_fn *read, conv *c)
{
    LN_TRY(read(call, &c->args));
    LN_TRY(ln_ref_elements(call, c->args.src, &c->src));
    LN_TRY(ln_ref_elements(call, c->args.weight, &c->weight));
    LN_TRY(ln_ref_elements(call, c->args.bias, &c->bias));
    LN_TRY(ln_ref_elements(call, ln_call_in(call, 3), &c->addend));
    LN_TRY(ln_activation_read(call, &c->activation));
    c->dst = ln_call_dst(call, 0);
    flatten_pointwise(&c->args.window);
    c->in_len = ln_window_in_len(&c->args.window);
    c->out_len = ln_window_out_len(&c->args.window);
    c->tap_count = ln_window_tap_count(&c->args.window);
    return ln_taps_create(call, &c->args.window, &c->taps);
}

// The sums of outputs [x, x + count) of a row, over the inputs and weights at `src` and `weight`.
LN_REF_INLINE void sum_row(const conv *c, tl_dtype dtype, int64_t src, int64_t weight, int64_t x,
                           int64_t count, ln_ref_sums *sums)
{
    const ln_window_axis *row = &c->args.window.axis[c->args.window.axis_count - 1];
    for (int64_t i = 0; i < c->args.in_channels; i++) {
        for (int64_t t = 0; t < c->taps.count; t++) {
            int64_t from = src + i * c->in_len + c->taps.list[t].src;
            int64_t w = weight + i * c->tap_count + c->taps.list[t].weight;
            for (int64_t u = 0; u < row->size; u++) {
                int64_t start = x * row->stride - row->pad_begin + u * row->dilation, first, end;
                ln_window_inside(start, row->stride, row->in, count, &first, &end);
                ln_ref_add_products(sums, dtype, first, end, 1, c->src.data,
                                    from + start + first * row->stride, row->stride,
                                    ln_ref_load(c->weight.data, (size_t)(w + u), dtype));
            }
        }
    }
}

// ---- The transpose: input `from` reaches output from * stride + tap * dilation - pad_begin ----

LN_REF_INLINE int64_t reached(const ln_window_axis *row, int64_t from, int64_t tap)
{
    return from * row->stride + tap * row->dilation - row->pad_begin;
}

// The first input, of at most `in`, that reaches output `x` or one after it.
LN_REF_INLINE int64_t first_reaching(const ln_window_axis *row, int64_t x, int64_t tap)
{
    int64_t distance = x - reached(row, 0, tap);
    int64_t from = distance <= 0 ? 0 : (distance + row->stride - 1) / row->stride;
    return from < row->in ? from : row->in;
}

LN_REF_INLINE void gather_row(const conv *c, tl_dtype dtype, int64_t src, int64_t weight, int64_t x,
                              int64_t count, ln_ref_sums *sums)
{
    const ln_window_axis *row = &c->args.window.axis[c->args.window.axis_count - 1];
    int64_t weight_step = c->args.out_channels * c->tap_count;
    for (int64_t i = 0; i < c->args.in_channels; i++) {
        for (int64_t t = 0; t < c->taps.count; t++) {
            int64_t from_row = src + i * c->in_len + c->taps.list[t].src;
            int64_t w = weight + i * weight_step + c->taps.list[t].weight;
            for (int64_t u = 0; u < row->size; u++) {
                int64_t from = first_reaching(row, x, u), end = first_reaching(row, x + count, u);
                int64_t first = reached(row, from, u) - x;
                ln_ref_add_products(sums, dtype, first, first + (end - from) * row->stride,
                                    row->stride, c->src.data, from_row + from, 1,
                                    ln_ref_load(c->weight.data, (size_t)(w + u), dtype));
            }
        }
    }
}

// ---- Both ----

LN_REF_INLINE void finish_row(const conv *c, tl_dtype dtype, int64_t at, int64_t count,
                              ln_ref_sums *sums)
{
    const ln_activation *a = &c->activation;
    if (c->addend.data)
        ln_ref_add_products(sums, dtype, 0, count, 1, c->addend.data, at, 1,
                            ln_ref_is_floating(dtype) ? ln_ref_real(1) : ln_ref_unsigned(1));
    if (!ln_ref_is_floating(dtype)) {
        ln_ref_store_sums(sums, dtype, count, a->act == LN_ACT_RELU, c->dst->data, (size_t)at);
        return;
    }
    ln_ref_act_values(a->act, a->alpha, a->beta, c->dst->dtype, count, sums->real);
    ln_ref_store_reals(c->dst, at, count, sums->real);
}

// Row number `row` of all channels of image `n`.
LN_REF_INLINE void convolve_row(const conv *c, tl_dtype dtype, bool is_transposed, int64_t n,
                                int64_t row)
{
    const ln_conv_call *args = &c->args;
    int64_t width = args->window.axis[args->window.axis_count - 1].out;
    int64_t channels = args->group * args->out_channels;
    ln_ref_sums sums;
    for (int64_t o = 0; o < channels; o++) {
        int64_t group = o / args->out_channels;
        int64_t src = (n * args->group + group) * args->in_channels * c->in_len;
        int64_t first_weight = o * args->in_channels;
        if (is_transposed)
            first_weight = group * args->in_channels * args->out_channels + o % args->out_channels;
        int64_t weight = first_weight * c->tap_count;
        int64_t to = (n * channels + o) * c->out_len + row * width, count;
        for (int64_t x = 0; x < width && !ln_deadline_passed(); x += count) {
            count = width - x < LN_REF_SUMS ? width - x : LN_REF_SUMS;
            ln_ref_start_sums(&sums, dtype, count, c->bias.data, o);
            if (is_transposed)
                gather_row(c, dtype, src, weight, x, count, &sums);
            else
                sum_row(c, dtype, src, weight, x, count, &sums);
            finish_row(c, dtype, to + x, count, &sums);
        }
    }
}

LN_REF_INLINE void convolve_rows(conv *c, tl_dtype dtype, bool is_transposed)
{
    int64_t rows = ln_window_rows(&c->args.window);
    for (int64_t n = 0; n < c->dst->dims[0]; n++) {
        for (int64_t row = 0; row < rows; row++) {
            ln_taps_list(&c->taps, is_transposed);
            convolve_row(c, dtype, is_transposed, n, row);
            ln_taps_next(&c->taps);
        }
    }
}

LN_REF_INLINE void convolve(conv *c, tl_dtype dtype)
{
    convolve_rows(c, dtype, false);
}

LN_REF_INLINE void spread(conv *c, tl_dtype dtype)
{
    convolve_rows(c, dtype, true);
}

ln_status ln_ref_conv(ln_call *call)
{
    conv c;
    LN_TRY(read_conv(call, ln_conv_call_read, &c));
    if (c.dst->len > 0 && !ln_call_is_counting(call))
        LN_REF_FOR_DTYPE(c.src.dtype, convolve, &c);
    return LN_OK;
}

ln_status ln_ref_deconv(ln_call *call)
{
    conv c;
    LN_TRY(read_conv(call, ln_deconv_call_read, &c));
    if (c.dst->len > 0 && !ln_call_is_counting(call))
        LN_REF_FOR_DTYPE(c.src.dtype, spread, &c);
    return LN_OK;
}
