// SPDX-License-Identifier: Apache-2.0
// Transposed 2-d convolution, seen from the result: which elements of the source reach each one.

#include "arch/ref/kernels.h"

#include "arch/ref/element.h"

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

// Which element of an axis of `in` elements reaches position `at` through tap `tap`; -1 if none.
LN_REF_INLINE int64_t reaching(const ln_ref_window *w, int axis, int64_t at, int64_t tap, int in)
{
    int64_t spread = at + w->padding[axis] - tap * w->dilation[axis];
    if (spread < 0 || spread % w->stride[axis] != 0 || spread / w->stride[axis] >= in)
        return -1;
    return spread / w->stride[axis];
}

LN_REF_INLINE ln_ref_number sum_taps(const deconv2d *d, tl_dtype dtype, int64_t n, int64_t o,
                                     int64_t y, int64_t x)
{
    const int *src = d->src->dims, *weight = d->weight->dims;
    int64_t channels = src[1] / d->group;
    int64_t first_channel = o / weight[1] * channels;
    ln_ref_number sum = ln_ref_unsigned(0);
    if (d->bias)
        sum = ln_ref_load(d->bias->data, (size_t)o, dtype);

    for (int64_t i = first_channel; i < first_channel + channels; i++) {
        for (int64_t v = 0; v < weight[2]; v++) {
            for (int64_t u = 0; u < weight[3]; u++) {
                int64_t from_y = reaching(d->window, 0, y, v, src[2]);
                int64_t from_x = reaching(d->window, 1, x, u, src[3]);
                if (from_y < 0 || from_x < 0)
                    continue;
                int64_t s = ((n * src[1] + i) * src[2] + from_y) * src[3] + from_x;
                int64_t w = ((i * weight[1] + o % weight[1]) * weight[2] + v) * weight[3] + u;
                sum = ln_ref_add(sum, ln_ref_mul(ln_ref_load(d->src->data, (size_t)s, dtype),
                                                 ln_ref_load(d->weight->data, (size_t)w, dtype)));
            }
        }
    }
    return sum;
}

LN_REF_INLINE void spread_all(const deconv2d *d, tl_dtype dtype)
{
    const int *dst = d->dst->dims;
    size_t to = 0;
    for (int64_t n = 0; n < dst[0]; n++) {
        for (int64_t o = 0; o < dst[1]; o++) {
            for (int64_t y = 0; y < dst[2]; y++) {
                for (int64_t x = 0; x < dst[3]; x++) {
                    ln_ref_number sum = sum_taps(d, dtype, n, o, y, x);
                    if (d->is_relu)
                        sum = ln_ref_positive_part(sum, dtype);
                    ln_ref_store(d->dst->data, to++, dtype, sum);
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
