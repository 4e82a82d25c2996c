// SPDX-License-Identifier: Apache-2.0
// A convolution and a pooling after it, band by band: each is checked as its own operator, the
// pooling on the image that the convolution would make.

#include "arch/cpu/pooled_nhwc.h"

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/band/pooled.h"
#include "op/functions.h"
#include "op/prepare.h"

static void set_between(ln_pooled_nhwc *op)
{
    op->between = (tl_tensor){.dtype = TL_FLOAT, .ndim = 4, .dims = op->conv.out};
    op->pooling.src = &op->between;
}

ln_status ln_pooled_nhwc_infer(ln_pooled_nhwc *op)
{
    ln_conv_algorithm algorithm = op->conv.algorithm;
    if (algorithm != LN_CONV_DIRECT && ln_conv_winograd_tile(algorithm) == 0)
        return LN_FAIL(LN_INVALID, "the algorithm is %s, but should be direct or one of Winograd's",
                       ln_conv_algorithm_name(algorithm));
    op->conv.group = 1;
    for (int i = 0; i < 2; i++)
        op->conv.dilation[i] = op->pooling.dilation[i] = 1;
    set_between(op);
    LN_TRY(ln_conv_nhwc_infer(&op->conv));
    return ln_pool_nhwc_infer(&op->pooling);
}

static void set_tensors(ln_call *call, ln_pooled_nhwc *op)
{
    op->conv.src = ln_call_in(call, 0);
    op->conv.packed = ln_call_in(call, 1);
    op->conv.bias = ln_call_in(call, 2);
    set_between(op);
}

static ln_status read_pooled(ln_call *call, ln_pooled_nhwc *op)
{
    static const ln_nhwc_param params[] = {
        {"channels", 0, 1, offsetof(ln_pooled_nhwc, conv.count)},
        {"size", 2, 1, offsetof(ln_pooled_nhwc, conv.size)},
        {"stride", 2, 1, offsetof(ln_pooled_nhwc, conv.stride)},
        {"padding", 4, 0, offsetof(ln_pooled_nhwc, conv.padding)},
        {"pool_size", 2, 1, offsetof(ln_pooled_nhwc, pooling.size)},
        {"pool_stride", 2, 1, offsetof(ln_pooled_nhwc, pooling.stride)},
        {"pool_padding", 4, 0, offsetof(ln_pooled_nhwc, pooling.padding)},
        {NULL, 0, 0, 0},
    };
    *op = (ln_pooled_nhwc){.pooling = {.kind = LN_POOL_MAX}};
    set_tensors(call, op);
    LN_TRY(ln_nhwc_check_ranks(call, 3, (const int[]){4, 1, 1}));
    LN_TRY(ln_nhwc_read(call, params, op));
    LN_TRY(ln_nhwc_read_algorithm(call, &op->conv.algorithm));
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &op->conv.act));
    return ln_nhwc_pass_on(call, ln_pooled_nhwc_infer(op));
}

static size_t workspace_of(const ln_pooled_nhwc *op)
{
    const ln_conv_nhwc_f32_args conv = ln_conv_nhwc_args(&op->conv, NULL);
    const ln_pool_nhwc_f32_args pooling = ln_pool_nhwc_args(&op->pooling, NULL);
    size_t winograd = (size_t)ln_conv_winograd_tile(op->conv.algorithm);
    return ln_pooled_nhwc_f32_workspace(winograd, &conv.shape, &pooling.rows);
}

ln_status ln_cpu_infer_pooled_nhwc(ln_call *call)
{
    ln_pooled_nhwc op;
    LN_TRY(read_pooled(call, &op));
    LN_TRY(ln_call_out(call, 0, TL_FLOAT, 4, op.pooling.out));
    return ln_cpu_call_infer_workspace(call, 1, workspace_of(&op));
}

double ln_cpu_macs_pooled_nhwc(const ln_call *call)
{
    ln_pooled_nhwc op;
    bool is_read = read_pooled(ln_nhwc_checked(call), &op) == LN_OK;
    return is_read ? ln_conv_nhwc_macs(&op.conv) : 0;
}

double ln_cpu_cost_pooled_nhwc(const ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    double taps = ln_call_float_at(call, "pool_size", 0) * ln_call_float_at(call, "pool_size", 1);
    return ln_cost_steps(call) + (dst ? dst->len * taps : 0);
}

LN_PREPARE(ln_cpu_prepare_pooled_nhwc, ln_pooled_nhwc, read_pooled)

ln_status ln_cpu_pooled_nhwc(ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    ln_pooled_nhwc op = *(const ln_pooled_nhwc *)ln_call_prepared(call);
    set_tensors(call, &op);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_of(&op));
    if (!workspace)
        return ln_error_status();
    const ln_conv_nhwc_f32_args conv = ln_conv_nhwc_args(&op.conv, NULL);
    const ln_pool_nhwc_f32_args pooling = ln_pool_nhwc_args(&op.pooling, dst);
    const ln_pooled_nhwc_f32_args args = {.winograd =
                                              (size_t)ln_conv_winograd_tile(op.conv.algorithm),
                                          .conv = &conv,
                                          .pool = &pooling};
    ln_pooled_nhwc_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call), workspace);
    return LN_OK;
}
