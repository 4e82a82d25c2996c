// SPDX-License-Identifier: Apache-2.0
// Convolutions one after the other, band by band: each is checked as conv2d_nhwc, on an image that
// the one before would make.

#include "arch/cpu/separable_nhwc.h"

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/band/band.h"
#include "op/prepare.h"

// ---- Shapes ----

static tl_tensor image_of(ln_conv_nhwc *conv)
{
    return (tl_tensor){.dtype = TL_FLOAT, .ndim = 4, .dims = conv->out};
}

static void set_pointwise(ln_conv_nhwc *conv)
{
    conv->algorithm = LN_CONV_DIRECT;
    conv->group = 1;
    for (int i = 0; i < 2; i++)
        conv->size[i] = conv->stride[i] = conv->dilation[i] = 1;
}

// What each reads but the first is what the one before makes.
static void chain(ln_separable_nhwc *op, const tl_tensor *src)
{
    op->expanded = image_of(&op->expand);
    op->filtered = image_of(&op->depthwise);
    op->expand.src = src;
    op->depthwise.src = op->expand.packed ? &op->expanded : src;
    op->project.src = &op->filtered;
}

ln_status ln_separable_nhwc_infer(ln_separable_nhwc *op, const tl_tensor *src)
{
    ln_conv_nhwc *expand = &op->expand, *depthwise = &op->depthwise, *project = &op->project;
    if (!expand->packed && !project->packed)
        return LN_FAIL(LN_INVALID, "a depthwise convolution alone is not this operator's");
    if (expand->bias && !expand->packed)
        return LN_FAIL(LN_INVALID, "there is expand_bias, but no weights `expand`");
    if (!project->packed != (project->count == 0))
        return LN_FAIL(LN_INVALID, "weights `project` and project_channels come together");
    if ((project->bias || project->addend) && !project->packed)
        return LN_FAIL(LN_INVALID, "there is project_bias or an addend, but no weights `project`");
    set_pointwise(expand);
    set_pointwise(project);
    chain(op, src);
    expand->count = depthwise->group = depthwise->count;
    depthwise->algorithm = LN_CONV_DEPTHWISE;
    if (expand->packed)
        LN_TRY(ln_conv_nhwc_infer(expand));
    LN_TRY(ln_conv_nhwc_infer(depthwise));
    return project->packed ? ln_conv_nhwc_infer(project) : LN_OK;
}

double ln_separable_nhwc_macs(const ln_separable_nhwc *op)
{
    double macs = ln_conv_nhwc_macs(&op->depthwise);
    if (op->expand.packed)
        macs += ln_conv_nhwc_macs(&op->expand);
    return op->project.packed ? macs + ln_conv_nhwc_macs(&op->project) : macs;
}

// ---- The operator ----

static void set_tensors(ln_call *call, ln_separable_nhwc *op)
{
    ln_conv_nhwc *convs[] = {&op->depthwise, &op->expand, &op->project};
    for (int i = 0; i < 3; i++) {
        convs[i]->packed = ln_call_in(call, 1 + 2 * i);
        convs[i]->bias = ln_call_in(call, 2 + 2 * i);
    }
    op->project.addend = ln_call_in(call, 7);
    chain(op, ln_call_in(call, 0));
}

static ln_status read_separable(ln_call *call, ln_separable_nhwc *op)
{
    static const ln_nhwc_param params[] = {
        {"channels", 0, 1, offsetof(ln_separable_nhwc, depthwise.count)},
        {"size", 2, 1, offsetof(ln_separable_nhwc, depthwise.size)},
        {"stride", 2, 1, offsetof(ln_separable_nhwc, depthwise.stride)},
        {"padding", 4, 0, offsetof(ln_separable_nhwc, depthwise.padding)},
        {"dilation", 2, 1, offsetof(ln_separable_nhwc, depthwise.dilation)},
        {"project_channels", 0, 0, offsetof(ln_separable_nhwc, project.count)},
        {"addend_first", 0, 0, offsetof(ln_separable_nhwc, project.addend_first)},
        {NULL, 0, 0, 0},
    };
    static const char *const when_added[] = {"first", "last", NULL};
    int is_last;
    *op = (ln_separable_nhwc){0};
    set_tensors(call, op);
    LN_TRY(ln_nhwc_check_ranks(call, 8, (const int[]){4, 1, 1, 1, 1, 1, 1, 4}));
    LN_TRY(ln_nhwc_read(call, params, op));
    LN_TRY(ln_nhwc_read_word(call, "add", when_added, &is_last));
    op->project.is_addend_last = is_last;
    LN_TRY(ln_nhwc_read_act(call, "act", "alpha", "beta", &op->depthwise.act));
    LN_TRY(ln_nhwc_read_act(call, "expand_act", "expand_alpha", "expand_beta", &op->expand.act));
    LN_TRY(
        ln_nhwc_read_act(call, "project_act", "project_alpha", "project_beta", &op->project.act));
    return ln_nhwc_pass_on(call, ln_separable_nhwc_infer(op, ln_call_in(call, 0)));
}

static size_t workspace_of(const ln_separable_nhwc *op)
{
    const ln_conv_nhwc_f32_args depthwise = ln_conv_nhwc_args(&op->depthwise, NULL);
    return ln_band_nhwc_f32_workspace(&depthwise.shape, op->expand.packed, op->project.packed);
}

ln_status ln_cpu_infer_separable_nhwc(ln_call *call)
{
    ln_separable_nhwc op;
    LN_TRY(read_separable(call, &op));
    LN_TRY(
        ln_call_out(call, 0, TL_FLOAT, 4, op.project.packed ? op.project.out : op.depthwise.out));
    return ln_cpu_call_infer_workspace(call, 1, workspace_of(&op));
}

double ln_cpu_macs_separable_nhwc(const ln_call *call)
{
    ln_separable_nhwc op;
    bool is_read = read_separable(ln_nhwc_checked(call), &op) == LN_OK;
    return is_read ? ln_separable_nhwc_macs(&op) : 0;
}

LN_PREPARE(ln_cpu_prepare_separable_nhwc, ln_separable_nhwc, read_separable)

ln_status ln_cpu_separable_nhwc(ln_call *call)
{
    const tl_tensor *dst = ln_call_dst(call, 0);
    ln_separable_nhwc op = *(const ln_separable_nhwc *)ln_call_prepared(call);
    set_tensors(call, &op);
    if (dst->len == 0)
        return LN_OK;
    float *workspace = ln_cpu_call_workspace(call, 1, workspace_of(&op));
    if (!workspace)
        return ln_error_status();
    ln_conv_nhwc_f32_args expand, project;
    ln_conv_nhwc_f32_args depthwise = ln_conv_nhwc_args(&op.depthwise, dst);
    ln_band_nhwc_f32_args args = {.depthwise = &depthwise};
    if (op.expand.packed) {
        expand = ln_conv_nhwc_args(&op.expand, NULL);
        args.expand = &expand;
    }
    if (op.project.packed) {
        project = ln_conv_nhwc_args(&op.project, dst);
        args.project = &project;
    }
    ln_band_nhwc_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call), workspace);
    return LN_OK;
}
