// SPDX-License-Identifier: Apache-2.0
// Where packed weights of a transposed convolution are, and its shapes.

#include "op/nhwc_deconv.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/shape.h>

#include "op/conv_nhwc.h"

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

// ---- Packed weights ----

static bool is_depthwise(const int weight_dims[4], int group)
{
    return group > 1 && weight_dims[0] == group && weight_dims[1] == 1;
}

static int64_t round_up(int64_t n)
{
    return (n + LN_PACK_LANES - 1) / LN_PACK_LANES * LN_PACK_LANES;
}

int ln_deconv_packed_len(const int weight_dims[4], int group)
{
    if (group < 1 || weight_dims[0] % group != 0)
        return fail("%d input channels cannot be shared by %d groups", weight_dims[0], group);
    int64_t outs = is_depthwise(weight_dims, group) ? 1 : round_up(weight_dims[1]);
    double len = (double)weight_dims[0] * (double)outs * weight_dims[2] * weight_dims[3];
    if (len > INT_MAX) {
        ln_fail(LN_LIMIT, "%.0f packed weights do not fit a tensor", len);
        return -1;
    }
    return (int)len;
}

// One axis: the taps of phases in front of that of a tap, its place in the phase from the last to
// the first, and how many that has.
typedef struct phase_place {
    size_t before, index, count;
} phase_place;

static phase_place place_of(int tap, int size, int stride, int dilation)
{
    int a = stride, b = dilation;
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    int step = stride / a, first = tap % step, longer = size % step;
    int count = (size - 1 - first) / step + 1;
    return (phase_place){.before = (size_t)first * (size_t)(size / step) +
                                   (size_t)(first < longer ? first : longer),
                         .index = (size_t)(count - 1 - tap / step),
                         .count = (size_t)count};
}

size_t ln_deconv_packed_at(const int weight_dims[4], int group, const int stride[2],
                           const int dilation[2], int c, int o, const int tap[2])
{
    phase_place row = place_of(tap[0], weight_dims[2], stride[0], dilation[0]);
    phase_place column = place_of(tap[1], weight_dims[3], stride[1], dilation[1]);
    size_t before = row.before * (size_t)weight_dims[3] + row.count * column.before;
    size_t in_phase = row.index * column.count + column.index;
    if (is_depthwise(weight_dims, group))
        return (before + in_phase) * (size_t)group + (size_t)o;
    size_t outs = (size_t)weight_dims[1], in = (size_t)(weight_dims[0] / group);
    size_t panels = (outs + LN_PACK_LANES - 1) / LN_PACK_LANES;
    size_t of_group = (size_t)o % outs, taps = row.count * column.count;
    size_t panel = (size_t)o / outs * panels + of_group / LN_PACK_LANES;
    size_t line = before * (size_t)weight_dims[0] * panels;
    line += (panel * taps + in_phase) * in + (size_t)c % in;
    return line * LN_PACK_LANES + of_group % LN_PACK_LANES;
}

// ---- Shapes ----

void ln_deconv_nhwc_weight_dims(int weight_dims[4], const tl_tensor *src, int src_channels,
                                int group, int channels, const int size[2])
{
    weight_dims[0] = src_channels ? src_channels : src->dims[3];
    weight_dims[1] = channels / group;
    weight_dims[2] = size[0];
    weight_dims[3] = size[1];
}

int ln_shape_deconv2d_pack(int *dims, const tl_tensor *weight, int group)
{
    dims[0] = ln_deconv_packed_len(weight->dims, group);
    return dims[0] < 0 ? -1 : 1;
}

int ln_shape_deconv2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                           const tl_tensor *bias, const tl_tensor *into, int group, int channels,
                           const int size[2], const int stride[2], const int dilation[2],
                           const int out[2], int src_first, int src_channels, int dst_first,
                           int dst_channels)
{
    int weight_dims[4];
    ln_deconv_nhwc_weight_dims(weight_dims, src, src_channels, group, channels, size);
    if (src_first > src->dims[3] || weight_dims[0] > src->dims[3] - src_first)
        return fail("channels from %d on are not among %d", src_first, src->dims[3]);
    if (channels % group != 0)
        return fail("%d output channels cannot be shared by %d groups", channels, group);
    int packed_len = ln_deconv_packed_len(weight_dims, group);
    if (packed_len < 0)
        return -1;
    if (packed->len != packed_len)
        return fail("there are %d packed weights instead of %d", packed->len, packed_len);
    if (bias && bias->len != channels)
        return fail("there are %d biases instead of %d", bias->len, channels);
    for (int i = 0; i < 2; i++)
        if ((int64_t)src->dims[1 + i] * stride[i] + (int64_t)(size[i] - 1) * dilation[i] > INT_MAX)
            return fail("windows of %d elements, %d apart, are too wide", size[i], dilation[i]);
    dims[0] = src->dims[0];
    dims[1] = out[0];
    dims[2] = out[1];
    dims[3] = into ? into->dims[3] : dst_channels ? dst_channels : channels;
    if (into && memcmp(into->dims, dims, 3 * sizeof *dims) != 0)
        return fail("`into` should have the height and width of the result, %d x %d", out[0],
                    out[1]);
    if (dst_first > dims[3] || channels > dims[3] - dst_first)
        return fail("channels from %d on are not among %d", dst_first, dims[3]);
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}
