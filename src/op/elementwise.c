// SPDX-License-Identifier: Apache-2.0
// Shapes and parameters of the core's element-wise operators.

#include "op/elementwise.h"

#include <string.h>

#include <lightnet/op_support.h>
#include <lightnet/opshape.h>

#include "ir/param_number.h"
#include "op/call.h"
#include "op/functions.h"

// ---- Activations ----

static ln_status find_act(ln_call *call, ln_act *out_act)
{
    const char *name = ln_call_string(call, "act");
    int act = ln_act_from_str(name);
    if (act < 0)
        return ln_op_fail_unknown(call->op_arg, "act", name);
    *out_act = (ln_act)act;
    return LN_OK;
}

ln_status ln_act_read(ln_call *call, ln_act_of *out_act)
{
    LN_TRY(find_act(call, &out_act->act));
    out_act->alpha = ln_param_saturate_float(ln_call_float(call, "alpha"));
    out_act->beta = ln_param_saturate_float(ln_call_float(call, "beta"));
    return LN_OK;
}

ln_status ln_infer_act(ln_call *call)
{
    ln_act act;
    LN_TRY(find_act(call, &act));
    return ln_call_out_like(call, 0, 0);
}

// The channels of the last axis become as many as `scale` has.
ln_status ln_infer_scale_shift(ln_call *call)
{
    const tl_tensor *src = ln_call_in(call, 0);
    const tl_tensor *scale = ln_call_in(call, 1), *offset = ln_call_in(call, 2);
    int dims[TL_MAXDIM];
    ln_act act;
    LN_TRY(find_act(call, &act));
    if (src->ndim < 1)
        return ln_call_fail(call, LN_INVALID, "`src` should have a last axis");
    if (scale->ndim != 1 || offset->ndim != 1 || scale->len != offset->len)
        return ln_call_fail(call, LN_INVALID,
                            "`scale` and `offset` should be of one length and rank 1");
    int64_t first = ln_call_int(call, "src_first"), channels = src->dims[src->ndim - 1];
    if (first < 0 || first > channels - scale->len)
        return ln_call_fail(call, LN_INVALID, "channels %lld and %d after it are not among %lld",
                            (long long)first, scale->len - 1, (long long)channels);
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof *dims);
    dims[src->ndim - 1] = scale->len;
    return ln_call_out(call, 0, src->dtype, src->ndim, dims);
}

// ---- Two operands ----

// The place of `name` among `count` names; -1 if it is none of them.
static int find_name(const char *const *names, int count, const char *name)
{
    int at = count - 1;
    while (at >= 0 && strcmp(names[at], name) != 0)
        at--;
    return at;
}

ln_status ln_elew_op_read(ln_call *call, int *out_op)
{
    static const char *const others[] = {"TL_MEAN", "TL_MOD", "TL_REST", "TL_POWER"};
    const char *name = ln_call_string(call, "elew_op");
    *out_op = tl_elew_op_from_str(name);
    int other = find_name(others, 4, name);
    if (other >= 0)
        *out_op = LN_ELEW_MEAN + other;
    return *out_op < 0 ? ln_op_fail_unknown(call->op_arg, "elew_op", name) : LN_OK;
}

ln_status ln_infer_elew(ln_call *call)
{
    int op, count = ln_call_in_count(call);
    ln_act act;
    LN_TRY(ln_elew_op_read(call, &op));
    LN_TRY(find_act(call, &act));
    bool is_for_any = op == TL_SUM || op == LN_ELEW_MEAN || op == TL_MAX || op == TL_MIN;
    if (count != 2 && !is_for_any)
        return ln_call_fail(call, LN_INVALID, "takes two operands for %s, not %d",
                            ln_call_string(call, "elew_op"), count);
    if (op == LN_ELEW_POWER && !(LN_TYPE(ln_call_in(call, 0)->dtype) & LN_TYPES_FLOAT))
        return ln_call_fail(call, LN_UNSUPPORTED, "takes floating elements for TL_POWER, not %s",
                            tl_dtype_title(ln_call_in(call, 0)->dtype));
    return ln_infer_broadcast(call);
}

int ln_elew_commutes(ln_op_arg *op_arg)
{
    const ln_call *call = op_arg->priv;
    tl_elew_op op = call ? tl_elew_op_from_str(ln_call_string(call, "elew_op")) : TL_SUB;
    return op == TL_SUM || op == TL_MUL;
}

// ---- Functions and comparisons ----

ln_status ln_func_read(ln_call *call, ln_func *out_func)
{
#define FUNC_NAME(constant, name, function) [LN_FUNC_##constant] = #name,
    static const char *const names[] = {LN_FUNC_LIST(FUNC_NAME)};
#undef FUNC_NAME
    const char *name = ln_call_string(call, "func");
    int func = find_name(names, LN_FUNC_COUNT, name);
    if (func < 0)
        return ln_op_fail_unknown(call->op_arg, "func", name);
    *out_func = (ln_func)func;
    return LN_OK;
}

ln_status ln_infer_func(ln_call *call)
{
    ln_func func;
    LN_TRY(ln_func_read(call, &func));
    return ln_call_out_like(call, 0, 0);
}

ln_status ln_compare_read(ln_call *call, int *out_relations)
{
    static const char *const names[] = {"equal",      "not_equal", "less",
                                        "less_equal", "greater",   "greater_equal"};
    static const int relations[] = {LN_IS_EQUAL,   LN_IS_LESS | LN_IS_GREATER | LN_IS_UNORDERED,
                                    LN_IS_LESS,    LN_IS_LESS | LN_IS_EQUAL,
                                    LN_IS_GREATER, LN_IS_GREATER | LN_IS_EQUAL};
    const char *name = ln_call_string(call, "kind");
    int kind = find_name(names, 6, name);
    if (kind < 0)
        return ln_op_fail_unknown(call->op_arg, "kind", name);
    *out_relations = relations[kind];
    return LN_OK;
}

ln_status ln_infer_comparison(ln_call *call)
{
    int relations;
    LN_TRY(ln_compare_read(call, &relations));
    return ln_call_in(call, 1) ? ln_infer_compare(call) : ln_infer_same_bool(call);
}
