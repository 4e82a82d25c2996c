// SPDX-License-Identifier: Apache-2.0
// Parameters become attributes. Our numbers do not tell whole ones from others, ONNX does: by the
// attribute, as its description says, whatever its value is.

#include "serial/onnx/writer.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/call.h>
#include <lightnet/op_info.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "op/call.h"
#include "serial/onnx/dtype.h"

static int since_of(const ln_op *op)
{
    const ln_param_entry *since = ln_param_list_find(op->op_arg->params, "since");
    return since ? since->value_int : 98;
}

// Exponents of pools are floats in version 1 alone, and numbers of any kind here.
static bool is_float(const ln_op *op, const ln_param_info *info)
{
    return !info->is_whole && (strcmp(info->arg_name, "p") != 0 || since_of(op) == 1);
}

// ---- One attribute ----

static void begin(ln_onnx_writer *w, const char *name)
{
    ln_onnx_out_reset(&w->attribute);
    ln_onnx_put_text(&w->attribute, LN_ONNX_attribute_name, name);
}

static void end(ln_onnx_writer *w, int type)
{
    ln_onnx_put_int(&w->attribute, LN_ONNX_attribute_type, type);
    ln_onnx_put_message(&w->node, LN_ONNX_node_attribute, &w->attribute);
}

// The integer that was read as this number; what is beyond stands for as far as possible.
static ln_status to_int(ln_onnx_writer *w, const char *name, double x, int64_t *value)
{
    if (isnan(x) || (isfinite(x) && x != trunc(x)))
        return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                                  "param '%s' is %.9g, and ONNX has only integers there", name, x);
    *value = x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
    return LN_OK;
}

static void put_int(ln_onnx_writer *w, const char *name, int64_t value)
{
    begin(w, name);
    ln_onnx_put_int(&w->attribute, LN_ONNX_attribute_i, value);
    end(w, LN_ATTRIBUTE_INT);
}

static void put_float(ln_onnx_writer *w, const char *name, double value)
{
    begin(w, name);
    ln_onnx_put_float(&w->attribute, LN_ONNX_attribute_f, (float)value);
    end(w, LN_ATTRIBUTE_FLOAT);
}

static void put_string(ln_onnx_writer *w, const char *name, const char *value)
{
    begin(w, name);
    ln_onnx_put_text(&w->attribute, LN_ONNX_attribute_s, value);
    end(w, LN_ATTRIBUTE_STRING);
}

static ln_status write_number(ln_onnx_writer *w, const ln_param_info *info, double x)
{
    const char *name = info->arg_name;
    int64_t value;
    if (is_float(w->op, info)) {
        put_float(w, name, x);
        return LN_OK;
    }
    LN_TRY(to_int(w, name, x, &value));
    put_int(w, name, value);
    return LN_OK;
}

static ln_status write_numbers(ln_onnx_writer *w, const ln_param_info *info,
                               const ln_param_entry *param)
{
    bool has_floats = is_float(w->op, info);
    begin(w, param->arg_name);
    for (int i = 0; i < param->array_len; i++) {
        double x = param->value_array_double[i];
        int64_t value;
        if (has_floats) {
            ln_onnx_put_float(&w->attribute, LN_ONNX_attribute_floats, (float)x);
            continue;
        }
        LN_TRY(to_int(w, param->arg_name, x, &value));
        ln_onnx_put_int(&w->attribute, LN_ONNX_attribute_ints, value);
    }
    end(w, has_floats ? LN_ATTRIBUTE_FLOATS : LN_ATTRIBUTE_INTS);
    return LN_OK;
}

static void write_strings(ln_onnx_writer *w, const ln_param_entry *param)
{
    begin(w, param->arg_name);
    for (int i = 0; i < param->array_len; i++)
        ln_onnx_put_text(&w->attribute, LN_ONNX_attribute_strings, param->value_array_string[i]);
    end(w, LN_ATTRIBUTE_STRINGS);
}

// ---- Strings: texts, graphs, types, element types by name ----

const char *ln_onnx_graph_param(const ln_op *op, const ln_param_entry *param)
{
    static const char *const names[] = {"then_branch", "else_branch", "body", "score_mod",
                                        "prob_mod"};
    if (param->type != LN_PARAM_STRING || !ln_onnx_is_onnx_op(op))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(param->arg_name, names[i]) == 0)
            return param->value_string;
    }
    return NULL;
}

static ln_status write_body(ln_onnx_writer *w, const char *attribute, const char *name)
{
    const ln_onnx_graph_out *graph = ln_hash_find(w->by_name, name);
    if (!graph || !graph->is_done)
        return ln_onnx_write_fail(w, LN_NOT_FOUND, "there is no graph '%s'", name);
    begin(w, attribute);
    ln_onnx_put_message(&w->attribute, LN_ONNX_attribute_g, &graph->message);
    end(w, LN_ATTRIBUTE_GRAPH);
    return LN_OK;
}

static ln_status write_type(ln_onnx_writer *w, const ln_param_entry *param)
{
    ln_onnx_out_reset(&w->type);
    LN_TRY(ln_onnx_put_type_text(&w->type, param->value_string));
    begin(w, param->arg_name);
    ln_onnx_put_message(&w->attribute, LN_ONNX_attribute_tp, &w->type);
    end(w, LN_ATTRIBUTE_TYPE);
    return LN_OK;
}

static ln_status write_string(ln_onnx_writer *w, const ln_param_info *info,
                              const ln_param_entry *param)
{
    const char *graph = ln_onnx_graph_param(w->op, param);
    if (graph)
        return write_body(w, param->arg_name, graph);
    if (strcmp(w->op->op_arg->optype, "Optional") == 0 && strcmp(param->arg_name, "type") == 0)
        return write_type(w, param);
    if (info->ptype == LN_PARAM_NUMBER) {
        tl_dtype dtype = ln_onnx_dtype_from_name(param->value_string);
        if (dtype == TL_DTYPE_INVALID)
            return ln_onnx_write_fail(w, LN_UNSUPPORTED, "param '%s' is a string", param->arg_name);
        put_int(w, param->arg_name, ln_onnx_dtype_to_number(dtype));
        return LN_OK;
    }
    put_string(w, param->arg_name, param->value_string);
    return LN_OK;
}

// ---- All of an operator ----

static ln_status write_param(ln_onnx_writer *w, const ln_param_entry *param)
{
    const ln_param_info *info = ln_op_info_find_param(w->op->op_arg->info, param->arg_name);
    if (!info || strcmp(param->arg_name, "since") == 0)
        return LN_OK;
    switch (param->type) {
    case LN_PARAM_NUMBER: return write_number(w, info, param->value_double);
    case LN_PARAM_BOOL: put_int(w, param->arg_name, param->value_bool != 0); return LN_OK;
    case LN_PARAM_STRING: return write_string(w, info, param);
    case LN_PARAM_ARRAY_STRING: write_strings(w, param); return LN_OK;
    case LN_PARAM_ARRAY_NUMBER:
        if (info->ptype == LN_PARAM_ARRAY_STRING)
            write_strings(w, &(ln_param_entry){.arg_name = param->arg_name});
        else
            return write_numbers(w, info, param);
        return LN_OK;
    default:
        return ln_onnx_write_fail(w, LN_UNSUPPORTED, "param '%s' is of a type that ONNX lacks",
                                  param->arg_name);
    }
}

static ln_status write_tensor(ln_onnx_writer *w, const char *attribute, const char *tensor)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(w->op->op_arg->tensor_table, tensor);
    const ln_op *maker = entry ? ln_op_table_find(w->graph->ctx->op_table, entry->creater) : NULL;
    if (!maker || !ln_onnx_is_constant_op(maker))
        return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                                  "'%s' is an attribute in ONNX, and tensor '%s' no constant",
                                  attribute, tensor);
    LN_TRY(ln_onnx_write_constant(w, maker, NULL));
    begin(w, attribute);
    ln_onnx_put_message(&w->attribute, LN_ONNX_attribute_t, &w->tensor);
    end(w, LN_ATTRIBUTE_TENSOR);
    return LN_OK;
}

ln_status ln_onnx_write_attributes(ln_onnx_writer *w)
{
    const ln_op_arg *arg = w->op->op_arg;
    for (const ln_arg_info *in = arg->info->ins; in && in->arg_name; in++) {
        const char *tensor = in->flags & LN_ARG_ATTRIBUTE
                                 ? ln_tensor_list_find_name(arg->tensors_in, in->arg_name)
                                 : NULL;
        if (tensor)
            LN_TRY(write_tensor(w, in->arg_name, tensor));
    }
    for (const ln_list *l = arg->params; l; l = l->next)
        LN_TRY(write_param(w, l->data));
    return w->node.text.status;
}
