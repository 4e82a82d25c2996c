// SPDX-License-Identifier: Apache-2.0
// Folding a batch norm into a convolution. All compute in double.

#include "arch/ref/kernels.h"

#include <math.h>

#include <lightnet/shape.h>

#include "arch/ref/element.h"

static double at(const tl_tensor *t, int64_t i)
{
    return ln_ref_load_double(t->data, (size_t)i, t->dtype);
}

static void put(tl_tensor *t, int64_t i, double x)
{
    ln_ref_store_double(t->data, (size_t)i, t->dtype, x);
}

// Elements of `t` behind one step of dimension `axis`.
static int64_t inner_len(const tl_tensor *t, int axis)
{
    int64_t len = 1;
    for (int d = axis + 1; d < t->ndim; d++)
        len *= t->dims[d];
    return len;
}

// `t` has one element for each channel.
static ln_status expect_channels(const tl_tensor *t, const char *what, tl_dtype dtype, int channels)
{
    return ln_ref_expect(t, what, dtype, 1, &channels);
}

ln_status ln_ref_bn_fold_weight(const tl_tensor *weight, const tl_tensor *scale,
                                const tl_tensor *var, tl_tensor *dst, double epsilon)
{
    LN_TRY(ln_ref_expect_any(weight, "weight"));
    if (weight->ndim < 1)
        return LN_FAIL(LN_INVALID, "weight is a scalar and has no channels");
    LN_TRY(expect_channels(scale, "scale", weight->dtype, weight->dims[0]));
    LN_TRY(expect_channels(var, "var", weight->dtype, weight->dims[0]));
    LN_TRY(ln_ref_expect(dst, "dst", weight->dtype, weight->ndim, weight->dims));

    int64_t inner = inner_len(weight, 0), i = 0;
    for (int64_t o = 0; o < weight->dims[0]; o++) {
        double factor = at(scale, o), deviation = sqrt(at(var, o) + epsilon);
        for (int64_t end = i + inner; i < end; i++)
            put(dst, i, at(weight, i) * factor / deviation);
    }
    return LN_OK;
}

ln_status ln_ref_bn_fold_bias(const tl_tensor *bias, const tl_tensor *scale,
                              const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                              tl_tensor *dst, double epsilon)
{
    LN_TRY(ln_ref_expect_any(scale, "scale"));
    int channels = scale->len;
    tl_dtype dtype = scale->dtype;
    LN_TRY(expect_channels(scale, "scale", dtype, channels));
    if (bias)
        LN_TRY(expect_channels(bias, "bias", dtype, channels));
    LN_TRY(expect_channels(offset, "offset", dtype, channels));
    LN_TRY(expect_channels(mean, "mean", dtype, channels));
    LN_TRY(expect_channels(var, "var", dtype, channels));
    LN_TRY(expect_channels(dst, "dst", dtype, channels));

    for (int64_t o = 0; o < channels; o++) {
        double before = (bias ? at(bias, o) : 0) - at(mean, o);
        put(dst, o, before * at(scale, o) / sqrt(at(var, o) + epsilon) + at(offset, o));
    }
    return LN_OK;
}

ln_status ln_ref_bn2scale(const tl_tensor *mean, const tl_tensor *var, const tl_tensor *scale,
                          const tl_tensor *offset, tl_tensor *dst_scale, tl_tensor *dst_shift,
                          tl_tensor *dst_power, double epsilon)
{
    LN_TRY(ln_ref_expect_any(mean, "mean"));
    int channels = mean->len;
    tl_dtype dtype = mean->dtype;
    LN_TRY(expect_channels(mean, "mean", dtype, channels));
    LN_TRY(expect_channels(var, "var", dtype, channels));
    LN_TRY(expect_channels(scale, "scale", dtype, channels));
    LN_TRY(expect_channels(offset, "offset", dtype, channels));
    LN_TRY(expect_channels(dst_scale, "dst_scale", dtype, channels));
    LN_TRY(expect_channels(dst_shift, "dst_shift", dtype, channels));
    LN_TRY(expect_channels(dst_power, "dst_power", dtype, channels));

    for (int64_t c = 0; c < channels; c++) {
        double factor = at(scale, c) / sqrt(at(var, c) + epsilon);
        put(dst_scale, c, factor);
        put(dst_shift, c, at(offset, c) - at(mean, c) * factor);
        put(dst_power, c, 1);
    }
    return LN_OK;
}
