// SPDX-License-Identifier: Apache-2.0
// From tensors and parameters to the arguments of the element-wise kernels and those over an axis.

#include "arch/cpu/elementwise.h"

#include "arch/cpu/call.h"
#include "arch/cpu/functions.h"
#include "arch/cpu/isa.h"
#include "arch/cpu/kernels/eltwise/eltwise.h"
#include "arch/cpu/kernels/norm/norm.h"
#include "arch/cpu/kernels/softmax/softmax.h"
#include "op/elementwise.h"
#include "op/prepare.h"

// ---- act, elew, scale_shift, func ----

ln_status ln_cpu_accepts_floats(ln_call *call)
{
    for (int i = 0; i < ln_call_in_count(call); i++) {
        const tl_tensor *in = ln_call_in(call, i);
        if (in && in->dtype != TL_FLOAT)
            return ln_call_fail(call, LN_UNSUPPORTED, "is for float32 here");
    }
    return LN_OK;
}

// What an operator's parameters say.
typedef struct arithmetic {
    int op; // of elew
    ln_act_of of;
    int src_first; // of scale_shift
} arithmetic;

static ln_status read_elew(ln_call *call, arithmetic *a)
{
    LN_TRY(ln_elew_op_read(call, &a->op));
    return ln_act_read(call, &a->of);
}

static bool is_of_two_integers(ln_call *call, int op)
{
    return ln_call_in_count(call) == 2 &&
           (op == TL_SUM || op == TL_SUB || op == TL_MUL || op == TL_MIN || op == TL_MAX);
}

ln_status ln_cpu_accepts_elew(ln_call *call)
{
    tl_dtype dtype = ln_call_in(call, 0)->dtype;
    arithmetic a;
    LN_TRY(read_elew(call, &a));
    int op = a.op;
    bool is_taken = dtype == TL_FLOAT && op != TL_POW && op != LN_ELEW_MOD;
    if (dtype == TL_BOOL && ln_call_in_count(call) == 2)
        is_taken = op == TL_MAX || op == TL_MIN;
    else if (dtype == TL_INT32 || dtype == TL_INT64)
        is_taken = op == LN_ELEW_MOD || op == LN_ELEW_REST || is_of_two_integers(call, op);
    if (!is_taken || (dtype != TL_FLOAT && a.of.act != LN_ACT_NONE))
        return ln_call_fail(call, LN_UNSUPPORTED, "leaves %s of %s to arch ref",
                            ln_call_string(call, "elew_op"), tl_dtype_title(dtype));
    return LN_OK;
}

static ln_status run_act(ln_call *call, const tl_tensor *src, const ln_act_of *of)
{
    return ln_cpu_act(ln_cpu_call_pool(call), src, ln_call_dst(call, 0), of->act, of->alpha,
                      of->beta);
}

LN_PREPARE(ln_cpu_prepare_act, ln_act_of, ln_act_read)

ln_status ln_cpu_compute_act(ln_call *call)
{
    return run_act(call, ln_call_in(call, 0), ln_call_prepared(call));
}

LN_PREPARE(ln_cpu_prepare_elew, arithmetic, read_elew)

ln_status ln_cpu_workspace_elew(ln_call *call)
{
    arithmetic a;
    LN_TRY(read_elew(call, &a));
    return ln_cpu_elew_rows(call, a.op);
}

ln_status ln_cpu_compute_elew(ln_call *call)
{
    const arithmetic *a = ln_call_prepared(call);
    tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->dtype == TL_FLOAT && a->op < TL_ELEW_OP_SIZE && ln_call_in_count(call) == 2)
        return ln_cpu_elew(ln_cpu_call_pool(call), ln_call_in(call, 0), ln_call_in(call, 1), dst,
                           (tl_elew_op)a->op, a->of.act, a->of.alpha, a->of.beta);
    LN_TRY(ln_cpu_elew_rows(call, a->op));
    return a->of.act == LN_ACT_NONE ? LN_OK : run_act(call, dst, &a->of);
}

typedef void function_f32(ln_cpu_isa isa, size_t n, const float *x, float *y, ln_pool *pool);

// NULL where no kernel computes it.
static function_f32 *function_of(ln_func func)
{
    switch (func) {
    case LN_FUNC_LOG: return ln_log_f32;
    case LN_FUNC_SIN: return ln_sin_f32;
    case LN_FUNC_COS: return ln_cos_f32;
    case LN_FUNC_FLOOR: return ln_floor_f32;
    case LN_FUNC_CEIL: return ln_ceil_f32;
    case LN_FUNC_ROUND: return ln_round_f32;
    case LN_FUNC_SIGN: return ln_sign_f32;
    default: return NULL;
    }
}

ln_status ln_cpu_accepts_func(ln_call *call)
{
    ln_func func;
    LN_TRY(ln_func_read(call, &func));
    if (func != LN_FUNC_RECIPROCAL && !function_of(func))
        return ln_call_fail(call, LN_UNSUPPORTED, "leaves %s to arch ref",
                            ln_call_string(call, "func"));
    return ln_cpu_accepts_floats(call);
}

LN_PREPARE(ln_cpu_prepare_func, ln_func, ln_func_read)

ln_status ln_cpu_compute_func(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    tl_tensor *dst = ln_call_dst(call, 0);
    ln_pool *pool = ln_cpu_call_pool(call);
    float one = 1;
    const tl_tensor numerator = {.dtype = TL_FLOAT, .len = 1, .ndim = 0, .data = &one};
    ln_func func = *(const ln_func *)ln_call_prepared(call);
    if (func == LN_FUNC_RECIPROCAL)
        return ln_cpu_elew(pool, &numerator, src, dst, TL_DIV, LN_ACT_NONE, 0, 0);
    function_of(func)(ln_cpu_isa_get(), (size_t)dst->len, src->data, dst->data, pool);
    return LN_OK;
}

static ln_status prepare_scale_shift(ln_call *call, arithmetic *a)
{
    a->src_first = (int)ln_call_int(call, "src_first");
    return ln_act_read(call, &a->of);
}

LN_PREPARE(ln_cpu_prepare_scale_shift, arithmetic, prepare_scale_shift)

ln_status ln_cpu_compute_scale_shift(ln_call *call)
{
    const arithmetic *a = ln_call_prepared(call);
    const tl_tensor *src = ln_call_in(call, 0), *scale = ln_call_in(call, 1);
    const tl_tensor *dst = ln_call_dst(call, 0);
    if (dst->len == 0)
        return LN_OK;
    ln_scale_shift_f32_args args = {
        .rows = (size_t)(dst->len / scale->len),
        .channels = (size_t)scale->len,
        .x = (const float *)src->data + a->src_first,
        .x_row = (size_t)src->dims[src->ndim - 1],
        .scale = scale->data,
        .offset = ln_call_in(call, 2)->data,
        .y = dst->data,
        .act = {.act = a->of.act, .alpha = a->of.alpha, .beta = a->of.beta}};
    ln_scale_shift_f32(ln_cpu_isa_get(), &args, ln_cpu_call_pool(call));
    return LN_OK;
}

// ---- From tensors to kernels ----

static void run_binary(ln_pool *pool, ln_binary op, const tl_tensor *src1, const tl_tensor *src2,
                       tl_tensor *dst, const ln_act_f32_args *act)
{
    ln_binary_f32_args args = {.op = op,
                               .x1_ndim = src1->ndim,
                               .x2_ndim = src2->ndim,
                               .ndim = dst->ndim,
                               .x1_dims = src1->dims,
                               .x2_dims = src2->dims,
                               .dims = dst->dims,
                               .x1 = src1->data,
                               .x2 = src2->data,
                               .y = dst->data,
                               .act = *act};
    ln_binary_f32(ln_cpu_isa_get(), &args, pool);
}

ln_status ln_cpu_elew(ln_pool *pool, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                      tl_elew_op op, ln_act act, float alpha, float beta)
{
    static const struct {
        tl_elew_op op;
        ln_binary binary;
    } table[] = {
        {TL_MUL, LN_BINARY_MUL}, {TL_DIV, LN_BINARY_DIV}, {TL_SUM, LN_BINARY_SUM},
        {TL_SUB, LN_BINARY_SUB}, {TL_MAX, LN_BINARY_MAX}, {TL_MIN, LN_BINARY_MIN},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].op != op)
            continue;
        run_binary(pool, table[i].binary, src1, src2, dst, &(ln_act_f32_args){act, alpha, beta});
        return LN_OK;
    }
    return LN_FAIL(LN_UNSUPPORTED, "element-wise operation %d is not for arch cpu", (int)op);
}

ln_status ln_cpu_compute_prelu(ln_call *call)
{
    run_binary(ln_cpu_call_pool(call), LN_BINARY_PRELU, ln_call_in(call, 0), ln_call_in(call, 1),
               ln_call_dst(call, 0), &(ln_act_f32_args){LN_ACT_NONE, 0, 0});
    return LN_OK;
}

ln_status ln_cpu_act(ln_pool *pool, const tl_tensor *src, tl_tensor *dst, ln_act act, float alpha,
                     float beta)
{
    ln_act_f32_args args = {.act = act, .alpha = alpha, .beta = beta};
    ln_act_f32(ln_cpu_isa_get(), &args, (size_t)dst->len, src->data, dst->data, pool);
    return LN_OK;
}

ln_status ln_cpu_layernorm(ln_pool *pool, const tl_tensor *src, const tl_tensor *scale,
                           const tl_tensor *bias, tl_tensor *dst, float epsilon, ln_bool centered)
{
    if (dst->len == 0)
        return LN_OK;
    ln_layernorm_f32_args args = {.rows = (size_t)(src->len / scale->len),
                                  .n = (size_t)scale->len,
                                  .x = src->data,
                                  .scale = scale->data,
                                  .bias = bias ? bias->data : NULL,
                                  .y = dst->data,
                                  .epsilon = epsilon,
                                  .is_centered = centered};
    ln_layernorm_f32(ln_cpu_isa_get(), &args, pool);
    return LN_OK;
}
