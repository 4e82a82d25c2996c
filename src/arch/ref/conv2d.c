// SPDX-License-Identifier: Apache-2.0
// 2-d convolution: seven loops, as the definition says.

#include "arch/ref/kernels.h"

#include <lightnet/convdim.h>

#include "arch/ref/element.h"

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

// The sum for output channel `o` of image `n`, for the window whose first element is (top, left).
LN_REF_INLINE ln_ref_number sum_window(const conv2d *c, tl_dtype dtype, int64_t n, int64_t o,
                                       int64_t top, int64_t left)
{
    const int *src = c->src->dims, *weight = c->weight->dims;
    int64_t first_channel = o / (weight[0] / c->group) * weight[1];
    ln_ref_number sum = ln_ref_unsigned(0);
    if (c->bias)
        sum = ln_ref_load(c->bias->data, (size_t)o, dtype);

    for (int64_t i = 0; i < weight[1]; i++) {
        for (int64_t v = 0; v < weight[2]; v++) {
            for (int64_t u = 0; u < weight[3]; u++) {
                int64_t y = top + v * c->window->dilation[0];
                int64_t x = left + u * c->window->dilation[1];
                if (y < 0 || y >= src[2] || x < 0 || x >= src[3])
                    continue;
                int64_t s = ((n * src[1] + first_channel + i) * src[2] + y) * src[3] + x;
                int64_t w = ((o * weight[1] + i) * weight[2] + v) * weight[3] + u;
                sum = ln_ref_add(sum, ln_ref_mul(ln_ref_load(c->src->data, (size_t)s, dtype),
                                                 ln_ref_load(c->weight->data, (size_t)w, dtype)));
            }
        }
    }
    return sum;
}

LN_REF_INLINE void convolve(const conv2d *c, tl_dtype dtype)
{
    const int *dst = c->dst->dims;
    const ln_ref_window *w = c->window;
    size_t d = 0;
    for (int64_t n = 0; n < dst[0]; n++) {
        for (int64_t o = 0; o < dst[1]; o++) {
            for (int64_t y = 0; y < dst[2]; y++) {
                for (int64_t x = 0; x < dst[3]; x++) {
                    ln_ref_number sum = sum_window(c, dtype, n, o, y * w->stride[0] - w->padding[0],
                                                   x * w->stride[1] - w->padding[1]);
                    if (c->is_relu)
                        sum = ln_ref_positive_part(sum, dtype);
                    ln_ref_store(c->dst->data, d++, dtype, sum);
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
