// SPDX-License-Identifier: Apache-2.0
// Transposed 2-d convolution, seen from the result: which elements of the source reach each one.

#include "arch/ref/kernels.h"

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct deconv2d {
    const tl_tensor *src, *weight, *bias;
    tl_tensor *dst;
    const ln_ref_window *window;
    int group;
    bool is_relu;
} deconv2d;

static ln_status check(const deconv2d *d)
{
    const ln_ref_window *w = d->window;
    LN_TRY(ln_ref_expect_image(d->src, "src"));
    LN_TRY(ln_ref_expect_image(d->weight, "weight"));
    LN_TRY(ln_ref_expect_image(d->dst, "dst"));
    const int *src = d->src->dims, *weight = d->weight->dims, *dst = d->dst->dims;
    if (d->group < 1 || src[1] % d->group != 0 || (int64_t)weight[1] * d->group != dst[1])
        return LN_FAIL(LN_INVALID, "%d channels, weights for %d outputs in %d groups, %d outputs",
                       src[1], weight[1], d->group, dst[1]);
    for (int i = 0; i < 2; i++)
        if (w->size[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->padding[i] < 0 ||
            w->padding[2 + i] < 0)
            return LN_FAIL(LN_INVALID, "a window of size %d, stride %d, dilation %d, padding %d",
                           w->size[i], w->stride[i], w->dilation[i], w->padding[i]);

    tl_dtype dtype = d->src->dtype;
    LN_TRY(ln_ref_expect(d->weight, "weight", dtype, 4,
                         (int[]){src[1], weight[1], w->size[0], w->size[1]}));
    if (d->bias)
        LN_TRY(ln_ref_expect(d->bias, "bias", dtype, 1, &dst[1]));
    return ln_ref_expect(d->dst, "dst", dtype, 4, (int[]){src[0], dst[1], dst[2], dst[3]});
}

// Element `from` of an axis reaches place from * stride + tap * dilation - padding.
LN_REF_INLINE int64_t place_of(const ln_ref_window *w, int axis, int64_t from, int64_t tap)
{
    return from * w->stride[axis] + tap * w->dilation[axis] - w->padding[axis];
}

// The first element, of at most `in`, that reaches `place` or one behind it.
LN_REF_INLINE int64_t first_reaching(const ln_ref_window *w, int axis, int64_t place, int64_t tap,
                                     int64_t in)
{
    int64_t distance = place - place_of(w, axis, 0, tap);
    int64_t from = distance <= 0 ? 0 : (distance + w->stride[axis] - 1) / w->stride[axis];
    return from < in ? from : in;
}

// The sums of outputs [x, x + count) in row `y` of channel `o` of image `n`.
LN_REF_INLINE void sum_taps(const deconv2d *d, tl_dtype dtype, int64_t n, int64_t o, int64_t y,
                            int64_t x, int64_t count, ln_ref_sums *sums)
{
    const int *src = d->src->dims, *weight = d->weight->dims;
    const ln_ref_window *window = d->window;
    int64_t channels = src[1] / d->group;
    int64_t first_channel = o / weight[1] * channels;
    for (int64_t i = first_channel; i < first_channel + channels; i++) {
        for (int64_t v = 0; v < weight[2]; v++) {
            int64_t from_y = first_reaching(window, 0, y, v, src[2]);
            if (from_y == src[2] || place_of(window, 0, from_y, v) != y)
                continue;
            int64_t row = ((n * src[1] + i) * src[2] + from_y) * src[3];
            int64_t w = ((i * weight[1] + o % weight[1]) * weight[2] + v) * weight[3];
            for (int64_t u = 0; u < weight[3]; u++) {
                int64_t from = first_reaching(window, 1, x, u, src[3]);
                int64_t end = first_reaching(window, 1, x + count, u, src[3]);
                int64_t first = place_of(window, 1, from, u) - x, step = window->stride[1];
                ln_ref_add_products(sums, dtype, first, first + (end - from) * step, step,
                                    d->src->data, row + from, 1,
                                    ln_ref_load(d->weight->data, (size_t)(w + u), dtype));
            }
        }
    }
}

LN_REF_INLINE void spread_all(const deconv2d *d, tl_dtype dtype)
{
    const int *dst = d->dst->dims;
    ln_ref_sums sums;
    int64_t count;
    size_t to = 0;
    for (int64_t n = 0; n < dst[0]; n++) {
        for (int64_t o = 0; o < dst[1]; o++) {
            for (int64_t y = 0; y < dst[2]; y++) {
                for (int64_t x = 0; x < dst[3] && !ln_deadline_passed();
                     x += count, to += (size_t)count) {
                    count = dst[3] - x < LN_REF_SUMS ? dst[3] - x : LN_REF_SUMS;
                    ln_ref_start_sums(&sums, dtype, count, d->bias ? d->bias->data : NULL, o);
                    sum_taps(d, dtype, n, o, y, x, count, &sums);
                    ln_ref_store_sums(&sums, dtype, count, d->is_relu, d->dst->data, to);
                }
            }
        }
    }
}

ln_status ln_ref_deconv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                          tl_tensor *dst, const ln_ref_window *window, int group, bool is_relu)
{
    deconv2d problem = {src, weight, bias, dst, window, group, is_relu};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, spread_all, &problem);
    return LN_OK;
}
