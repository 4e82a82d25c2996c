// SPDX-License-Identifier: Apache-2.0
// Which algorithms can do a convolution, and where its packed weights are.

#include "op/conv_nhwc.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <lightnet/convdim.h>
#include <lightnet/op.h>
#include <lightnet/opshape.h>
#include <lightnet/shape.h>

static const char *const names[] = {
#define LN_CONV_ALGORITHM_NAME(constant, name) name,
    LN_CONV_ALGORITHM_LIST(LN_CONV_ALGORITHM_NAME)
#undef LN_CONV_ALGORITHM_NAME
};

int ln_conv_algorithm_from_str(const char *name)
{
    for (int i = 0; name && i < LN_CONV_ALGORITHM_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

const char *ln_conv_algorithm_name(ln_conv_algorithm algorithm)
{
    return (unsigned)algorithm < LN_CONV_ALGORITHM_COUNT ? names[algorithm] : "unknown";
}

int ln_conv_winograd_tile(ln_conv_algorithm algorithm)
{
    switch (algorithm) {
    case LN_CONV_WINOGRAD2: return 2;
    case LN_CONV_WINOGRAD4: return 4;
    case LN_CONV_WINOGRAD6: return 6;
    default: return 0;
    }
}

static bool is_depthwise(const int weight_dims[4], int group)
{
    return weight_dims[1] == 1 && weight_dims[0] == group && group > 1;
}

bool ln_conv_algorithm_fits(ln_conv_algorithm algorithm, const int weight_dims[4], int group,
                            const int stride[2], const int dilation[2])
{
    if (algorithm == LN_CONV_DIRECT)
        return true;
    if (algorithm == LN_CONV_DEPTHWISE)
        return is_depthwise(weight_dims, group);
    if (algorithm == LN_CONV_NARROW)
        return group == 1 && weight_dims[0] <= LN_CONV_NARROW_OUTS && weight_dims[1] > 0 &&
               weight_dims[1] % LN_PACK_LANES == 0;
    return group == 1 && weight_dims[2] == 3 && weight_dims[3] == 3 && stride[0] == 1 &&
           stride[1] == 1 && dilation[0] == 1 && dilation[1] == 1;
}

// ---- Packed weights ----

static int64_t round_up(int64_t n)
{
    return (n + LN_PACK_LANES - 1) / LN_PACK_LANES * LN_PACK_LANES;
}

int ln_conv_packed_len(ln_conv_algorithm algorithm, const int weight_dims[4], int group)
{
    const int ones[2] = {1, 1};
    if (group < 1 || weight_dims[0] % group != 0) {
        ln_fail(LN_INVALID, "%d output channels cannot be shared by %d groups", weight_dims[0],
                group);
        return -1;
    }
    if (!ln_conv_algorithm_fits(algorithm, weight_dims, group, ones, ones)) {
        ln_fail(LN_INVALID, "weights [%d, %d, %d, %d] in %d groups are not for algorithm '%s'",
                weight_dims[0], weight_dims[1], weight_dims[2], weight_dims[3], group,
                ln_conv_algorithm_name(algorithm));
        return -1;
    }
    int64_t side = ln_conv_winograd_tile(algorithm) + 2;
    int64_t per_channel = round_up(weight_dims[0] / group) * group;
    if (algorithm == LN_CONV_DEPTHWISE || algorithm == LN_CONV_NARROW)
        per_channel = weight_dims[0];
    double len = (double)per_channel * weight_dims[1] *
                 (ln_conv_winograd_tile(algorithm) ? (double)(side * side)
                                                   : (double)weight_dims[2] * weight_dims[3]);
    if (len > INT_MAX) {
        ln_fail(LN_LIMIT, "%.0f packed weights do not fit a tensor", len);
        return -1;
    }
    return (int)len;
}

size_t ln_conv_packed_at(ln_conv_algorithm algorithm, const int weight_dims[4], int group, int o,
                         int c, int ky, int kx)
{
    size_t tap = (size_t)ky * (size_t)weight_dims[3] + (size_t)kx;
    if (algorithm == LN_CONV_DEPTHWISE)
        return tap * (size_t)weight_dims[0] + (size_t)o;
    if (algorithm == LN_CONV_NARROW) {
        size_t line = tap * (size_t)(weight_dims[1] / LN_PACK_LANES) + (size_t)(c / LN_PACK_LANES);
        return (line * (size_t)weight_dims[0] + (size_t)o) * LN_PACK_LANES +
               (size_t)(c % LN_PACK_LANES);
    }
    int of_group = weight_dims[0] / group;
    size_t taps = (size_t)weight_dims[2] * (size_t)weight_dims[3];
    size_t blocks = (size_t)round_up(of_group) / LN_PACK_LANES;
    size_t block = (size_t)(o / of_group) * blocks + (size_t)(o % of_group) / LN_PACK_LANES;
    size_t row = (block * taps + tap) * (size_t)weight_dims[1] + (size_t)c;
    return row * LN_PACK_LANES + (size_t)(o % of_group) % LN_PACK_LANES;
}

// ---- Shapes ----

static int fail(const char *message, int a, int b)
{
    ln_fail(LN_INVALID, message, a, b);
    return -1;
}

void ln_conv_nhwc_weight_dims(int weight_dims[4], const tl_tensor *src, int src_channels, int group,
                              int channels, const int size[2])
{
    int in_channels = src_channels ? src_channels : src->dims[3];
    weight_dims[0] = channels;
    weight_dims[1] = in_channels / group;
    weight_dims[2] = size[0];
    weight_dims[3] = size[1];
}

int ln_shape_conv2d_pack(int *dims, const tl_tensor *weight, int group, int algorithm)
{
    dims[0] = ln_conv_packed_len((ln_conv_algorithm)algorithm, weight->dims, group);
    return dims[0] < 0 ? -1 : 1;
}

static bool is_image(const tl_tensor *t, const int dims[4], long long least_channels)
{
    return t->ndim == 4 && t->dims[0] == dims[0] && t->dims[1] == dims[1] &&
           t->dims[2] == dims[2] && t->dims[3] >= least_channels;
}

int ln_shape_conv2d_nhwc(int *dims, const tl_tensor *src, const tl_tensor *packed,
                         const tl_tensor *bias, const tl_tensor *addend, const tl_tensor *into,
                         int group, int channels, const int size[2], const int stride[2],
                         const int padding[4], const int dilation[2], int algorithm, int src_first,
                         int src_channels, int dst_first, int dst_channels, int addend_first)
{
    int in_channels = src_channels ? src_channels : src->dims[3];
    if (src_first > src->dims[3] || in_channels > src->dims[3] - src_first)
        return fail("channels from %d on are not among %d", src_first, src->dims[3]);
    if (in_channels % group != 0 || channels % group != 0)
        return fail("%d input channels cannot be shared by %d groups", in_channels, group);
    int weight_dims[4];
    ln_conv_nhwc_weight_dims(weight_dims, src, src_channels, group, channels, size);
    if (!ln_conv_algorithm_fits((ln_conv_algorithm)algorithm, weight_dims, group, stride, dilation))
        return fail("algorithm %d is not for a convolution with %d groups like this", algorithm,
                    group);
    int packed_len = ln_conv_packed_len((ln_conv_algorithm)algorithm, weight_dims, group);
    if (packed_len < 0)
        return -1;
    if (packed->len != packed_len)
        return fail("there are %d packed weights instead of %d", packed->len, packed_len);
    if (bias && bias->len != channels)
        return fail("there are %d biases instead of %d", bias->len, channels);
    dims[0] = src->dims[0];
    for (int i = 0; i < 2; i++) {
        dims[1 + i] = ln_output_dim_conv(src->dims[1 + i], size[i], stride[i], padding[i],
                                         padding[2 + i], dilation[i]);
        if (dims[1 + i] < 0)
            return -1;
    }
    dims[3] = into ? into->dims[into->ndim - 1] : dst_channels ? dst_channels : channels;
    if (addend && !is_image(addend, dims, addend_first + (long long)channels))
        return fail("the addend of rank %d should have the shape of the result, with %d channels",
                    addend->ndim, channels);
    if (into && !is_image(into, dims, 1))
        return fail("`into` of rank %d should have the height and width of the result, %d",
                    into->ndim, dims[1]);
    if (dst_first > dims[3] || channels > dims[3] - dst_first)
        return fail("channels from %d on are not among %d", dst_first, dims[3]);
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}

// ---- Places ----

static bool do_windows_meet(int a_first, int a_count, int b_first, int b_count)
{
    return a_first < (long long)b_first + b_count && b_first < (long long)a_first + a_count;
}

size_t ln_place_over_nhwc(const tl_tensor *src, int src_first, int src_channels,
                          const tl_tensor *into, const tl_tensor *addend, int addend_first,
                          int dst_first, int count)
{
    const tl_tensor *over = into ? into : addend;
    int read_count = src_channels ? src_channels : src->dims[3];
    int written_count = count ? count : read_count;
    // Pixels around a window are read when some of them are written already.
    if (!over || (src == over && do_windows_meet(src_first, read_count, dst_first, written_count)))
        return LN_NO_OFFSET;
    if (addend == over && addend_first != dst_first &&
        do_windows_meet(addend_first, written_count, dst_first, written_count))
        return LN_NO_OFFSET;
    return 0;
}

// ---- Channels ----

int ln_shape_put_channels(int *dims, const tl_tensor *src, const tl_tensor *into, int src_first,
                          int src_channels, int dst_first, int dst_channels)
{
    int count = src_channels ? src_channels : src->dims[3];
    if (src_first > src->dims[3] || count > src->dims[3] - src_first)
        return fail("channels from %d on are not among %d", src_first, src->dims[3]);
    memcpy(dims, src->dims, 3 * sizeof *dims);
    dims[3] = into ? into->dims[3] : dst_channels ? dst_channels : count;
    if (into && !is_image(into, dims, 1))
        return fail("`into` of rank %d should have the height and width of src, %d", into->ndim,
                    dims[1]);
    if (dst_first > dims[3] || count > dims[3] - dst_first)
        return fail("channels from %d on are not among %d", dst_first, dims[3]);
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}

void ln_put_channels(const tl_tensor *src, const tl_tensor *into, tl_tensor *dst, int src_first,
                     int src_channels, int dst_first)
{
    size_t from_step = (size_t)src->dims[3], to_step = (size_t)dst->dims[3];
    size_t count = src_channels ? (size_t)src_channels : from_step;
    if (dst->len == 0)
        return;
    if (into && into->data != dst->data)
        memcpy(dst->data, into->data, (size_t)dst->len * sizeof(float));
    const float *from = (const float *)src->data + src_first;
    float *to = (float *)dst->data + dst_first;
    for (size_t pixels = (size_t)dst->len / to_step; pixels > 0; pixels--) {
        memmove(to, from, count * sizeof(float));
        from += from_step;
        to += to_step;
    }
}

int ln_shape_interleave(int *dims, const tl_tensor *src1, const tl_tensor *src2, int src1_first,
                        int src2_first, int channels)
{
    memcpy(dims, src1->dims, 3 * sizeof *dims);
    if (channels > INT_MAX / 2 || channels > src1->dims[3] - src1_first)
        return fail("channels from %d on are not among %d", src1_first, src1->dims[3]);
    if (channels > src2->dims[3] - src2_first)
        return fail("channels from %d on are not among %d", src2_first, src2->dims[3]);
    if (!is_image(src2, dims, channels))
        return fail("src2 should have the height and width of src1, %d x %d", dims[1], dims[2]);
    dims[3] = 2 * channels;
    return ln_compute_length(4, dims) < 0 ? -1 : 4;
}

void ln_interleave(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst, int src1_first,
                   int src2_first)
{
    size_t step1 = (size_t)src1->dims[3], step2 = (size_t)src2->dims[3];
    size_t count = (size_t)dst->dims[3] / 2;
    const float *a = (const float *)src1->data + src1_first;
    const float *b = (const float *)src2->data + src2_first;
    float *restrict to = dst->data;
    for (size_t pixels = (size_t)dst->len / (2 * count); pixels > 0; pixels--) {
        for (size_t c = 0; c < count; c++) {
            to[2 * c] = a[c];
            to[2 * c + 1] = b[c];
        }
        a += step1;
        b += step2;
        to += 2 * count;
    }
}
