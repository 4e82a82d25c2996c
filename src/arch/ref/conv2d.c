// SPDX-License-Identifier: Apache-2.0
// 2-d convolution: seven loops, as the definition says. The innermost one walks neighbouring
// outputs of a row, so that what a tap needs to know is worked out once for all of them; each
// output still adds up its taps in the stated order.

#include "arch/ref/kernels.h"

#include <lightnet/convdim.h>

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct conv2d {
    const tl_tensor *src, *weight, *bias;
    tl_tensor *dst;
    const ln_ref_window *window;
    int group;
    bool is_relu;
} conv2d;

static ln_status check(const conv2d *c)
{
    const ln_ref_window *w = c->window;
    LN_TRY(ln_ref_expect_image(c->src, "src"));
    LN_TRY(ln_ref_expect_image(c->weight, "weight"));
    const int *src = c->src->dims, *weight = c->weight->dims;
    if (c->group < 1 || weight[0] % c->group != 0 || (int64_t)weight[1] * c->group != src[1])
        return LN_FAIL(LN_INVALID, "%d channels, weights for %d, %d outputs, %d groups", src[1],
                       weight[1], weight[0], c->group);

    int dims[4] = {src[0], weight[0], 0, 0};
    for (int i = 0; i < 2; i++) {
        dims[2 + i] = ln_output_dim_conv(src[2 + i], w->size[i], w->stride[i], w->padding[i],
                                         w->padding[2 + i], w->dilation[i]);
        if (dims[2 + i] < 0)
            return ln_error_status();
    }
    int weight_dims[4] = {weight[0], weight[1], w->size[0], w->size[1]};
    tl_dtype dtype = c->src->dtype;
    LN_TRY(ln_ref_expect(c->weight, "weight", dtype, 4, weight_dims));
    if (c->bias)
        LN_TRY(ln_ref_expect(c->bias, "bias", dtype, 1, &weight[0]));
    return ln_ref_expect(c->dst, "dst", dtype, 4, dims);
}

// The first of the outputs 0, 1, ... whose place `start` + output * `stride` is not below 0, and
// the first behind it whose place is not below `size`; both at most `count`.
LN_REF_INLINE void find_inside(int64_t start, int64_t stride, int64_t size, int64_t count,
                               int64_t *out_first, int64_t *out_end)
{
    int64_t first = start < 0 ? -start : 0, end = start < size ? size - start : 0;
    if (stride > 1) { // a division takes as long as many products
        first = (first + stride - 1) / stride;
        end = (end + stride - 1) / stride;
    }
    *out_end = end < count ? end : count;
    *out_first = first < *out_end ? first : *out_end;
}

// The sums of `count` neighbouring outputs of channel `o` of image `n`; the windows start in row
// `top`, and that of the first output in column `left`.
LN_REF_INLINE void sum_windows(const conv2d *c, tl_dtype dtype, int64_t n, int64_t o, int64_t top,
                               int64_t left, int64_t count, ln_ref_sums *sums)
{
    const int *src = c->src->dims, *weight = c->weight->dims;
    const ln_ref_window *window = c->window;
    int64_t first_channel = o / (weight[0] / c->group) * weight[1];
    for (int64_t i = 0; i < weight[1]; i++) {
        for (int64_t v = 0; v < weight[2]; v++) {
            int64_t y = top + v * window->dilation[0];
            if (y < 0 || y >= src[2])
                continue;
            int64_t row = ((n * src[1] + first_channel + i) * src[2] + y) * src[3];
            int64_t w = ((o * weight[1] + i) * weight[2] + v) * weight[3];
            for (int64_t u = 0; u < weight[3]; u++) {
                int64_t x = left + u * window->dilation[1], first, end;
                find_inside(x, window->stride[1], src[3], count, &first, &end);
                ln_ref_add_products(sums, dtype, first, end, 1, c->src->data,
                                    row + x + first * window->stride[1], window->stride[1],
                                    ln_ref_load(c->weight->data, (size_t)(w + u), dtype));
            }
        }
    }
}

LN_REF_INLINE void convolve(const conv2d *c, tl_dtype dtype)
{
    const int *dst = c->dst->dims;
    const ln_ref_window *w = c->window;
    ln_ref_sums sums;
    int64_t count;
    size_t d = 0;
    for (int64_t n = 0; n < dst[0]; n++) {
        for (int64_t o = 0; o < dst[1]; o++) {
            for (int64_t y = 0; y < dst[2]; y++) {
                for (int64_t x = 0; x < dst[3] && !ln_deadline_passed();
                     x += count, d += (size_t)count) {
                    count = dst[3] - x < LN_REF_SUMS ? dst[3] - x : LN_REF_SUMS;
                    ln_ref_start_sums(&sums, dtype, count, c->bias ? c->bias->data : NULL, o);
                    sum_windows(c, dtype, n, o, y * w->stride[0] - w->padding[0],
                                x * w->stride[1] - w->padding[1], count, &sums);
                    ln_ref_store_sums(&sums, dtype, count, c->is_relu, c->dst->data, d);
                }
            }
        }
    }
}

ln_status ln_ref_conv2d(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                        tl_tensor *dst, const ln_ref_window *window, int group, bool is_relu)
{
    conv2d problem = {src, weight, bias, dst, window, group, is_relu};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, convolve, &problem);
    return LN_OK;
}
