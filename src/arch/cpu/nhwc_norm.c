// SPDX-License-Identifier: Apache-2.0
// Group normalization of channels-last images.

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/groupnorm/groupnorm.h"
#include "arch/cpu/nhwc.h"
#include "op/prepare.h"

static ln_status check_rows(ln_call *call)
{
    LN_TRY(ln_nhwc_check_ranks(call, 3, (const int[]){4, 1, 1}));
    int channels = ln_call_in(call, 0)->dims[3];
    for (int i = 1; i < 3; i++)
        if (ln_call_in(call, i)->len != channels)
            return ln_call_fail(call, LN_INVALID, "there are %d numbers for %d channels",
                                ln_call_in(call, i)->len, channels);
    return LN_OK;
}

static size_t workspace_of(const tl_tensor *src)
{
    size_t pixels = (size_t)src->dims[1] * (size_t)src->dims[2];
    return ln_groupnorm_f32_workspace((size_t)src->dims[0], pixels, (size_t)src->dims[3]);
}

ln_status ln_cpu_infer_groupnorm_nhwc(ln_call *call)
{
    static const ln_nhwc_param params[] = {{"groups", 0, 1, 0}, {NULL, 0, 0, 0}};
    const tl_tensor *src = ln_call_in(call, 0);
    ln_act_f32_args act;
    int groups;
    LN_TRY(check_rows(call));
    LN_TRY(ln_nhwc_read(call, params, &groups));
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &act));
    if (src->dims[3] % groups != 0)
        return ln_call_fail(call, LN_INVALID, "%d channels cannot be shared by %d groups",
                            src->dims[3], groups);
    if (!(ln_call_float(call, "epsilon") >= 0))
        return ln_call_fail(call, LN_INVALID, "epsilon is %g, but should be 0 or more",
                            ln_call_float(call, "epsilon"));
    LN_TRY(ln_call_out_like(call, 0, 0));
    return ln_cpu_call_infer_workspace(call, 1, workspace_of(src));
}

static ln_status prepare_groupnorm_nhwc(ln_call *call, ln_groupnorm_f32_args *args)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *args = (ln_groupnorm_f32_args){
        .batch = (size_t)src->dims[0],
        .pixels = (size_t)src->dims[1] * (size_t)src->dims[2],
        .channels = (size_t)src->dims[3],
        .groups = (size_t)ln_call_int(call, "groups"),
        .epsilon = (float)ln_call_float(call, "epsilon"),
    };
    return ln_nhwc_read_act(call, "act", "alpha", "beta", &args->act);
}

LN_PREPARE(ln_cpu_prepare_groupnorm_nhwc, ln_groupnorm_f32_args, prepare_groupnorm_nhwc)

ln_status ln_cpu_groupnorm_nhwc(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_groupnorm_f32_args args = *(const ln_groupnorm_f32_args *)ln_call_prepared(call);
    args.x = src->data;
    args.scale = ln_call_in(call, 1)->data;
    args.offset = ln_call_in(call, 2)->data;
    args.y = ln_call_dst(call, 0)->data;
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_of(src));
    if (!workspace)
        return ln_error_status();
    ln_groupnorm_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call), workspace);
    return LN_OK;
}
