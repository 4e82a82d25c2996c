// SPDX-License-Identifier: Apache-2.0
// From orders of which only the first elements count to the kernels' arguments.

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/reduce/arg_max.h"
#include "arch/cpu/kernels/reduce/top_k.h"
#include "op/onnx/reduce.h"
#include "op/onnx/select.h"
#include "op/prepare.h"

typedef struct first_of {
    ln_lines lines;
    size_t k;
    bool is_smallest, has_nan_last;
} first_of;

ln_status ln_cpu_accepts_topk(ln_call *call)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int axis;
    int64_t k;
    bool is_known;
    LN_TRY(ln_top_k_find(call, &axis, &k, &is_known));
    if (data->dtype != TL_FLOAT || !is_known || k < 1 || k > LN_TOP_K_MAX)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for the first 1 to %d of float32 here",
                            LN_TOP_K_MAX);
    if (data->len == 0 || data->dims[axis] > LN_ARG_MAX_LEN)
        return ln_call_fail(call, LN_UNSUPPORTED, "is for 1 to %d elements here", LN_ARG_MAX_LEN);
    return LN_OK;
}

static ln_status prepare_topk(ln_call *call, first_of *f)
{
    const tl_tensor *data = ln_call_in(call, 0);
    int axis;
    int64_t k;
    bool is_known;
    LN_TRY(ln_top_k_find(call, &axis, &k, &is_known));
    *f = (first_of){ln_lines_along(data, axis), (size_t)k, ln_call_int(call, "largest") == 0,
                    ln_call_int(call, "nan_last") != 0};
    return LN_OK;
}

LN_PREPARE(ln_cpu_prepare_topk, first_of, prepare_topk)

// Positions of single elements, in vectors.
static void find_extremes(ln_call *call, const first_of *f)
{
    const float *x = ln_call_in(call, 0)->data;
    int64_t *positions = ln_call_dst(call, 1)->data;
    tl_tensor *values = ln_call_dst(call, 0);
    const ln_arg_max_f32_args args = {.outer = f->lines.outer,
                                      .n = f->lines.count,
                                      .inner = f->lines.inner,
                                      .is_smallest = f->is_smallest,
                                      .x = x,
                                      .positions = positions};
    ln_arg_max_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    for (size_t i = 0; values && i < args.outer * args.inner; i++) {
        size_t from = i / args.inner * args.n * args.inner + i % args.inner;
        ((float *)values->data)[i] = x[from + (size_t)positions[i] * args.inner];
    }
}

ln_status ln_cpu_topk(ln_call *call)
{
    const first_of *f = ln_call_prepared(call);
    tl_tensor *values = ln_call_dst(call, 0), *positions = ln_call_dst(call, 1);
    if (f->k == 1 && positions && (f->is_smallest || !f->has_nan_last)) {
        find_extremes(call, f);
        return LN_OK;
    }
    const ln_top_k_f32_args args = {.outer = f->lines.outer,
                                    .n = f->lines.count,
                                    .inner = f->lines.inner,
                                    .k = f->k,
                                    .is_smallest = f->is_smallest,
                                    .has_nan_last = f->has_nan_last,
                                    .x = ln_call_in(call, 0)->data,
                                    .values = values ? values->data : NULL,
                                    .positions = positions ? positions->data : NULL};
    ln_top_k_f32(&args, ln_cpu_call_pool(call));
    return LN_OK;
}
