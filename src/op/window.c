// SPDX-License-Identifier: Apache-2.0
// From parameters to windows. Every number is checked to fit 32 bits first, so that int64_t holds
// the products and sums of them.

#include "op/window.h"

#include <limits.h>
#include <string.h>

#include "op/call.h"

// What the parameters are called: a description has ONNX's names, or those of the core.
typedef struct spelling {
    const char *autopad, *size, *stride, *dilation, *padding;
} spelling;

static const spelling *spelling_of(const ln_call *call)
{
    static const spelling core = {"autopad", "size", "stride", "dilation", "padding"};
    static const spelling onnx = {"auto_pad", "kernel_shape", "strides", "dilations", "pads"};
    for (const ln_param_info *info = call->info->params; info->arg_name; info++)
        if (strcmp(info->arg_name, core.stride) == 0)
            return &core;
    return &onnx;
}

typedef enum pad_mode {
    PAD_EXPLICIT,
    PAD_VALID,
    PAD_SAME_UPPER,
    PAD_SAME_LOWER,
} pad_mode;

static ln_status read_pad_mode(ln_call *call, const spelling *names, pad_mode *out_mode)
{
    static const struct {
        const char *name;
        pad_mode mode;
    } table[] = {{"", PAD_EXPLICIT},
                 {"NOTSET", PAD_EXPLICIT},
                 {"VALID", PAD_VALID},
                 {"SAME_UPPER", PAD_SAME_UPPER},
                 {"SAME_LOWER", PAD_SAME_LOWER}};
    const char *name = ln_call_string(call, names->autopad);
    *out_mode = PAD_EXPLICIT;
    if (!name)
        return LN_OK;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(name, table[i].name) == 0) {
            *out_mode = table[i].mode;
            return LN_OK;
        }
    }
    return ln_call_fail(call, LN_INVALID, "%s '%s' is not known", names->autopad, name);
}

// The array parameter `name` with an element for each of `count` axes, or none at all.
static ln_status check_count(ln_call *call, const char *name, int count)
{
    int got = ln_call_count(call, name);
    if (got == 0 || got == count)
        return LN_OK;
    return ln_call_fail(call, LN_INVALID, "%s has %d elements instead of %d", name, got, count);
}

// Element `index` of an array that may have been left out.
static ln_status read_element(ln_call *call, const char *name, int index, int64_t least,
                              int64_t otherwise, int64_t *out_value)
{
    *out_value = otherwise;
    if (ln_call_count(call, name) == 0)
        return LN_OK;
    *out_value = ln_call_int_at(call, name, index);
    if (*out_value < least || *out_value > INT_MAX)
        return ln_call_fail(call, LN_INVALID, "%s[%d] = %lld is outside %lld..%d", name, index,
                            (long long)*out_value, (long long)least, INT_MAX);
    return LN_OK;
}

static int64_t covered(const ln_window_axis *axis)
{
    return (axis->size - 1) * axis->dilation + 1;
}

static ln_status read_size(ln_call *call, const char *name, const tl_tensor *weight, int index,
                           int64_t *out_size)
{
    int64_t given;
    LN_TRY(read_element(call, name, index, weight ? 0 : 1, -1, &given));
    if (!weight) {
        *out_size = given;
        return given >= 1 ? LN_OK : ln_call_fail(call, LN_INVALID, "%s is missing", name);
    }
    *out_size = weight->dims[2 + index];
    if (given >= 0 && given != *out_size)
        return ln_call_fail(call, LN_INVALID, "%s[%d] = %lld, but the weights have %lld", name,
                            index, (long long)given, (long long)*out_size);
    if (*out_size < 1)
        return ln_call_fail(call, LN_INVALID, "the weights have no elements on axis %d", 2 + index);
    return LN_OK;
}

ln_status ln_window_check_rank(ln_call *call, const tl_tensor *src)
{
    if (src->ndim < 3)
        return ln_call_fail(call, LN_INVALID, "rank %d has no axis after batch and channels",
                            src->ndim);
    return LN_OK;
}

ln_status ln_window_check_image(ln_call *call, const tl_tensor *src)
{
    if (src->ndim != 4)
        return ln_call_fail(call, LN_INVALID, "rank %d, but an image is [N, C, H, W]", src->ndim);
    return LN_OK;
}

// Everything but paddings and outputs.
static ln_status read_axes(ln_call *call, const spelling *names, const tl_tensor *src,
                           const tl_tensor *weight, ln_window *window)
{
    LN_TRY(ln_window_check_rank(call, src));
    if (weight && weight->ndim != src->ndim)
        return ln_call_fail(call, LN_INVALID, "weights of rank %d for an input of rank %d",
                            weight->ndim, src->ndim);
    int count = src->ndim - 2;
    LN_TRY(check_count(call, names->size, count));
    LN_TRY(check_count(call, names->stride, count));
    LN_TRY(check_count(call, names->dilation, count));
    LN_TRY(check_count(call, names->padding, 2 * count));

    *window = (ln_window){.axis_count = count};
    for (int i = 0; i < count; i++) {
        ln_window_axis *axis = &window->axis[i];
        axis->in = src->dims[2 + i];
        LN_TRY(read_size(call, names->size, weight, i, &axis->size));
        LN_TRY(read_element(call, names->stride, i, 1, 1, &axis->stride));
        LN_TRY(read_element(call, names->dilation, i, 1, 1, &axis->dilation));
    }
    return LN_OK;
}

static ln_status read_padding(ln_call *call, const char *name, ln_window *window)
{
    for (int i = 0; i < window->axis_count; i++) {
        LN_TRY(read_element(call, name, i, 0, 0, &window->axis[i].pad_begin));
        LN_TRY(read_element(call, name, window->axis_count + i, 0, 0, &window->axis[i].pad_end));
    }
    return LN_OK;
}

static void split_padding(ln_window_axis *axis, int64_t total, pad_mode mode)
{
    int64_t padding = total > 0 ? total : 0;
    int64_t less = padding / 2, more = padding - less;
    axis->pad_begin = mode == PAD_SAME_LOWER ? more : less;
    axis->pad_end = padding - axis->pad_begin;
}

static ln_status check_out(ln_call *call, int index, const ln_window_axis *axis)
{
    if (axis->out >= 0 && axis->out <= INT_MAX && axis->pad_begin <= INT_MAX &&
        axis->pad_end <= INT_MAX)
        return LN_OK;
    return ln_call_fail(call, LN_LIMIT, "axis %d would have %lld elements, padded by %lld and %lld",
                        2 + index, (long long)axis->out, (long long)axis->pad_begin,
                        (long long)axis->pad_end);
}

static ln_status place_windows(ln_call *call, int index, bool is_ceil, ln_window_axis *axis)
{
    int64_t room = axis->in + axis->pad_begin + axis->pad_end - covered(axis);
    if (room < 0) {
        axis->out = 0;
        if (axis->in == 0)
            return LN_OK;
        return ln_call_fail(call, LN_INVALID,
                            "a window of size %lld, dilation %lld does not fit axis %d of %lld "
                            "elements, padded by %lld and %lld",
                            (long long)axis->size, (long long)axis->dilation, 2 + index,
                            (long long)axis->in, (long long)axis->pad_begin,
                            (long long)axis->pad_end);
    }
    axis->out = (is_ceil ? room + axis->stride - 1 : room) / axis->stride + 1;
    // A window that would start in the padding at the end is left out.
    if (is_ceil && (axis->out - 1) * axis->stride >= axis->in + axis->pad_begin)
        axis->out--;
    return check_out(call, index, axis);
}

ln_status ln_window_read(ln_call *call, const tl_tensor *src, const tl_tensor *weight,
                         ln_window *out_window)
{
    const spelling *names = spelling_of(call);
    pad_mode mode;
    LN_TRY(read_axes(call, names, src, weight, out_window));
    LN_TRY(read_pad_mode(call, names, &mode));
    if (mode == PAD_EXPLICIT)
        LN_TRY(read_padding(call, names->padding, out_window));

    bool is_ceil = ln_call_int(call, "ceil_mode") != 0;
    for (int i = 0; i < out_window->axis_count; i++) {
        ln_window_axis *axis = &out_window->axis[i];
        if (mode == PAD_EXPLICIT || mode == PAD_VALID) {
            LN_TRY(place_windows(call, i, is_ceil, axis));
            continue;
        }
        axis->out = (axis->in + axis->stride - 1) / axis->stride;
        split_padding(axis, (axis->out - 1) * axis->stride + covered(axis) - axis->in, mode);
        LN_TRY(check_out(call, i, axis));
    }
    return LN_OK;
}

// `output_shape` of all spatial axes, or of all axes of the output, as some exporters write it.
static ln_status read_output_shape(ln_call *call, ln_window *window, bool *out_given)
{
    int given = ln_call_count(call, "output_shape");
    *out_given = given > 0;
    if (given == 0)
        return LN_OK;
    int skipped = given - window->axis_count;
    if (skipped != 0 && skipped != 2)
        return ln_call_fail(call, LN_INVALID, "output_shape has %d elements for %d axes", given,
                            window->axis_count);
    for (int i = 0; i < window->axis_count; i++)
        LN_TRY(read_element(call, "output_shape", skipped + i, 0, 0, &window->axis[i].out));
    return LN_OK;
}

// As many outputs as strides in the input. deconv2d may say others in `output_dims`, where 0 says
// nothing, and has none where no window reaches.
static ln_status read_same_out(ln_call *call, int index, int64_t full, ln_window_axis *axis)
{
    LN_TRY(read_element(call, "output_dims", 2 + index, 0, 0, &axis->out));
    if (axis->out == 0)
        axis->out = axis->in * axis->stride;
    if (ln_call_count(call, "output_dims") > 0 && axis->out > full)
        axis->out = full;
    return LN_OK;
}

ln_status ln_window_read_transposed(ln_call *call, const tl_tensor *src, const tl_tensor *weight,
                                    ln_window *out_window)
{
    const spelling *names = spelling_of(call);
    pad_mode mode;
    bool has_out;
    LN_TRY(read_axes(call, names, src, weight, out_window));
    LN_TRY(check_count(call, "output_padding", out_window->axis_count));
    LN_TRY(check_count(call, "output_dims", 2 + out_window->axis_count));
    LN_TRY(read_pad_mode(call, names, &mode));
    LN_TRY(read_output_shape(call, out_window, &has_out));
    if (mode == PAD_EXPLICIT && !has_out)
        LN_TRY(read_padding(call, names->padding, out_window));

    for (int i = 0; i < out_window->axis_count; i++) {
        ln_window_axis *axis = &out_window->axis[i];
        int64_t extra;
        LN_TRY(read_element(call, "output_padding", i, 0, 0, &extra));
        int64_t full = axis->in == 0 ? 0 : (axis->in - 1) * axis->stride + extra + covered(axis);
        bool is_same = mode == PAD_SAME_UPPER || mode == PAD_SAME_LOWER;
        if (is_same && !has_out)
            LN_TRY(read_same_out(call, i, full, axis));
        if (is_same || has_out) {
            // Without a mode the larger half stands at the beginning, as for SAME_LOWER.
            split_padding(axis, full - axis->out,
                          mode == PAD_SAME_UPPER ? PAD_SAME_UPPER : PAD_SAME_LOWER);
        } else {
            axis->out = full - axis->pad_begin - axis->pad_end;
            if (axis->in == 0)
                axis->out = 0;
        }
        LN_TRY(check_out(call, i, axis));
    }
    return LN_OK;
}

void ln_window_out_dims(const ln_window *window, int64_t *dims)
{
    for (int i = 0; i < window->axis_count; i++)
        dims[2 + i] = window->axis[i].out;
}

const ln_window_axis *ln_window_axis_from_last(const ln_window *window, int back)
{
    static const ln_window_axis single = {.in = 1, .out = 1, .size = 1, .stride = 1, .dilation = 1};
    return back < window->axis_count ? &window->axis[window->axis_count - 1 - back] : &single;
}

int64_t ln_window_tap_count(const ln_window *window)
{
    int64_t count = 1;
    for (int i = 0; i < window->axis_count; i++)
        count *= window->axis[i].size;
    return count;
}
