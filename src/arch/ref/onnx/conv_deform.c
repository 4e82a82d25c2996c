// SPDX-License-Identifier: Apache-2.0
// DeformConv: a convolution whose taps are moved by offsets that are data, and read the input
// between its elements: linearly on each axis, with zeros around it.

#include "arch/ref/functions.h"

#include <math.h>

#include "arch/ref/onnx/reals.h"
#include "arch/ref/onnx/taps.h"
#include "base/deadline.h"
#include "op/conv.h"

typedef struct deform {
    ln_deform_conv_call args;
    ln_reals src, weight, bias, offset, mask;
    tl_tensor *dst;
    int64_t in_len, out_len, tap_count; // elements of a channel, of its results, of its weights
} deform;

// The channel that begins at `src`, read at a place between its elements.
static double read_between(const deform *d, int64_t src, const double *place)
{
    const ln_window *window = &d->args.conv.window;
    double sum = 0;
    for (unsigned corner = 0; corner < 1u << window->axis_count; corner++) {
        double share = 1;
        int64_t at = 0;
        bool is_inside = true;
        for (int a = 0; a < window->axis_count; a++) {
            double low = floor(place[a]);
            double x = corner >> a & 1 ? low + 1 : low;
            share *= corner >> a & 1 ? place[a] - low : 1 - (place[a] - low);
            if (!(x >= 0 && x < (double)window->axis[a].in)) {
                is_inside = false;
                break;
            }
            at = at * window->axis[a].in + (int64_t)x;
        }
        if (is_inside && share != 0)
            sum += share * ln_reals_at(d->src.data, src + at, d->src.dtype);
    }
    return sum;
}

// Where a tap of an output reads, and how much that counts.
static double find_place(const deform *d, int64_t n, int64_t offset_group, int64_t tap, int64_t out,
                         double *out_place)
{
    const ln_window *window = &d->args.conv.window;
    int64_t group = n * d->args.offset_group + offset_group, tap_rest = tap, out_rest = out;
    double sum = 0;
    for (int a = window->axis_count - 1; a >= 0; a--) {
        const ln_window_axis *axis = &window->axis[a];
        int64_t o = out_rest % axis->out, t = tap_rest % axis->size;
        out_rest /= axis->out;
        tap_rest /= axis->size;
        int64_t moved_by = ((group * d->tap_count + tap) * window->axis_count + a) * d->out_len;
        out_place[a] = (double)(o * axis->stride + t * axis->dilation - axis->pad_begin) +
                       ln_reals_at(d->offset.data, moved_by + out, d->offset.dtype);
        sum += out_place[a];
    }
    if (isnan(sum))
        return NAN;
    if (!d->mask.data)
        return 1;
    return ln_reals_at(d->mask.data, (group * d->tap_count + tap) * d->out_len + out,
                       d->mask.dtype);
}

static double output(const deform *d, int64_t n, int64_t o, int64_t out)
{
    const ln_conv_call *conv = &d->args.conv;
    int64_t channels = conv->group * conv->in_channels;
    int64_t offset_channels = channels / d->args.offset_group;
    int64_t first = o / conv->out_channels * conv->in_channels;
    double sum = d->bias.data ? ln_reals_at(d->bias.data, o, d->bias.dtype) : 0;
    for (int64_t i = 0; i < conv->in_channels; i++) {
        int64_t src = (n * channels + first + i) * d->in_len;
        for (int64_t tap = 0; tap < d->tap_count; tap++) {
            double place[LN_WINDOW_MAX_AXES];
            double share = find_place(d, n, (first + i) / offset_channels, tap, out, place);
            double weight = ln_reals_at(
                d->weight.data, (o * conv->in_channels + i) * d->tap_count + tap, d->weight.dtype);
            sum += weight * share * (isnan(share) ? 1 : read_between(d, src, place));
        }
    }
    return sum;
}

ln_status ln_ref_onnx_deform_conv(ln_call *call)
{
    deform d = {.dst = ln_call_dst(call, 0)};
    LN_TRY(ln_deform_conv_call_read(call, &d.args));
    LN_TRY(ln_ref_reals(call, d.args.conv.src, &d.src));
    LN_TRY(ln_ref_reals(call, d.args.conv.weight, &d.weight));
    LN_TRY(ln_ref_reals(call, d.args.conv.bias, &d.bias));
    LN_TRY(ln_ref_reals(call, d.args.offset, &d.offset));
    LN_TRY(ln_ref_reals(call, d.args.mask, &d.mask));
    if (ln_call_is_counting(call))
        return LN_OK;
    d.in_len = ln_window_in_len(&d.args.conv.window);
    d.out_len = ln_window_out_len(&d.args.conv.window);
    d.tap_count = ln_window_tap_count(&d.args.conv.window);

    int64_t channels = d.args.conv.group * d.args.conv.out_channels, at = 0;
    for (int64_t n = 0; n < d.dst->dims[0]; n++) {
        for (int64_t o = 0; o < channels; o++) {
            for (int64_t out = 0; out < d.out_len && !ln_deadline_passed(); out++, at++) {
                double value = output(&d, n, o, out);
                ln_ref_store_reals(d.dst, at, 1, &value);
            }
        }
    }
    return LN_OK;
}
