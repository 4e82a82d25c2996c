// SPDX-License-Identifier: Apache-2.0
// The one spelling of operators of the core that name axes: these are counted from 0, in order, and
// what is the default is not written. So equal operators have equal parameters, whichever list they
// come from.

#include "pass/normal.h"

#include <stdint.h>
#include <string.h>

#include <lightnet/param.h>
#include <lightnet/shape.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "pass/match.h"
#include "pass/op_args.h"

// Parameters that name axes of `src` and may count them from the end.
static const struct {
    const char *optype, *param;
} axes[] = {{"softmax", "axis"},    {"layernorm", "axis"}, {"take", "axis"},  {"topk", "axis"},
            {"dequantize", "axis"}, {"quantize", "axis"},  {"reduce", "axes"}};
#define AXIS_COUNT (sizeof axes / sizeof axes[0])

// The dimensions of `src`; 0: there are none, or they are known at run time only.
static int rank_of_src(const ln_context *ctx, const ln_op_arg *arg)
{
    const char *name = ln_tensor_list_find_name(arg->tensors_in, "src");
    const ln_tensor_entry *entry = name ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
    return entry && !entry->is_open ? entry->tensor->ndim : 0;
}

static int from_start(double axis, int rank)
{
    return (int)(axis < 0 ? axis + rank : axis);
}

// An axis that is the default in other words gets the default's, which goes then.
static ln_status write_axis(const ln_op_arg *arg, ln_param_entry *param, int rank)
{
    ln_param_entry version;
    const ln_param_entry *usual = ln_op_param_default(arg, param->arg_name, &version);
    int axis = from_start(param->value_double, rank);
    bool is_usual = usual && from_start(usual->value_double, rank) == axis;
    return ln_param_set_satu_number(param, is_usual ? usual->value_double : axis);
}

// No axes mean all of them, but for an operator that leaves its input as it is then.
static ln_status write_axes(const ln_op_arg *arg, ln_param_entry *param, int rank)
{
    const ln_param_entry *noop = ln_param_list_find(arg->params, "noop_with_empty_axes");
    bool is_named[LN_MAXDIM] = {false};
    int numbers[LN_MAXDIM], count = 0;
    for (int i = 0; i < param->array_len; i++)
        is_named[from_start(param->value_array_double[i], rank)] = true;
    for (int i = 0; i < rank; i++)
        if (is_named[i])
            numbers[count++] = i;
    if (count == rank && !(noop && noop->value_double != 0))
        count = 0;
    return ln_param_set_satu_array_int(param, count, numbers);
}

bool ln_op_param_is_default(const ln_op_arg *arg, const ln_param_entry *param)
{
    ln_param_entry version;
    const ln_param_entry *usual = ln_op_param_default(arg, param->arg_name, &version);
    return usual && ln_param_entries_equal(usual, param);
}

static void drop_defaults(ln_op_arg *arg)
{
    for (ln_list *l = arg->params, *next; l; l = next) {
        ln_param_entry *param = l->data;
        next = l->next;
        if (ln_op_param_is_default(arg, param)) {
            arg->params = ln_list_remove(arg->params, param);
            ln_param_entry_free(param);
        }
    }
}

// The elements of all axes after the last one are its own.
static void drop_flat(ln_op_arg *arg, int rank)
{
    const ln_param_entry *axis = ln_param_list_find(arg->params, "axis");
    ln_param_entry *flat = ln_param_list_find(arg->params, "flat");
    if (!flat || !axis || rank == 0 || from_start(axis->value_double, rank) != rank - 1)
        return;
    arg->params = ln_list_remove(arg->params, flat);
    ln_param_entry_free(flat);
}

ln_status ln_op_write_normal(const ln_context *ctx, ln_op *op)
{
    ln_op_arg *arg = op->op_arg;
    size_t i = 0;
    while (i < AXIS_COUNT && !ln_streq(arg->optype, axes[i].optype))
        i++;
    if (i == AXIS_COUNT)
        return LN_OK;
    ln_param_entry *param = ln_param_list_find(arg->params, axes[i].param);
    int rank = param ? rank_of_src(ctx, arg) : 0;
    if (rank > 0)
        LN_TRY(param->type == LN_PARAM_NUMBER ? write_axis(arg, param, rank)
                                              : write_axes(arg, param, rank));
    if (ln_streq(arg->optype, "softmax"))
        drop_flat(arg, rank);
    drop_defaults(arg);
    return LN_OK;
}

ln_status ln_ops_write_normal(const ln_context *ctx)
{
    for (const ln_list *l = ctx->ops; l; l = l->next)
        LN_TRY(ln_op_write_normal(ctx, l->data));
    return LN_OK;
}
