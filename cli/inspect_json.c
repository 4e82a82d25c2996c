// SPDX-License-Identifier: Apache-2.0
// What `inspect` finds, as one object: its keys are the same for all formats.

#include "inspect_json.h"

#include <stdlib.h>
#include <string.h>

#include <lightnet/lightnet.h>

#include "cli.h"
#include "fallback.h"
#include "on_bytes.h"

// ---- Counting ----

ln_status count_types_of(const ln_context *ctx, type_counts *out)
{
    *out = (type_counts){0};
    ln_hash *positions = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    out->items = calloc((size_t)ln_list_length(ctx->ops) + 1, sizeof *out->items);
    ln_status status =
        positions && out->items ? LN_OK : LN_FAIL(LN_NO_MEMORY, "out of memory for types");
    for (const ln_list *l = ctx->ops; l && status == LN_OK; l = l->next) {
        const char *optype = ((const ln_op *)l->data)->op_arg->optype;
        size_t position = (uintptr_t)ln_hash_find(positions, optype);
        if (position == 0) {
            out->items[out->count++].optype = optype;
            position = out->count;
            if (ln_hash_insert(positions, optype, (void *)(uintptr_t)position) < 0)
                status = LN_NO_MEMORY;
        }
        out->items[position - 1].count++;
    }
    ln_hash_free(positions);
    if (status != LN_OK) {
        free(out->items);
        *out = (type_counts){0};
    }
    return status;
}

size_t count_parameters(const ln_context *ctx)
{
    size_t count = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        for (const ln_list *out = arg->tensors_out; out && !arg->tensors_in; out = out->next) {
            const ln_tensor_list_entry *listed = out->data;
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, listed->name);
            if (entry && entry->isstatic)
                count += (size_t)entry->tensor->len;
        }
    }
    const ln_tensor_entry *input;
    for (size_t i = 0; (input = ln_context_input(ctx, i)); i++)
        count -= input->isstatic ? (size_t)input->tensor->len : 0;
    return count;
}

// ---- What the file states ----

// Texts are NULL for null where the file states nothing.
static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static void put_producer(json_out *j, const ln_preflight *report, const ln_model_info *info)
{
    if (report) {
        json_text(j, "producer", or_null(report->producer));
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", info->producer, *info->producer_version ? " " : "",
             info->producer_version);
    json_text(j, "producer", or_null(text));
}

// "a\x2cb" is "a,b"; in place. NULL stays NULL.
static char *unescaped(char *name)
{
    char *to = name;
    for (const char *from = name; from && *from; to++) {
        unsigned byte;
        const bool is_escape = sscanf(from, "\\x%2x", &byte) == 1;
        *to = is_escape ? (char)byte : *from;
        from += is_escape ? strlen("\\x2c") : 1;
    }
    if (to)
        *to = '\0';
    return name;
}

// "x=serve_x:0, y=4", which it writes into: names of a signature, and the tensors that they are,
// which another subgraph than the model has as numbers.
static void put_ends(json_out *j, const char *key, char *ends, bool is_model)
{
    json_open(j, key, '[');
    for (char *end = ends, *next; end && *end; end = next) {
        next = strstr(end, ", ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        char *tensor = strchr(end, '=');
        if (tensor)
            *tensor++ = '\0';
        json_open(j, NULL, '{');
        json_text(j, "name", unescaped(end));
        json_text(j, "tensor", is_model ? unescaped(tensor) : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
}

// "x=serve_x:0 -> y=call:0", of another subgraph "x=0 -> y=7 (subgraph 1)".
static void put_signature(json_out *j, const char *name, char *text)
{
    static const char arrow[] = " -> ", mark[] = " (subgraph ";
    char *outputs = strstr(text, arrow), *subgraph = NULL;
    if (outputs) {
        *outputs = '\0';
        outputs += strlen(arrow);
        subgraph = strstr(outputs, mark);
    }
    if (subgraph)
        *subgraph = '\0';
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    if (subgraph)
        json_int(j, "subgraph", strtoll(subgraph + strlen(mark), NULL, 10));
    else
        json_null(j, "subgraph");
    put_ends(j, "inputs", text, !subgraph);
    put_ends(j, "outputs", outputs, !subgraph);
    json_close(j, '}');
}

static ln_status put_signatures(json_out *j, const ln_model_info *info)
{
    static const char prefix[] = "signature ";
    json_open(j, "signatures", '[');
    for (size_t i = 0; i < info->property_count; i++) {
        const char *key = info->properties[i].key;
        if (strncmp(key, prefix, strlen(prefix)) != 0)
            continue;
        char *text = strdup(info->properties[i].value);
        if (!text)
            return LN_FAIL(LN_NO_MEMORY, "a signature");
        put_signature(j, key + strlen(prefix), text);
        free(text);
    }
    json_close(j, ']');
    return LN_OK;
}

static ln_status put_info(json_out *j, const ln_preflight *report, const ln_context *ctx)
{
    static const ln_model_info none = {"", "", "", "", "", "", 0, NULL, 0, NULL, 0};
    const ln_model_info *info = ctx ? ln_context_info(ctx) : &none;
    json_text(j, "format", report ? report->format : NULL);
    if (report)
        json_int(j, "ir_version", report->ir_version);
    else
        json_null(j, "ir_version");
    put_producer(j, report, info);
    json_open(j, "opsets", '[');
    for (size_t i = 0; report && i < report->opset_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "domain", report->opsets[i].domain);
        json_int(j, "version", report->opsets[i].version);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_text(j, "domain", or_null(info->domain));
    json_int(j, "version", info->version);
    json_text(j, "doc", or_null(info->doc));
    json_text(j, "graph", or_null(info->graph));
    json_text(j, "graph_doc", or_null(info->graph_doc));
    json_open(j, "properties", '[');
    for (size_t i = 0; i < info->property_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "key", info->properties[i].key);
        json_text(j, "value", info->properties[i].value);
        json_close(j, '}');
    }
    json_close(j, ']');
    return put_signatures(j, info);
}

// ---- Inputs and outputs ----

static const char *type_of(const ln_preflight_tensor *tensors, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return tensors[i].type;
    return NULL;
}

// Whether the type, such as "FLOAT[?, 3]", leaves the dimension open.
static bool is_open_in(const char *type, int axis)
{
    const char *at = type ? strchr(type, '[') : NULL;
    for (; at && axis > 0; axis--)
        at = strchr(at + 1, ',');
    return at && at[1 + strspn(at + 1, " ")] == '?';
}

// Dimensions that `open_type` leaves open have no size; NULL: all have the size that they are bound
// to.
static void put_dims(json_out *j, const ln_context *ctx, const char *name, const char *open_type,
                     int rank)
{
    json_open(j, "shape", '[');
    for (int axis = 0; axis < rank; axis++) {
        int64_t dim = ln_context_tensor_dim(ctx, name, axis);
        if (dim < 0 || is_open_in(open_type, axis))
            json_null(j, NULL);
        else
            json_int(j, NULL, dim);
    }
    json_close(j, ']');
    json_open(j, "symbols", '[');
    for (int axis = 0; axis < rank; axis++)
        json_text(j, NULL, ln_context_tensor_symbol(ctx, name, axis));
    json_close(j, ']');
}

// `type` as the file has it; `ctx` NULL: not read.
static void put_tensor(json_out *j, const ln_context *ctx, const char *name, const char *type,
                       bool is_bound)
{
    tl_dtype dtype = ctx ? ln_context_tensor_dtype(ctx, name) : TL_DTYPE_INVALID;
    int rank = ctx ? ln_context_tensor_rank(ctx, name) : -1;
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    json_text(j, "type", type);
    json_text(j, "dtype", dtype == TL_DTYPE_INVALID ? NULL : tl_dtype_title(dtype));
    if (rank >= 0) {
        put_dims(j, ctx, name, is_bound ? NULL : type, rank);
    } else {
        json_null(j, "shape");
        json_null(j, "symbols");
    }
    json_close(j, '}');
}

static void put_tensors(json_out *j, const char *key, const ln_context *ctx,
                        const ln_preflight_tensor *stated, size_t stated_count, int is_input,
                        bool is_bound)
{
    json_open(j, key, '[');
    size_t count = !ctx       ? stated_count
                   : is_input ? ln_context_input_count(ctx)
                              : ln_context_output_count(ctx);
    for (size_t i = 0; i < count; i++) {
        const char *name = !ctx       ? stated[i].name
                           : is_input ? ln_context_input_name(ctx, i)
                                      : ln_context_output_name(ctx, i);
        put_tensor(j, ctx, name, type_of(stated, stated_count, name), is_bound);
    }
    json_close(j, ']');
}

// ---- Operators ----

static void put_type(json_out *j, const char *optype, size_t count, size_t bad_count)
{
    json_open(j, NULL, '{');
    json_text(j, "type", optype);
    json_size(j, "count", count);
    json_size(j, "not_supported", bad_count);
    json_close(j, '}');
}

static ln_status put_types(json_out *j, const ln_preflight *report, const ln_context *ctx)
{
    type_counts counts = {0};
    if (!report)
        LN_TRY(count_types_of(ctx, &counts));
    json_size(j, "operators", report ? report->node_count : (size_t)ln_list_length(ctx->ops));
    json_open(j, "types", '[');
    for (size_t i = 0; report && i < report->type_count; i++)
        put_type(j, report->types[i].optype, report->types[i].count, report->types[i].bad_count);
    for (size_t i = 0; i < counts.count; i++)
        put_type(j, counts.items[i].optype, counts.items[i].count, 0);
    json_close(j, ']');
    free(counts.items);
    json_size(j, "parameters", report ? report->parameter_count : count_parameters(ctx));
    return LN_OK;
}

static void put_problems(json_out *j, const ln_preflight *report)
{
    json_bool(j, "can_run", !report || report->problem_count == 0);
    json_size(j, "not_supported", report ? report->bad_node_count : 0);
    json_open(j, "problems", '[');
    for (size_t i = 0; report && i < report->problem_count; i++) {
        const ln_preflight_problem *p = &report->problems[i];
        json_open(j, NULL, '{');
        json_text(j, "place", or_null(p->place));
        json_text(j, "node", or_null(p->node));
        json_text(j, "type", or_null(p->optype));
        json_text(j, "domain", or_null(p->domain));
        json_int(j, "opset", p->opset);
        json_text(j, "reason", p->reason);
        json_text(j, "help", or_null(p->help));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_size(j, "more_problems", report ? report->more_problem_count : 0);
}

static void put_defaults(json_out *j, const ln_context *ctx)
{
    json_open(j, "defaults", '[');
    for (size_t i = 0; ctx && i < ln_context_info(ctx)->default_count; i++)
        if (ln_tensor_table_find(ctx->tensor_table, ln_context_info(ctx)->defaults[i]))
            put_tensor(j, ctx, ln_context_info(ctx)->defaults[i], NULL, true);
    json_close(j, ']');
}

ln_status inspect_put_contents(json_out *j, const ln_preflight *report, const ln_context *ctx,
                               bool has_shapes)
{
    // TensorFlow Lite has sizes for open dimensions, which hold until others are given.
    bool is_bound = has_shapes || !report || strcmp(report->format, "tflite") != 0;
    LN_TRY(put_info(j, report, ctx));
    put_tensors(j, "inputs", ctx, report ? report->inputs : NULL, report ? report->input_count : 0,
                1, is_bound);
    put_tensors(j, "outputs", ctx, report ? report->outputs : NULL,
                report ? report->output_count : 0, 0, is_bound);
    put_defaults(j, ctx);
    LN_TRY(put_types(j, report, ctx));
    put_problems(j, report);
    return LN_OK;
}

// ---- Costs ----

static void put_memory(json_out *j, const ln_context *ctx, ln_mem_type mtype)
{
    const char *worst = ln_context_range_worst(ctx);
    json_open(j, NULL, '{');
    json_text(j, "memory", ln_mem_type_name(mtype));
    json_size(j, "static", ln_context_static_bytes(ctx, mtype));
    json_size(j, "workspace", ln_context_workspace_bytes(ctx, mtype));
    json_size(j, "peak",
              worst ? ln_context_range_peak_bytes(ctx, mtype) : ln_context_peak_bytes(ctx, mtype));
    json_text(j, "worst", worst);
    json_close(j, '}');
}

void inspect_put_costs(json_out *j, const ln_context *ctx, double macs, size_t refused_count)
{
    ln_unplanned unplanned = ctx ? ln_context_unplanned(ctx) : (ln_unplanned){0};
    json_text(j, "target", ctx ? ln_context_target(ctx) : NULL);
    if (ctx)
        json_number(j, "macs", macs);
    else
        json_null(j, "macs");
    json_open(j, "memory", '[');
    for (int m = 1; ctx && m < LN_MEM_TYPE_SIZE; m++)
        if (ln_context_peak_bytes(ctx, (ln_mem_type)m) > 0)
            put_memory(j, ctx, (ln_mem_type)m);
    json_close(j, ']');
    json_size(j, "in_file", ctx ? ln_context_mapped_bytes(ctx) : 0);
    json_size(j, "dynamic_tensors", unplanned.tensor_count);
    json_size(j, "refused_rewrites", refused_count);
    json_size(j, "on_ref", ctx ? fallback_of(ctx).ref_count : 0);
    const on_bytes b = ctx ? on_bytes_of(ctx) : (on_bytes){0};
    json_size(j, "products", b.product_count);
    json_size(j, "on_bytes", b.byte_count);
    json_number(j, "macs_on_bytes", b.byte_macs);
}
