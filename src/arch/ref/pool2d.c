// SPDX-License-Identifier: Apache-2.0
// Pooling: the largest or the mean element under each window.

#include "arch/ref/kernels.h"

#include <lightnet/convdim.h>

#include "arch/ref/element.h"
#include "base/deadline.h"

typedef struct pool2d {
    const tl_tensor *src;
    tl_tensor *dst;
    const ln_ref_window *window;
} pool2d;

static ln_status check(const pool2d *p)
{
    const ln_ref_window *w = p->window;
    LN_TRY(ln_ref_expect_image(p->src, "src"));
    const int *src = p->src->dims;
    int dims[4] = {src[0], src[1], 0, 0};
    for (int i = 0; i < 2; i++) {
        dims[2 + i] = ln_output_dim_conv(src[2 + i], w->size[i], w->stride[i], w->padding[i],
                                         w->padding[2 + i], w->dilation[i]);
        if (dims[2 + i] < 0)
            return ln_error_status();
    }
    return ln_ref_expect(p->dst, "dst", p->src->dtype, 4, dims);
}

// ---- One window ----

// What one window has met so far.
typedef struct tally {
    ln_ref_number max;
    ln_ref_number sum;
    int64_t count;
    bool has_nan;
} tally;

// Looks at the elements of plane `plane` under the window whose first element is (top, left).
LN_REF_INLINE tally meet(const pool2d *p, tl_dtype dtype, int64_t plane, int64_t top, int64_t left)
{
    const int *src = p->src->dims;
    const ln_ref_window *w = p->window;
    tally met = {.max = ln_ref_least(dtype)};
    for (int64_t v = 0; v < w->size[0]; v++) {
        for (int64_t u = 0; u < w->size[1]; u++) {
            int64_t y = top + v * w->dilation[0];
            int64_t x = left + u * w->dilation[1];
            if (y < 0 || y >= src[2] || x < 0 || x >= src[3])
                continue;
            ln_ref_number element =
                ln_ref_load(p->src->data, (size_t)((plane * src[2] + y) * src[3] + x), dtype);
            met.count++;
            met.sum = ln_ref_add(met.sum, element);
            met.has_nan = met.has_nan || element.real != element.real;
            if (ln_ref_less(met.max, element, dtype))
                met.max = element;
        }
    }
    return met;
}

LN_REF_INLINE ln_ref_number max_of(tally met)
{
    return met.has_nan ? ln_ref_real((double)__builtin_nanf("")) : met.max;
}

LN_REF_INLINE ln_ref_number mean_of(tally met, tl_dtype dtype)
{
    if (met.count == 0)
        return ln_ref_unsigned(0);
    if (ln_ref_is_floating(dtype))
        return ln_ref_real(met.sum.real / (double)met.count);
    if (ln_ref_is_signed(dtype))
        return ln_ref_signed((int64_t)met.sum.whole / met.count);
    return ln_ref_unsigned(met.sum.whole / (uint64_t)met.count);
}

// ---- All windows ----

LN_REF_INLINE void pool(const pool2d *p, tl_dtype dtype, bool is_max)
{
    const int *dst = p->dst->dims;
    const ln_ref_window *w = p->window;
    size_t d = 0;
    for (int64_t plane = 0; plane < (int64_t)dst[0] * dst[1]; plane++) {
        for (int64_t y = 0; y < dst[2]; y++) {
            for (int64_t x = 0; x < dst[3] && !ln_deadline_passed(); x++) {
                tally met = meet(p, dtype, plane, y * w->stride[0] - w->padding[0],
                                 x * w->stride[1] - w->padding[1]);
                ln_ref_store(p->dst->data, d++, dtype, is_max ? max_of(met) : mean_of(met, dtype));
            }
        }
    }
}

LN_REF_INLINE void pool_max(const pool2d *p, tl_dtype dtype)
{
    pool(p, dtype, true);
}

LN_REF_INLINE void pool_mean(const pool2d *p, tl_dtype dtype)
{
    pool(p, dtype, false);
}

ln_status ln_ref_maxpool2d(const tl_tensor *src, tl_tensor *dst, const ln_ref_window *window)
{
    pool2d problem = {src, dst, window};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, pool_max, &problem);
    return LN_OK;
}

ln_status ln_ref_avgpool2d(const tl_tensor *src, tl_tensor *dst, const ln_ref_window *window)
{
    pool2d problem = {src, dst, window};
    LN_TRY(check(&problem));
    LN_REF_FOR_DTYPE(src->dtype, pool_mean, &problem);
    return LN_OK;
}
