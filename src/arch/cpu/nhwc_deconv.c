// SPDX-License-Identifier: Apache-2.0
// Channels-last transposed convolution: parameters, shapes, the kernel's arguments.
//
// The taps of an axis that reach the same outputs are every `step` from each other, with
// step = stride / gcd(stride, dilation); such taps of both axes are a phase. Packed weights, n =
// LN_PACK_LANES:
//
//   for each first row, first column of a phase, in ascending order, for each group, for each n
//   output channels of it, for each row of the phase from the last to the first, column likewise,
//   input channel of the group:      | o0 ... o15 |      (zeros after the last channel)
//
// If each output channel is made of the input channel of its number alone, a tap is instead:
//
//   | o0 ... o(O-1) |

#include <limits.h>
#include <string.h>

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/deconv/deconv_nhwc.h"
#include "arch/cpu/nhwc.h"
#include "op/prepare.h"

// ---- Packed weights ----

// Floats of packed weights [C, O / group, height, width]; -1 with a recorded failure.
static int packed_len(const int weight_dims[4], int group)
{
    if (weight_dims[0] % group != 0) {
        ln_fail(LN_INVALID, "%d input channels cannot be shared by %d groups", weight_dims[0],
                group);
        return -1;
    }
    bool is_depthwise = group > 1 && weight_dims[0] == group && weight_dims[1] == 1;
    int64_t panels = ((int64_t)weight_dims[1] + LN_PACK_LANES - 1) / LN_PACK_LANES;
    double outs = is_depthwise ? 1 : (double)(panels * LN_PACK_LANES);
    double len = weight_dims[0] * outs * weight_dims[2] * weight_dims[3];
    if (len <= INT_MAX)
        return (int)len;
    ln_fail(LN_LIMIT, "%.0f packed weights do not fit a tensor", len);
    return -1;
}

typedef struct deconv_pack {
    int group, stride[2], dilation[2];
} deconv_pack;

static ln_status read_pack(ln_call *call, deconv_pack *pack)
{
    static const ln_nhwc_param params[] = {{"group", 0, 1, offsetof(deconv_pack, group)},
                                           {"stride", 2, 1, offsetof(deconv_pack, stride)},
                                           {"dilation", 2, 1, offsetof(deconv_pack, dilation)},
                                           {NULL, 0, 0, 0}};
    return ln_nhwc_read(call, params, pack);
}

ln_status ln_cpu_infer_deconv2d_pack(ln_call *call)
{
    deconv_pack pack;
    LN_TRY(ln_nhwc_check_ranks(call, 1, (const int[]){4}));
    LN_TRY(read_pack(call, &pack));
    int len = packed_len(ln_call_in(call, 0)->dims, pack.group);
    LN_TRY(ln_nhwc_pass_on(call, len < 0 ? ln_error_status() : LN_OK));
    return ln_call_out(call, 0, TL_FLOAT, 1, &len);
}

ln_status ln_cpu_deconv2d_pack(ln_call *call)
{
    const tl_tensor *weight = ln_call_in(call, 0);
    const tl_tensor *dst = ln_call_dst(call, 0);
    deconv_pack pack;
    LN_TRY(read_pack(call, &pack));
    ln_conv_shape shape = {.group = (size_t)pack.group,
                           .in_channels = (size_t)weight->dims[0],
                           .out_channels = (size_t)weight->dims[1] * (size_t)pack.group,
                           .kernel_h = (size_t)weight->dims[2],
                           .kernel_w = (size_t)weight->dims[3],
                           .stride_h = (size_t)pack.stride[0],
                           .stride_w = (size_t)pack.stride[1],
                           .dilation_h = (size_t)pack.dilation[0],
                           .dilation_w = (size_t)pack.dilation[1]};
    if (dst->len > 0)
        ln_deconv_nhwc_f32_pack(&shape, weight->data, dst->data);
    return LN_OK;
}

// ---- Convolution ----

// The size of the result is given, not computed: `out` of what is a convolution else. `padding` is
// what is cut off at the top and the left.
static ln_status infer_deconv(ln_conv_nhwc *deconv)
{
    const tl_tensor *src = deconv->src;
    int in = ln_channels_count(src, &deconv->channels);
    const int weight_dims[4] = {in, deconv->count / deconv->group, deconv->size[0],
                                deconv->size[1]};
    if (deconv->count % deconv->group != 0)
        return LN_FAIL(LN_INVALID, "%d output channels cannot be shared by %d groups",
                       deconv->count, deconv->group);
    int len = packed_len(weight_dims, deconv->group);
    if (len < 0)
        return ln_error_status();
    if (deconv->packed->len != len)
        return LN_FAIL(LN_INVALID, "there are %d packed weights instead of %d", deconv->packed->len,
                       len);
    if (deconv->bias && deconv->bias->len != deconv->count)
        return LN_FAIL(LN_INVALID, "there are %d biases instead of %d", deconv->bias->len,
                       deconv->count);
    for (int i = 0; i < 2; i++)
        if ((int64_t)src->dims[1 + i] * deconv->stride[i] +
                (int64_t)(deconv->size[i] - 1) * deconv->dilation[i] >
            INT_MAX)
            return LN_FAIL(LN_INVALID, "windows of %d elements, %d apart, are too wide",
                           deconv->size[i], deconv->dilation[i]);
    return ln_channels_shape(deconv->out, src, deconv->into, &deconv->channels, deconv->count);
}

static void set_tensors(ln_call *call, ln_conv_nhwc *deconv)
{
    deconv->src = ln_call_in(call, 0);
    deconv->packed = ln_call_in(call, 1);
    deconv->bias = ln_call_in(call, 2);
    deconv->into = ln_call_in(call, 3);
}

static ln_status read_deconv(ln_call *call, ln_conv_nhwc *deconv)
{
    static const ln_nhwc_param params[] = {
        {"group", 0, 1, offsetof(ln_conv_nhwc, group)},
        {"channels", 0, 1, offsetof(ln_conv_nhwc, count)},
        {"size", 2, 1, offsetof(ln_conv_nhwc, size)},
        {"stride", 2, 1, offsetof(ln_conv_nhwc, stride)},
        {"padding", 2, 0, offsetof(ln_conv_nhwc, padding)},
        {"dilation", 2, 1, offsetof(ln_conv_nhwc, dilation)},
        {"out", 2, 1, offsetof(ln_conv_nhwc, out) + sizeof(int)},
        {NULL, 0, 0, 0},
    };
    *deconv = (ln_conv_nhwc){0};
    set_tensors(call, deconv);
    LN_TRY(ln_nhwc_check_ranks(call, 4, (const int[]){4, 1, 1, 4}));
    LN_TRY(ln_nhwc_read(call, params, deconv));
    LN_TRY(ln_channels_read(call, &deconv->channels));
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &deconv->act));
    return ln_nhwc_pass_on(call, infer_deconv(deconv));
}

static size_t workspace_of(const ln_conv_nhwc *deconv)
{
    const ln_conv_nhwc_f32_args args = ln_conv_nhwc_args(deconv, NULL);
    return ln_deconv_nhwc_f32_workspace(&args.shape);
}

ln_status ln_cpu_infer_deconv2d_nhwc(ln_call *call)
{
    ln_conv_nhwc deconv;
    LN_TRY(read_deconv(call, &deconv));
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, 4, deconv.out));
    return ln_cpu_call_infer_workspace(call, 1, workspace_of(&deconv));
}

double ln_cpu_macs_deconv2d_nhwc(const ln_call *call)
{
    ln_conv_nhwc deconv;
    if (read_deconv(ln_nhwc_checked(call), &deconv) != LN_OK)
        return 0;
    memcpy(deconv.out, deconv.src->dims, 3 * sizeof *deconv.out); // each input meets all taps
    return ln_conv_nhwc_macs(&deconv);
}

LN_PREPARE(ln_cpu_prepare_deconv2d_nhwc, ln_conv_nhwc, read_deconv)

ln_status ln_cpu_deconv2d_nhwc(ln_call *call)
{
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_conv_nhwc deconv = *(const ln_conv_nhwc *)ln_call_prepared(call);
    set_tensors(call, &deconv);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_of(&deconv));
    if (!workspace)
        return ln_error_status();
    ln_nhwc_start(deconv.into, dst);
    const ln_conv_nhwc_f32_args args = ln_conv_nhwc_args(&deconv, dst);
    ln_deconv_nhwc_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call), workspace);
    return LN_OK;
}
