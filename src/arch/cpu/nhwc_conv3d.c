// SPDX-License-Identifier: Apache-2.0
// Convolution of channels-last volumes [N, D, H, W, C] as convolutions of planes that are added up
// in place. The packed weights of each depth of the kernel are those of an image's convolution, and
// stand one after the other.
//
// The bits: for an output plane, the depths of the kernel that meet a plane of the input in
// ascending order, each a convolution of its algorithm; to the sum of a depth that of those before
// is added, to that of the first the addend. The last one has the bias before that, and the
// activation after it.

#include <limits.h>
#include <string.h>

#include <lightnet/convdim.h>
#include <lightnet/shape.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/nhwc.h"
#include "op/prepare.h"

// ---- Packing ----

typedef struct volume_pack {
    int group;
    ln_conv_algorithm algorithm;
    int plane[4];         // the weights of one depth, [O, C / group, height, width]
    size_t plane_len;     // their number
    int depth_packed_len; // of them, packed
} volume_pack;

static ln_status read_pack(ln_call *call, volume_pack *pack)
{
    static const ln_nhwc_param params[] = {{"group", 0, 1, offsetof(volume_pack, group)},
                                           {NULL, 0, 0, 0}};
    const tl_tensor *weight = ln_call_in(call, 0);
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){5}));
    LN_TRY(ln_nhwc_read(call, params, pack));
    LN_TRY(ln_nhwc_read_algorithm(call, &pack->algorithm));
    const int *d = weight->dims;
    memcpy(pack->plane, (const int[]){d[0], d[1], d[3], d[4]}, sizeof pack->plane);
    pack->plane_len = d[2] > 0 ? (size_t)(weight->len / d[2]) : 0;
    pack->depth_packed_len = ln_conv_packed_len(pack->algorithm, pack->plane, pack->group);
    return ln_nhwc_pass_on(call, pack->depth_packed_len < 0 ? ln_error_status() : LN_OK);
}

ln_status ln_cpu_infer_conv3d_pack(ln_call *call)
{
    volume_pack pack;
    LN_TRY(read_pack(call, &pack));
    int64_t len = (int64_t)pack.depth_packed_len * ln_call_in(call, 0)->dims[2];
    LN_TRY(ln_call_out64(call, 0, TL_FLOAT, 1, &len));
    return ln_cpu_call_infer_workspace(call, 1, pack.plane_len * sizeof(float));
}

static void copy_depth(const tl_tensor *weight, int depth, size_t taps, float *to)
{
    const int *d = weight->dims;
    const float *from = (const float *)weight->data + (size_t)depth * taps;
    for (size_t i = (size_t)d[0] * (size_t)d[1]; i > 0; i--) {
        memcpy(to, from, taps * sizeof *to);
        from += (size_t)d[2] * taps;
        to += taps;
    }
}

ln_status ln_cpu_conv3d_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    volume_pack pack;
    LN_TRY(read_pack(call, &pack));
    float *workspace = ln_cpu_call_workspace(call, 1, pack.plane_len * sizeof(float));
    if (!workspace)
        return ln_error_status();
    float *packed = ln_call_dst(call, 0)->data;
    for (int depth = 0; pack.plane_len > 0 && depth < weight->dims[2]; depth++) {
        copy_depth(weight, depth, (size_t)pack.plane[2] * (size_t)pack.plane[3], workspace);
        ln_conv_nhwc_pack(ln_cpu_call_pool(call), pack.plane, workspace, pack.group, pack.algorithm,
                          packed);
        packed += pack.depth_packed_len;
    }
    return LN_OK;
}

// ---- Convolution ----

typedef struct volume_conv {
    int group, count; // of output channels
    int size[3], stride[3], padding[6], dilation[3];
    const tl_tensor *addend; // of the volume; NULL: none
    ln_conv_nhwc plane;      // of one depth: `src`, `packed` are those below
    tl_tensor src, packed;
    int src_dims[4];
    int out[5];
} volume_conv;

static void set_tensors(ln_call *call, volume_conv *conv)
{
    conv->addend = ln_call_in(call, 3);
    conv->plane.bias = ln_call_in(call, 2);
    conv->src.dims = conv->src_dims;
    conv->plane.src = &conv->src;
    conv->plane.packed = &conv->packed;
}

// One depth of the kernel, on one plane.
static void set_plane(volume_conv *conv, const tl_tensor *src)
{
    ln_conv_nhwc *plane = &conv->plane;
    conv->src.ndim = 4;
    conv->src_dims[0] = 1;
    memcpy(conv->src_dims + 1, src->dims + 2, 3 * sizeof *conv->src_dims);
    conv->packed.len /= conv->size[0];
    plane->group = conv->group;
    plane->count = conv->count;
    for (int i = 0; i < 2; i++) {
        plane->size[i] = conv->size[1 + i];
        plane->stride[i] = conv->stride[1 + i];
        plane->dilation[i] = conv->dilation[1 + i];
        plane->padding[i] = conv->padding[1 + i];
        plane->padding[2 + i] = conv->padding[4 + i];
    }
}

static ln_status infer_volume(volume_conv *conv, const tl_tensor *src, const tl_tensor *packed)
{
    if (packed->len % conv->size[0] != 0)
        return LN_FAIL(LN_INVALID, "%d packed weights cannot be shared by %d depths", packed->len,
                       conv->size[0]);
    LN_TRY(ln_conv_nhwc_infer(&conv->plane));
    memcpy(conv->out + 1, conv->plane.out, sizeof conv->plane.out);
    conv->out[0] = src->dims[0];
    conv->out[1] = ln_output_dim_conv(src->dims[1], conv->size[0], conv->stride[0],
                                      conv->padding[0], conv->padding[3], conv->dilation[0]);
    if (conv->out[1] < 0 || ln_compute_length(5, conv->out) < 0)
        return ln_error_status();
    for (int i = 0; conv->addend && i < 5; i++)
        if (conv->addend->dims[i] != conv->out[i])
            return LN_FAIL(LN_INVALID,
                           "axis %d of the addend has the length %d, and that of the result %d", i,
                           conv->addend->dims[i], conv->out[i]);
    return LN_OK;
}

static ln_status read_volume(ln_call *call, volume_conv *conv)
{
    static const ln_nhwc_param params[] = {
        {"group", 0, 1, offsetof(volume_conv, group)},
        {"channels", 0, 1, offsetof(volume_conv, count)},
        {"size", 3, 1, offsetof(volume_conv, size)},
        {"stride", 3, 1, offsetof(volume_conv, stride)},
        {"padding", 6, 0, offsetof(volume_conv, padding)},
        {"dilation", 3, 1, offsetof(volume_conv, dilation)},
        {NULL, 0, 0, 0},
    };
    const tl_tensor *src = ln_call_in(call, 0), *packed = ln_call_in(call, 1);
    LN_TRY(ln_nhwc_check_ranks(call, 4, (const int[]){5, 1, 1, 5}));
    *conv = (volume_conv){.src = *src, .packed = *packed};
    set_tensors(call, conv);
    LN_TRY(ln_nhwc_read(call, params, conv));
    LN_TRY(ln_nhwc_read_algorithm(call, &conv->plane.algorithm));
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &conv->plane.act));
    set_plane(conv, src);
    return ln_nhwc_pass_on(call, infer_volume(conv, src, packed));
}

ln_status ln_cpu_infer_conv3d_ndhwc(ln_call *call)
{
    volume_conv conv;
    LN_TRY(read_volume(call, &conv));
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, 5, conv.out));
    return ln_cpu_call_infer_workspace(call, 1, ln_conv_nhwc_workspace(&conv.plane));
}

double ln_cpu_macs_conv3d_ndhwc(const ln_call *call)
{
    volume_conv conv;
    if (read_volume(ln_nhwc_checked(call), &conv) != LN_OK)
        return 0;
    return ln_conv_nhwc_macs(&conv.plane) * conv.out[0] * conv.out[1] * conv.size[0];
}

// The depths [first, end) of the kernel that meet a plane of `in`, of output plane `out`.
typedef struct depths {
    int first, end;
} depths;

static depths find_depths(const volume_conv *conv, int in, int out)
{
    long long at = (long long)out * conv->stride[0] - conv->padding[0];
    long long dilation = conv->dilation[0];
    long long first = at < 0 ? (-at + dilation - 1) / dilation : 0;
    long long end = at < in ? (in - 1 - at) / dilation + 1 : 0;
    end = end < conv->size[0] ? end : conv->size[0];
    return (depths){(int)(first < end ? first : end), (int)end};
}

// A plane that no depth reaches: sums of nothing, as a convolution of no channels has them.
static void run_without_input(ln_pool *pool, const ln_conv_nhwc *plane, const tl_tensor *dst)
{
    const int *out = plane->out;
    const tl_tensor nothing = {
        .ndim = 4, .dims = (int[]){1, out[1], out[2], 0}, .data = plane->packed->data};
    ln_conv_nhwc conv = *plane;
    conv.src = &nothing;
    conv.group = 1;
    conv.algorithm = LN_CONV_DIRECT;
    memset(conv.padding, 0, sizeof conv.padding);
    for (int i = 0; i < 2; i++)
        conv.size[i] = conv.stride[i] = conv.dilation[i] = 1;
    ln_conv_nhwc_run(pool, &conv, dst, NULL);
}

// Output plane `at` of all volumes.
static void run_plane(ln_pool *pool, const volume_conv *volume, const tl_tensor *whole_src,
                      const float *all_packed, tl_tensor *whole_dst, int at, void *workspace)
{
    const int *d = whole_src->dims, n = at / volume->out[1], out = at % volume->out[1];
    ln_conv_nhwc conv = volume->plane;
    tl_tensor src = *conv.src, packed = *conv.packed;
    tl_tensor dst = {.dtype = TL_FLOAT, .ndim = 4, .dims = conv.out};
    size_t src_len = (size_t)d[2] * (size_t)d[3] * (size_t)d[4];
    size_t dst_len = (size_t)conv.out[1] * (size_t)conv.out[2] * (size_t)conv.out[3];
    const float *planes = (const float *)whole_src->data + (size_t)n * (size_t)d[1] * src_len;
    dst.data = (float *)whole_dst->data + (size_t)at * dst_len;
    tl_tensor addend = dst;
    if (volume->addend)
        addend.data = (float *)volume->addend->data + (size_t)at * dst_len;
    conv.src = &src;
    conv.packed = &packed;
    conv.addend = volume->addend ? &addend : NULL;

    depths kernel = find_depths(volume, d[1], out);
    if (kernel.first == kernel.end) {
        packed.data = (void *)(uintptr_t)all_packed;
        run_without_input(pool, &conv, &dst);
    }
    for (int depth = kernel.first; depth < kernel.end; depth++) {
        bool is_last = depth + 1 == kernel.end;
        int in = out * volume->stride[0] + depth * volume->dilation[0] - volume->padding[0];
        src.data = (void *)(uintptr_t)(planes + (size_t)in * src_len);
        packed.data = (void *)(uintptr_t)(all_packed + (size_t)depth * (size_t)packed.len);
        conv.bias = is_last ? volume->plane.bias : NULL;
        conv.act.act = is_last ? volume->plane.act.act : LN_ACT_NONE;
        ln_conv_nhwc_run(pool, &conv, &dst, workspace);
        conv.addend = &dst;
    }
}

LN_PREPARE(ln_cpu_prepare_conv3d_ndhwc, volume_conv, read_volume)

ln_status ln_cpu_conv3d_ndhwc(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    volume_conv conv = *(const volume_conv *)ln_call_prepared(call);
    set_tensors(call, &conv);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, 1, ln_conv_nhwc_workspace(&conv.plane));
    if (!workspace)
        return ln_error_status();
    for (int at = 0; at < conv.out[0] * conv.out[1]; at++)
        run_plane(ln_cpu_call_pool(call), &conv, ln_call_in(call, 0), ln_call_in(call, 1)->data,
                  dst, at, workspace);
    return LN_OK;
}
