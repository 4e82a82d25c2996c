// SPDX-License-Identifier: Apache-2.0
// A relu that ends at a constant, relu6 for one, is a Clip in ONNX: engines know that node, and few
// take a Relu and a Min for it.

#include <string.h>

#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "ir/context.h"
#include "ir/dfg.h"
#include "serial/onnx/own.h"

static bool is_minimum(const ln_op *op)
{
    if (strcmp(op->op_arg->optype, "elew") != 0)
        return false;
    const ln_param_entry *which = ln_param_list_find(op->op_arg->params, "elew_op");
    return which && which->type == LN_PARAM_STRING && strcmp(which->value_string, "TL_MIN") == 0;
}

// The constant floats of one element, at least 0, that `op` reads as `arg_name`; NULL: another.
static const tl_tensor *find_end(const ln_op *op, const char *arg_name, double *out_end)
{
    const char *name = ln_tensor_list_find_name(op->op_arg->tensors_in, arg_name);
    const ln_tensor_entry *entry =
        name ? ln_tensor_table_find(op->op_arg->tensor_table, name) : NULL;
    if (!entry || !entry->known || entry->is_open || entry->tensor->len != 1 ||
        entry->tensor->dtype != TL_FLOAT)
        return NULL;
    *out_end = (double)*(const float *)entry->known;
    return *out_end >= 0 ? entry->tensor : NULL;
}

// The relu that makes what `op` reads as `arg_name`, for nobody else; NULL: there is none.
static const ln_op *find_relu(const ln_context *ctx, const ln_op *op, const char *arg_name)
{
    const char *name = ln_tensor_list_find_name(op->op_arg->tensors_in, arg_name);
    const ln_op *relu = name ? ln_dfg_maker(ctx->dfg, name) : NULL;
    if (!relu || strcmp(relu->op_arg->optype, "relu") != 0)
        return NULL;
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, name);
    return ln_dfg_next_reader(&readers) && !ln_dfg_next_reader(&readers) ? relu : NULL;
}

bool ln_onnx_find_clip(const ln_context *ctx, const ln_op *op, ln_onnx_clip *out_clip)
{
    static const char *const args[] = {"src1", "src2"};
    for (int i = 0; i < 2 && is_minimum(op); i++) {
        const ln_op *relu = find_relu(ctx, op, args[i]);
        const tl_tensor *end = relu ? find_end(op, args[!i], &out_clip->end) : NULL;
        if (!end)
            continue;
        out_clip->src = ln_tensor_list_find_name(relu->op_arg->tensors_in, "src");
        out_clip->end_name = ln_tensor_list_find_name(op->op_arg->tensors_in, args[!i]);
        const ln_tensor_entry *src = ln_tensor_table_find(op->op_arg->tensor_table, out_clip->src);
        // The constant must not make the result's rank.
        if (src && !src->is_open && src->tensor->dtype == TL_FLOAT &&
            end->ndim <= src->tensor->ndim)
            return true;
    }
    return false;
}

bool ln_onnx_is_in_clip(const ln_context *ctx, const ln_op *op)
{
    if (strcmp(op->op_arg->optype, "relu") != 0)
        return false;
    const char *made = ln_tensor_list_find_name(op->op_arg->tensors_out, "dst");
    ln_dfg_readers readers = ln_dfg_find_readers(ctx->dfg, made);
    const ln_op *reader = ln_dfg_next_reader(&readers);
    ln_onnx_clip clip;
    return reader && ln_onnx_find_clip(ctx, reader, &clip);
}

ln_status ln_onnx_write_clip(ln_onnx_writer *w, const ln_onnx_clip *clip)
{
    char least[LN_MAX_NAME_LEN], end[LN_MAX_NAME_LEN];
    LN_TRY(ln_onnx_add_floats(w, 0, NULL, &(double){0}, least));
    LN_TRY(ln_onnx_add_floats(w, 0, NULL, &clip->end, end));
    ln_onnx_begin(w, "Clip");
    ln_onnx_in(w, clip->src);
    ln_onnx_in(w, least);
    ln_onnx_in(w, end);
    ln_onnx_out_name(w, ln_own_out(w, "dst"));
    ln_onnx_end(w);
    return LN_OK;
}
