// SPDX-License-Identifier: Apache-2.0
// A graph: what it is given, its constants and operators in their order, and what it gives.

#include "serial/onnx/writer.h"

#include <string.h>

#include <lightnet/model_info.h>
#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "ir/fill.h"

// ---- What is given ----

static int is_captured(const ln_op *op)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "capture");
    return param && param->value_bool;
}

static const char *first_out(const ln_op *op)
{
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    return out->name;
}

static int is_true(const ln_op *op, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, name);
    return param && param->value_bool;
}

// The type as the operator `input` or `output` states it.
static ln_status put_declared_type(ln_onnx_writer *w, const ln_op *op)
{
    const ln_list *params = op->op_arg->params;
    const ln_param_entry *type = ln_param_list_find(params, "type");
    if (type && type->type == LN_PARAM_STRING)
        return ln_onnx_put_type_text(&w->type, type->value_string);
    const ln_param_entry *dtype = ln_param_list_find(params, "dtype");
    tl_dtype known = dtype && dtype->type == LN_PARAM_STRING
                         ? tl_dtype_from_str(dtype->value_string)
                         : TL_DTYPE_INVALID;
    if (known == TL_DTYPE_INVALID || known == TL_OBJECT)
        return LN_OK;
    const ln_param_entry *dims = ln_param_list_find(params, "dims");
    const ln_param_entry *names = ln_param_list_find(params, "names");
    int has_shape = dims && !is_true(op, "open");
    int has_names = names && names->type == LN_PARAM_ARRAY_STRING && dims &&
                    names->array_len == dims->array_len;
    return ln_onnx_put_tensor_type(&w->type, known, has_shape, has_shape ? dims->array_len : 0,
                                   has_shape ? dims->value_array_int : NULL,
                                   has_names ? (const char *const *)names->value_array_string
                                             : NULL);
}

static ln_status put_known_type(ln_onnx_writer *w, const ln_tensor_entry *entry)
{
    const tl_tensor *t = entry->tensor;
    if (entry->is_open || t->dtype == TL_OBJECT)
        return LN_OK; // it shows in a run
    return ln_onnx_put_tensor_type(&w->type, t->dtype, 1, t->ndim, t->dims, NULL);
}

// Appends what is in w->type, if something is, with its name.
static void put_value_info(ln_onnx_writer *w, uint32_t field, const char *name)
{
    ln_onnx_out_reset(&w->node);
    ln_onnx_put_text(&w->node, LN_ONNX_value_info_name, name);
    if (w->type.text.len > 0)
        ln_onnx_put_message(&w->node, LN_ONNX_value_info_type, &w->type);
    ln_onnx_put_message(&w->graph->message, field, &w->node);
}

// A first value that is drawn at random has no form there.
static bool has_first_value(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, first_out(op));
    const ln_param_entry *ran = ln_param_list_find(op->op_arg->params, "ran");
    bool is_random = ran && ran->value_array_double[0] != ran->value_array_double[1];
    bool is_stated = (ran && !is_random) || ln_param_list_find(op->op_arg->params, "data");
    return !ctx->outer && entry && !entry->is_open &&
           ((is_stated && !is_random) || ln_find_first_attached(ctx, op));
}

// An input of the graph that is an initializer too has that value where none is given.
static ln_status write_first_value(ln_onnx_writer *w)
{
    if (!has_first_value(w->graph->ctx, w->op))
        return LN_OK;
    LN_TRY(ln_onnx_write_constant(w, w->op, first_out(w->op)));
    ln_onnx_put_message(&w->graph->message, LN_ONNX_graph_initializer, &w->tensor);
    return LN_OK;
}

static ln_status write_input(ln_onnx_writer *w)
{
    const ln_context *ctx = w->graph->ctx;
    ln_onnx_out_reset(&w->type);
    if (strcmp(w->op->op_arg->optype, "input") == 0)
        LN_TRY(put_declared_type(w, w->op));
    else
        LN_TRY(put_known_type(w, ln_tensor_table_find(ctx->tensor_table, first_out(w->op))));
    put_value_info(w, LN_ONNX_graph_input, first_out(w->op));
    return write_first_value(w);
}

// `op` is the `output` that names it; NULL if none does.
static ln_status write_output(ln_onnx_writer *w, const ln_op *op, const ln_tensor_entry *entry)
{
    ln_onnx_out_reset(&w->type);
    LN_TRY(op && entry->is_open ? put_declared_type(w, op) : put_known_type(w, entry));
    // ONNX wants the type of an output of the model; outputs of bodies may be without one.
    if (w->type.text.len == 0 && w->graph->ctx == w->root)
        return LN_FAIL(
            LN_UNSUPPORTED,
            "output '%s': its type is known at run time only, and ONNX needs one; state it in "
            "the model, as output(src=%s | | dtype=TL_INT64, dims=[-1]) does",
            entry->name, entry->name);
    put_value_info(w, LN_ONNX_graph_output, entry->name);
    return LN_OK;
}

// In their order; one walk where operators say them, so that many cost no more than their number.
static ln_status each_output(ln_onnx_writer *w,
                             ln_status (*visit)(ln_onnx_writer *w, const ln_op *op,
                                                const ln_tensor_entry *entry))
{
    const ln_context *ctx = w->graph->ctx;
    const ln_tensor_entry *entry;
    for (size_t i = 0; !ctx->has_output && (entry = ln_context_output(ctx, i)); i++)
        LN_TRY(visit(w, NULL, entry));
    for (const ln_list *l = ctx->has_output ? ctx->ops : NULL; l; l = l->next) {
        const ln_op *op = l->data;
        if (!ln_op_is_type(op->op_arg, "output"))
            continue;
        const ln_tensor_list_entry *src = op->op_arg->tensors_in->data;
        LN_TRY(visit(w, op, ln_tensor_table_find(ctx->tensor_table, src->name)));
    }
    return LN_OK;
}

// ---- Constants ----

static ln_status note(ln_onnx_writer *w, const char *tensor)
{
    if (ln_hash_find(w->read, tensor))
        return LN_OK;
    return ln_hash_insert(w->read, tensor, (void *)(uintptr_t)tensor) >= 0 ? LN_OK
                                                                           : ln_error_status();
}

static ln_status note_output(ln_onnx_writer *w, const ln_op *op, const ln_tensor_entry *entry)
{
    (void)op;
    return note(w, entry->name);
}

static int is_attribute(const ln_op *op, const char *arg_name)
{
    const ln_op_info *info = op->op_arg->info;
    for (const ln_arg_info *in = info ? info->ins : NULL; in && in->arg_name; in++) {
        if (in->flags & LN_ARG_ATTRIBUTE && strcmp(in->arg_name, arg_name) == 0)
            return 1;
    }
    return 0;
}

// A constant that is read as an attribute only is no initializer.
static ln_status note_read(ln_onnx_writer *w)
{
    for (const ln_list *l = w->graph->ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        for (const ln_list *k = op->op_arg->tensors_in; k; k = k->next) {
            const ln_tensor_list_entry *in = k->data;
            if (!is_attribute(op, in->arg_name))
                LN_TRY(note(w, in->name));
        }
    }
    return each_output(w, note_output);
}

// Whether programs may give another value for the constant, as the model says.
static bool is_default(const ln_context *ctx, const char *tname)
{
    const ln_model_info *info = ctx->outer ? NULL : ln_context_info(ctx);
    for (size_t i = 0; info && i < info->default_count; i++)
        if (ln_streq(info->defaults[i], tname))
            return true;
    return false;
}

static ln_status write_initializer(ln_onnx_writer *w)
{
    const ln_context *ctx = w->graph->ctx;
    if (!ln_hash_find(w->read, first_out(w->op)))
        return LN_OK;
    if (is_default(ctx, first_out(w->op))) {
        ln_onnx_out_reset(&w->type);
        LN_TRY(put_known_type(w, ln_tensor_table_find(ctx->tensor_table, first_out(w->op))));
        put_value_info(w, LN_ONNX_graph_input, first_out(w->op));
    }
    LN_TRY(ln_onnx_write_constant(w, w->op, first_out(w->op)));
    ln_onnx_put_message(&w->graph->message, LN_ONNX_graph_initializer, &w->tensor);
    return LN_OK;
}

// ---- The graph ----

static const ln_tensor_entry *find_open(const ln_onnx_writer *w, const ln_list *tensors)
{
    const ln_tensor_list_entry *listed;
    LN_LIST_FOREACH (listed, tensors) {
        const ln_tensor_entry *entry =
            ln_tensor_table_find(w->op->op_arg->tensor_table, listed->name);
        if (entry && entry->is_open)
            return entry;
    }
    return NULL;
}

// Each part of a tensor along its first axis: rules cannot say something for each output.
static ln_status write_scatter(ln_onnx_writer *w)
{
    const ln_tensor_list_entry *src = w->op->op_arg->tensors_in->data, *dst;
    int index = 0;
    char position[LN_MAX_NAME_LEN];
    LN_LIST_FOREACH (dst, w->op->op_arg->tensors_out) {
        LN_TRY(ln_onnx_add_int(w, index++, position));
        ln_onnx_begin(w, "Gather");
        ln_onnx_in(w, src->name);
        ln_onnx_in(w, position);
        ln_onnx_out_name(w, dst->name);
        ln_onnx_end(w);
    }
    return LN_OK;
}

// What no rule has made an operator of ONNX.
static ln_status write_other(ln_onnx_writer *w)
{
    const ln_op_arg *arg = w->op->op_arg;
    if (strcmp(arg->optype, "scatter") == 0 || strcmp(arg->optype, "scatter_nocopy") == 0)
        return write_scatter(w);
    const ln_tensor_entry *open = find_open(w, arg->tensors_in);
    open = open ? open : find_open(w, arg->tensors_out);
    if (open)
        return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                                  "the shape of tensor '%s' is not known, and its form in ONNX "
                                  "depends on that; bind the inputs' shapes",
                                  open->name);
    return ln_onnx_write_fail(w, LN_UNSUPPORTED,
                              "with these parameters it has no form in ONNX; write the model as "
                              "IL or IR");
}

static ln_status write_op(ln_onnx_writer *w)
{
    w->node_count = 0;
    const ln_op *op = w->op;
    const char *optype = op->op_arg->optype;
    if (strcmp(op->op_arg->arch, "none") != 0)
        return ln_onnx_write_fail(w, LN_STATE,
                                  "a model that is compiled cannot be written in ONNX any more: "
                                  "convert the model as it was, or write this one as .json");
    if (strcmp(optype, "output") == 0)
        return LN_OK;
    if (strcmp(optype, "input") == 0)
        return is_captured(op) ? LN_OK : write_input(w);
    if (ln_op_is_input(op->op_arg))
        return write_input(w);
    if (ln_onnx_is_constant_op(op))
        return write_initializer(w);
    return ln_onnx_is_onnx_op(op) ? ln_onnx_write_node(w) : write_other(w);
}

static ln_status write_all(ln_onnx_writer *w)
{
    LN_TRY(note_read(w));
    for (const ln_list *l = w->graph->ctx->ops; l; l = l->next) {
        w->op = l->data;
        LN_TRY(write_op(w));
        LN_TRY(w->graph->message.text.status);
    }
    LN_TRY(each_output(w, write_output));
    ln_onnx_put_text(&w->graph->message, LN_ONNX_graph_name,
                     w->graph->name ? w->graph->name : "model");
    return w->graph->message.text.status;
}

ln_status ln_onnx_write_graph(ln_onnx_writer *w, ln_onnx_graph_out *graph)
{
    w->graph = graph;
    w->read = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!w->read)
        return LN_NO_MEMORY;
    ln_status status = write_all(w);
    ln_hash_free(w->read);
    w->read = NULL;
    graph->is_done = status == LN_OK;
    return status;
}
