// SPDX-License-Identifier: Apache-2.0
// From normalizations and softmax to the kernels' arguments.

#include "arch/cpu/call.h"
#include "arch/cpu/elementwise.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/softmax/softmax.h"
#include "op/onnx/reduce.h"
#include "op/prepare.h"

// ---- Batches ----

ln_status ln_cpu_accepts_batchnorm(ln_call *call)
{
    LN_TRY(ln_cpu_accepts_floats(call));
    if (ln_call_in(call, 0)->ndim < 2)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for channels here");
    return LN_OK;
}

static ln_status prepare_batchnorm(ln_call *call, ln_batchnorm_f32_args *args)
{
    const tl_tensor *src = ln_call_in(call, 0);
    *args = (ln_batchnorm_f32_args){.batch = (size_t)src->dims[0],
                                    .channels = (size_t)src->dims[1],
                                    .inner = ln_lines_along(src, 1).inner,
                                    .epsilon = (float)ln_call_float(call, "epsilon")};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_batchnorm, ln_batchnorm_f32_args, prepare_batchnorm)

ln_status ln_cpu_batchnorm(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    ln_batchnorm_f32_args args = *(const ln_batchnorm_f32_args *)ln_call_prepared(call);
    args.x = src->data;
    args.scale = ln_call_in(call, 1)->data;
    args.offset = ln_call_in(call, 2)->data;
    args.mean = ln_call_in(call, 3)->data;
    args.var = ln_call_in(call, 4)->data;
    args.y = ln_call_dst(call, 0)->data;
    if (src->len > 0)
        ln_batchnorm_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- Layers ----

static bool has_line_length(const tl_tensor *t, int64_t length)
{
    return !t || (t->ndim > 0 && t->len == length && t->dims[t->ndim - 1] == length);
}

ln_status ln_cpu_accepts_layer(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    int axis;
    LN_TRY(ln_cpu_accepts_floats(call));
    LN_TRY(ln_call_axis(call, "axis", src->ndim, &axis));
    if (axis != src->ndim - 1 || !has_line_length(ln_call_in(call, 1), src->dims[axis]) ||
        !has_line_length(ln_call_in(call, 2), src->dims[axis]))
        return ln_call_fail(call, LN_UNSUPPORTED, "is for the last axis alone here");
    return LN_OK;
}

typedef struct normalization {
    float epsilon;
    ln_bool is_centered;
} normalization;

static ln_status prepare_layer(ln_call *call, normalization *n)
{
    n->epsilon = (float)ln_call_float(call, "epsilon");
    n->is_centered = ln_call_int(call, "centered") ? LN_TRUE : LN_FALSE;
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_layer, normalization, prepare_layer)

ln_status ln_cpu_layer(ln_call *call)
{
    const normalization *n = ln_call_prepared(call);
    return ln_cpu_layernorm(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1),
                            ln_call_in(call, 2), ln_call_dst(call, 0), n->epsilon, n->is_centered);
}

// ---- Softmax ----

typedef struct softmax {
    ln_lines lines;
    bool is_log;
} softmax;

static ln_status prepare_softmax(ln_call *call, softmax *s)
{
    s->is_log = ln_call_int(call, "log") != 0;
    return ln_softmax_lines(call, &s->lines);
}

LN_PREPARE(ln_cpu_prepare_softmax, softmax, prepare_softmax)

ln_status ln_cpu_softmax(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const softmax *s = ln_call_prepared(call);
    ln_softmax_f32_args args = {.outer = s->lines.outer,
                                .n = s->lines.count,
                                .inner = s->lines.inner,
                                .is_log = s->is_log,
                                .x = src->data,
                                .y = ln_call_dst(call, 0)->data};
    if (src->len > 0)
        ln_softmax_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}
