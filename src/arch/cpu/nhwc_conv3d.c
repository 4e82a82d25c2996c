// SPDX-License-Identifier: Apache-2.0
// From planes of volumes to the arguments of convolutions of images.

#include "arch/cpu/nhwc_conv3d.h"

#include <string.h>

#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/direct/direct.h"
#include "arch/cpu/nhwc.h"
#include "op/nhwc_conv3d.h"

// ---- Packing ----

// The weights of one depth, [O, C / group, height, width].
static void copy_depth(const tl_tensor *weight, int depth, float *to)
{
    const int *d = weight->dims;
    size_t plane = (size_t)d[3] * (size_t)d[4];
    const float *from = (const float *)weight->data + (size_t)depth * plane;
    for (size_t i = (size_t)d[0] * (size_t)d[1]; i > 0; i--) {
        memcpy(to, from, plane * sizeof *to);
        from += (size_t)d[2] * plane;
        to += plane;
    }
}

ln_status ln_cpu_conv3d_pack(ln_pool *pool, const tl_tensor *weight, tl_tensor *dst,
                             tl_tensor *workspace, int group, ln_conv_algorithm algorithm)
{
    const int *d = weight->dims;
    if (dst->len == 0)
        return LN_OK;
    tl_tensor plane = *weight, packed = *dst;
    plane.ndim = 4;
    plane.dims = (int[]){d[0], d[1], d[3], d[4]};
    plane.len = weight->len / d[2];
    plane.data = workspace->data;
    packed.len = dst->len / d[2];
    for (int depth = 0; depth < d[2]; depth++) {
        copy_depth(weight, depth, workspace->data);
        packed.data = (float *)dst->data + (size_t)depth * (size_t)packed.len;
        LN_TRY(ln_cpu_conv2d_pack(pool, &plane, &packed, group, algorithm));
    }
    return LN_OK;
}

// ---- Convolution ----

// A plane as an image.
static tl_tensor plane_of(const tl_tensor *t, int dims[4])
{
    tl_tensor plane = *t;
    dims[0] = 1;
    memcpy(dims + 1, t->dims + 2, 3 * sizeof *dims);
    plane.ndim = 4;
    plane.dims = dims;
    return plane;
}

int ln_cpu_conv3d_ndhwc_workspace(int *dims, const tl_tensor *src, int group, int channels,
                                  const int size[3], const int stride[3], const int padding[6],
                                  const int dilation[3], int algorithm)
{
    int plane_dims[4];
    tl_tensor plane = plane_of(src, plane_dims);
    const int plane_padding[] = {padding[1], padding[2], padding[4], padding[5]};
    return ln_cpu_conv2d_nhwc_workspace(dims, &plane, group, channels, size + 1, stride + 1,
                                        plane_padding, dilation + 1, algorithm, 0);
}

// The depths [first, end) of the kernel that meet a plane of the input, of output plane `out`.
typedef struct depths {
    int first, end;
} depths;

static depths find_depths(const ln_cpu_conv3d *conv, int out)
{
    long long place = (long long)out * conv->stride[0] - conv->padding[0];
    long long dilation = conv->dilation[0], in = conv->src->dims[1];
    long long first = place < 0 ? (-place + dilation - 1) / dilation : 0;
    long long end = place < in ? (in - 1 - place) / dilation + 1 : 0;
    end = end < conv->size[0] ? end : conv->size[0];
    return (depths){(int)(first < end ? first : end), (int)end};
}

// A plane that no depth reaches: sums of nothing.
static void run_without_input(ln_pool *pool, const ln_cpu_conv3d *conv, const tl_tensor *addend,
                              float *y)
{
    const int *out = conv->dst->dims;
    ln_conv_nhwc_f32_args args = {
        .shape = {.batch = 1,
                  .group = 1,
                  .out_channels = (size_t)conv->channels,
                  .in_h = (size_t)out[2],
                  .in_w = (size_t)out[3],
                  .out_h = (size_t)out[2],
                  .out_w = (size_t)out[3],
                  .kernel_h = 1,
                  .kernel_w = 1,
                  .stride_h = 1,
                  .stride_w = 1,
                  .dilation_h = 1,
                  .dilation_w = 1},
        .x = conv->packed->data,
        .packed = conv->packed->data,
        .y = y,
        .y_stride = (size_t)conv->channels,
        .epilogue = {.bias = conv->bias ? conv->bias->data : NULL,
                     .addend = addend ? addend->data : NULL,
                     .addend_stride = (size_t)conv->channels,
                     .act = conv->act,
                     .alpha = conv->alpha,
                     .beta = conv->beta},
    };
    ln_direct_f32(ln_cpu_isa_get(), &args, pool);
}

// Output plane `out` of volume `n`.
static void run_plane(ln_pool *pool, const ln_cpu_conv3d *conv, int n, int out)
{
    int src_dims[4], dst_dims[4];
    tl_tensor src = plane_of(conv->src, src_dims), dst = plane_of(conv->dst, dst_dims);
    tl_tensor packed = *conv->packed;
    const int padding[] = {conv->padding[1], conv->padding[2], conv->padding[4], conv->padding[5]};

    size_t src_len = (size_t)src_dims[1] * (size_t)src_dims[2] * (size_t)src_dims[3];
    size_t dst_len = (size_t)dst_dims[1] * (size_t)dst_dims[2] * (size_t)dst_dims[3];
    const float *volume = (const float *)conv->src->data;
    volume += (size_t)n * (size_t)conv->src->dims[1] * src_len;
    dst.len = (int)dst_len;
    size_t at = ((size_t)n * (size_t)conv->dst->dims[1] + (size_t)out) * dst_len;
    dst.data = (float *)conv->dst->data + at;
    tl_tensor addend = dst;
    if (conv->addend)
        addend.data = (float *)conv->addend->data + at;
    const tl_tensor *first_addend = conv->addend ? &addend : NULL;
    packed.len /= conv->size[0];

    depths kernel = find_depths(conv, out);
    if (kernel.first == kernel.end)
        run_without_input(pool, conv, first_addend, dst.data);
    for (int depth = kernel.first; depth < kernel.end; depth++) {
        bool is_last = depth + 1 == kernel.end;
        size_t in = (size_t)(out * conv->stride[0] + depth * conv->dilation[0] - conv->padding[0]);
        src.data = (void *)(uintptr_t)(volume + in * src_len);
        packed.data = (float *)conv->packed->data + (size_t)depth * (size_t)packed.len;
        (void)ln_cpu_conv2d_nhwc(pool, &(ln_cpu_conv_nhwc){
                                           .src = &src,
                                           .packed = &packed,
                                           .bias = is_last ? conv->bias : NULL,
                                           .addend = depth > kernel.first ? &dst : first_addend,
                                           .dst = &dst,
                                           .workspace = conv->workspace,
                                           .group = conv->group,
                                           .channels = conv->channels,
                                           .size = conv->size + 1,
                                           .stride = conv->stride + 1,
                                           .padding = padding,
                                           .dilation = conv->dilation + 1,
                                           .algorithm = conv->algorithm,
                                           .act = is_last ? conv->act : LN_ACT_NONE,
                                           .alpha = conv->alpha,
                                           .beta = conv->beta,
                                       });
    }
}

void ln_cpu_conv3d_ndhwc(ln_pool *pool, const ln_cpu_conv3d *conv)
{
    if (conv->dst->len == 0)
        return;
    for (int n = 0; n < conv->dst->dims[0]; n++)
        for (int out = 0; out < conv->dst->dims[1]; out++)
            run_plane(pool, conv, n, out);
}
