// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX as nodes: tensors by their positions, and which operator sets have them so.

#include "serial/onnx/writer.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lightnet/param.h>
#include <lightnet/tensor_entry.h>

#include "serial/onnx/builder.h"

typedef struct domain_row {
    const char *name;
    const char *prefix; // of our operator types
} domain_row;

static const domain_row domains[] = {
#define D(constant, name, prefix, newest) {name, prefix},
#include "desc/onnx_domains.inc"
#undef D
};

ln_status ln_onnx_write_fail(const ln_onnx_writer *w, ln_status status, const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    return LN_FAIL(status, "operator '%.100s' (%.100s): %s", w->op->op_arg->name,
                   w->op->op_arg->optype, message);
}

// ---- Domains and versions ----

int ln_onnx_is_onnx_op(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    return info && info->since && info->since[0] && strcmp(op->op_arg->arch, "none") == 0;
}

ln_onnx_domain ln_onnx_domain_of(const ln_op_info *info)
{
    for (int i = 1; info->domain && i < LN_DOMAIN_COUNT; i++) {
        if (strcmp(info->domain, domains[i].name) == 0)
            return (ln_onnx_domain)i;
    }
    return LN_DOMAIN_ONNX;
}

const char *ln_onnx_domain_name(ln_onnx_domain domain)
{
    return domain == LN_DOMAIN_ONNX ? "" : domains[domain].name;
}

// Types of which every form since a version means the same: it admits more element types, or has
// attributes whose defaults are what was before. Rows by version, for to_onnx.rules and what is
// read along with its results.
static const struct {
    int since;
    const char *optypes; // each between blanks
} lasting[] = {
    {1,
     " Conv ConvTranspose Gather GlobalAveragePool GlobalMaxPool Identity LRN Not Shape Softplus "
     "Softsign Transpose "},
    {2, " GlobalLpPool "},
    {4, " Concat "},
    {6, " Abs Elu Exp HardSigmoid InstanceNormalization LeakyRelu Log Neg Reciprocal Relu Selu "
        "Sigmoid Sqrt Tanh "},
    {7, " Add And Cos Div Mul Or Pow Sin Sub Xor "},
    {8, " Expand Max Mean Min Sum "},
    {9, " BatchNormalization Cast Equal Erf Greater IsNaN Less MatMul PRelu Where "},
    {10, " MaxPool Mod Slice ThresholdedRelu "},
    {11, " ArgMax Clip ConcatFromSequence DepthToSpace Flatten Gemm SequenceConstruct TopK "},
    {12, " GreaterOrEqual LessOrEqual "},
    {13, " LogSoftmax ReduceSum Resize Softmax Split Squeeze Unsqueeze "},
    {14, " HardSwish Reshape "},
    {15, " CastLike "},
    {17, " LayerNormalization "},
    {18,
     " LpPool Mish ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd ReduceSumSquare "},
    {19, " AveragePool Pad "},
    {20, " Gelu "},
    {21, " GroupNormalization "},
    {23, " RMSNormalization "},
};

// Cast and CastLike to 2 and 4 bits have meant what they mean since operator set 24 only.
static bool is_of_few_bits(const ln_op_arg *arg)
{
    const ln_tensor_list_entry *out = arg->tensors_out->data;
    const ln_tensor_entry *entry = ln_tensor_table_find(arg->tensor_table, out->name);
    tl_dtype dtype = entry ? entry->tensor->dtype : TL_FLOAT;
    return (LN_TYPES_SMALL_INT | LN_TYPE(TL_FLOAT4E2M1)) >> dtype & 1;
}

// Resize has had these attributes since operator set 18, and the last form since 19.
static bool is_of_last_form(const ln_op_arg *arg)
{
    const ln_param_entry *place = ln_param_list_find(arg->params, "coordinate_transformation_mode");
    return ln_param_list_find(arg->params, "antialias") ||
           ln_param_list_find(arg->params, "axes") ||
           ln_param_list_find(arg->params, "keep_aspect_ratio_policy") ||
           (place && strcmp(place->value_string, "half_pixel_symmetric") == 0);
}

// INT_MAX: none.
static int lasting_since(const ln_op_arg *arg)
{
    if (strcmp(arg->optype, "Resize") == 0 && is_of_last_form(arg))
        return 19;
    if (strncmp(arg->optype, "Cast", 4) == 0 && is_of_few_bits(arg))
        return 24;
    char word[64];
    snprintf(word, sizeof word, " %.60s ", arg->optype);
    size_t i = 0, count = sizeof lasting / sizeof lasting[0];
    while (i < count && !strstr(lasting[i].optypes, word))
        i++;
    return i < count ? lasting[i].since : INT_MAX;
}

ln_status ln_onnx_versions(const ln_op *op, bool is_lenient, int *out_from, int *out_to)
{
    const ln_op_info *info = op->op_arg->info;
    const ln_param_entry *param = ln_param_list_find(op->op_arg->params, "since");
    const int *since = info->since;
    while (param ? *since != param->value_int && since[1] : since[1] != 0)
        since++;
    if (param && *since != param->value_int)
        return LN_FAIL(LN_UNSUPPORTED, "operator '%s': there is no version %d of %s",
                       op->op_arg->name, param->value_int, op->op_arg->optype);
    *out_from = *since;
    *out_to = since[1] ? since[1] - 1 : INT_MAX;
    int first = lasting_since(op->op_arg);
    if (*out_from >= first && (!param || is_lenient || first == 1)) {
        *out_from = param && first > 1 ? *out_from : first;
        *out_to = INT_MAX;
    }
    return LN_OK;
}

// ---- Nodes ----

void ln_onnx_begin(ln_onnx_writer *w, const char *type)
{
    ln_onnx_out_reset(&w->node);
    ln_onnx_put_text(&w->node, LN_ONNX_node_op_type, type);
}

void ln_onnx_in(ln_onnx_writer *w, const char *tensor)
{
    ln_onnx_put_text(&w->node, LN_ONNX_node_input, tensor);
}

void ln_onnx_out_name(ln_onnx_writer *w, const char *tensor)
{
    ln_onnx_put_text(&w->node, LN_ONNX_node_output, tensor);
}

void ln_onnx_end(ln_onnx_writer *w)
{
    char name[LN_MAX_NAME_LEN];
    if (w->node_count++ == 0)
        snprintf(name, sizeof name, "%s", w->op->op_arg->name);
    else
        snprintf(name, sizeof name, "%.400s/%d", w->op->op_arg->name, w->node_count);
    ln_onnx_put_text(&w->node, LN_ONNX_node_name, name);
    ln_onnx_put_message(&w->graph->message, LN_ONNX_graph_node, &w->node);
}

// ---- Operators of ONNX ----

// The number after `stem` in `name`; 0 if it is another name.
static int number_after(const char *name, const char *stem)
{
    size_t len = strlen(stem);
    if (strncmp(name, stem, len) != 0 || name[len] < '1' || name[len] > '9')
        return 0;
    char *end;
    long number = strtol(name + len, &end, 10);
    return *end || number > LN_ONNX_MAX_ARGS ? 0 : (int)number;
}

// The position of a tensor among those of the node; -1: it is none of them.
static int position_of(const ln_arg_info *infos, const char *arg_name)
{
    int position = 0;
    for (const ln_arg_info *info = infos; info && info->arg_name; info++) {
        if (info->flags & LN_ARG_ATTRIBUTE)
            continue;
        int number = info->flags & LN_ARG_VARIADIC ? number_after(arg_name, info->arg_name) : 0;
        if (number > 0)
            return position + number - 1;
        if (strcmp(arg_name, info->arg_name) == 0)
            return position;
        position++;
    }
    return -1;
}

// What was left out in between is an empty name.
static ln_status write_tensors(ln_onnx_writer *w, uint32_t field, const ln_list *tensors,
                               const ln_arg_info *infos)
{
    const char *names[LN_ONNX_MAX_ARGS] = {NULL};
    int count = 0;
    for (const ln_list *l = tensors; l; l = l->next) {
        const ln_tensor_list_entry *tensor = l->data;
        int position = position_of(infos, tensor->arg_name);
        if (position < 0)
            continue; // an attribute, or what a body reads
        if (position >= LN_ONNX_MAX_ARGS)
            return ln_onnx_write_fail(w, LN_LIMIT, "it has more than %d tensors", LN_ONNX_MAX_ARGS);
        names[position] = tensor->name;
        count = position >= count ? position + 1 : count;
    }
    for (int i = 0; i < count; i++)
        ln_onnx_put_text(&w->node, field, names[i] ? names[i] : "");
    return LN_OK;
}

ln_status ln_onnx_write_node(ln_onnx_writer *w)
{
    const ln_op_arg *arg = w->op->op_arg;
    ln_onnx_domain domain = ln_onnx_domain_of(arg->info);
    size_t prefix_len = strlen(domains[domain].prefix);
    int has_prefix = strncmp(arg->optype, domains[domain].prefix, prefix_len) == 0;
    ln_onnx_begin(w, arg->optype + (has_prefix ? prefix_len : 0));
    if (domain != LN_DOMAIN_ONNX)
        ln_onnx_put_text(&w->node, LN_ONNX_node_domain, domains[domain].name);
    LN_TRY(write_tensors(w, LN_ONNX_node_input, arg->tensors_in, arg->info->ins));
    LN_TRY(write_tensors(w, LN_ONNX_node_output, arg->tensors_out, arg->info->outs));
    LN_TRY(ln_onnx_write_attributes(w));
    ln_onnx_end(w);
    return LN_OK;
}
