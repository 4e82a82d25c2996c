// SPDX-License-Identifier: Apache-2.0
// The arithmetic of convolution. All inputs are ints, so int64_t holds every product and sum.

#include <lightnet/convdim.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/shape.h>

static int64_t covered(int size, int dilation)
{
    return (int64_t)(size - 1) * dilation + 1;
}

static ln_status check_window(int size, int stride, int dilation)
{
    if (size < 1 || stride < 1 || dilation < 1)
        return LN_FAIL(LN_INVALID, "window of size %d, stride %d, dilation %d: each is at least 1",
                       size, stride, dilation);
    return LN_OK;
}

static ln_status check_padding(int pad_begin, int pad_end)
{
    if (pad_begin < 0 || pad_end < 0)
        return LN_FAIL(LN_INVALID, "padding %d and %d: none may be negative", pad_begin, pad_end);
    return LN_OK;
}

static int to_int(int64_t dim)
{
    if (dim <= INT_MAX)
        return (int)dim;
    ln_fail(LN_LIMIT, "a dimension of %lld does not fit an int", (long long)dim);
    return -1;
}

int ln_output_dim_conv(int in, int size, int stride, int pad_begin, int pad_end, int dilation)
{
    if (check_window(size, stride, dilation) != LN_OK || check_padding(pad_begin, pad_end) != LN_OK)
        return -1;
    int64_t room = (int64_t)in + pad_begin + pad_end - covered(size, dilation);
    if (in < 0 || room < 0) {
        ln_fail(LN_INVALID,
                "a window of size %d, dilation %d does not fit %d elements padded by %d and %d",
                size, dilation, in, pad_begin, pad_end);
        return -1;
    }
    return to_int(room / stride + 1);
}

int ln_output_dim_deconv(int in, int size, int stride, int pad_begin, int pad_end,
                         int output_padding, int dilation)
{
    if (check_window(size, stride, dilation) != LN_OK || check_padding(pad_begin, pad_end) != LN_OK)
        return -1;
    int64_t out = (int64_t)stride * ((int64_t)in - 1) + output_padding + covered(size, dilation) -
                  ((int64_t)pad_begin + pad_end);
    if (in < 1 || output_padding < 0 || out < 1) {
        ln_fail(LN_INVALID,
                "transposed window of size %d, stride %d, dilation %d over %d elements, output "
                "padding %d, cut by %d and %d: nothing is left",
                size, stride, dilation, in, output_padding, pad_begin, pad_end);
        return -1;
    }
    return to_int(out);
}

// ---- Automatic padding ----

typedef enum pad_mode {
    VALID,
    SAME_UPPER,
    SAME_LOWER,
} pad_mode;

static ln_status parse_mode(const char *name, pad_mode *out_mode)
{
    static const char *const names[] = {
        [VALID] = "VALID", [SAME_UPPER] = "SAME_UPPER", [SAME_LOWER] = "SAME_LOWER"};
    *out_mode = VALID;
    for (int i = VALID; i <= SAME_LOWER; i++) {
        if (name && strcmp(name, names[i]) == 0) {
            *out_mode = (pad_mode)i;
            return LN_OK;
        }
    }
    return LN_FAIL(LN_INVALID, "'%s' computes no padding", name ? name : "(none)");
}

// The padding with which `few` windows cover `many` elements, and `extra` more: 0 rather than less.
static ln_status pad_axis(int64_t few, int64_t many, int extra, int size, int stride, int dilation,
                          int *out_total)
{
    LN_TRY(check_window(size, stride, dilation));
    if (few < 1 || many < 1 || extra < 0)
        return LN_FAIL(LN_INVALID, "padding of %lld windows over %lld elements and %d more",
                       (long long)few, (long long)many, extra);
    int64_t total = (few - 1) * stride + extra + covered(size, dilation) - many;
    if (total > INT_MAX)
        return LN_FAIL(LN_LIMIT, "a padding of %lld does not fit an int", (long long)total);
    *out_total = total > 0 ? (int)total : 0;
    return LN_OK;
}

// `out` and `output_padding` are those of a transposed convolution.
static ln_status pad(int *padding, const int *in, const int *out, const int *size,
                     const int *stride, const int *output_padding, const int *dilation,
                     int axis_count, const char *name, bool is_transposed)
{
    if (!padding || !in || !size || !stride || !dilation)
        return LN_FAIL(LN_INVALID, "automatic padding lacks an argument");
    if (axis_count < 0 || axis_count > LN_MAXDIM)
        return LN_FAIL(LN_INVALID, "%d axes to pad are outside 0..%d", axis_count, LN_MAXDIM);
    pad_mode mode;
    LN_TRY(parse_mode(name, &mode));

    int totals[LN_MAXDIM] = {0};
    for (int i = 0; i < axis_count; i++) {
        int64_t few = in[i], many = in[i];
        if (is_transposed)
            many = out ? out[i] : many * stride[i];
        else if (stride[i] > 0)
            few = (few + stride[i] - 1) / stride[i];
        LN_TRY(pad_axis(few, many, output_padding ? output_padding[i] : 0, size[i], stride[i],
                        dilation[i], &totals[i]));
    }
    for (int i = 0; i < axis_count; i++) {
        int total = mode == VALID ? 0 : totals[i], less = total / 2;
        padding[i] = mode == SAME_LOWER ? total - less : less;
        padding[axis_count + i] = total - padding[i];
    }
    return LN_OK;
}

ln_status ln_autopadding_conv(int *padding, const int *in, const int *size, const int *stride,
                              const int *dilation, int axis_count, const char *mode)
{
    return pad(padding, in, NULL, size, stride, NULL, dilation, axis_count, mode, false);
}

ln_status ln_autopadding_deconv(int *padding, const int *in, const int *out, const int *size,
                                const int *stride, const int *output_padding, const int *dilation,
                                int axis_count, const char *mode)
{
    return pad(padding, in, out, size, stride, output_padding, dilation, axis_count, mode, true);
}
