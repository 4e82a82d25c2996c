// SPDX-License-Identifier: Apache-2.0
// The stack of frames: a step works on one node of the topmost, or takes it off.

#include "serial/onnx/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/model_info.h>

#include "base/name_hash.h"
#include "serial/onnx/tensor.h"

// Nodes that functions may make of a small file, and one more for each so many of its bytes.
#define FUNCTION_NODES 20000
#define BYTES_A_NODE   16

// Elements of parameters, in all: each takes 16 bytes, several times.
#define MAX_PARAM_ELEMENTS ((size_t)1 << 26)
#define FREE_PARAMS        ((size_t)1 << 20)

// ---- The model ----

static ln_status problem_of_model(ln_onnx_builder *b, const char *help, const char *fmt, ...)
    LN_PRINTF(3, 4);

static ln_status problem_of_model(ln_onnx_builder *b, const char *help, const char *fmt, ...)
{
    char reason[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    return ln_preflight_add_problem(
        b->report, &(ln_preflight_problem){.reason = reason, .help = (char *)(uintptr_t)help});
}

static ln_status check_opsets(ln_onnx_builder *b, const ln_onnx_opsets *opsets)
{
    for (size_t i = 0; i < opsets->count; i++) {
        const ln_onnx_opset *opset = &opsets->items[i];
        char domain[128];
        snprintf(domain, sizeof domain, "%.*s", LN_ONNX_NAME(opset->domain));
        int64_t version = ln_onnx_int(opset->version);
        int is_onnx = !*domain || strcmp(domain, "ai.onnx") == 0;
        if (opsets == &b->opsets)
            LN_TRY(ln_preflight_add_opset(b->report, is_onnx ? "ai.onnx" : domain,
                                          version > INT32_MAX || version < 0 ? INT32_MAX
                                                                             : (int)version));
        if (is_onnx && version > LN_ONNX_NEWEST_OPSET)
            LN_TRY(ln_onnx_tolerate(b->source, opset->version.at,
                                    "operators are read as they are in that one",
                                    "opset %lld is newer than %d, the newest that is known",
                                    (long long)version, LN_ONNX_NEWEST_OPSET));
    }
    return LN_OK;
}

static ln_status read_producer(ln_onnx_builder *b)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s%s%.*s", LN_ONNX_NAME(b->model.producer_name),
             b->model.producer_version.len ? " " : "", LN_ONNX_NAME(b->model.producer_version));
    char *copy = ln_strdup(text);
    if (!copy)
        return LN_NO_MEMORY;
    ln_free(b->report->producer);
    b->report->producer = copy;
    return LN_OK;
}

static const char *text_of(ln_onnx_builder *b, ln_onnx_bytes text)
{
    return ln_onnx_arena_text(&b->arena, text.at ? text.at : (const uint8_t *)"", text.len);
}

static ln_status read_properties(ln_onnx_builder *b, ln_model_info *info)
{
    const ln_onnx_list *list = &b->model.metadata_props;
    ln_model_property *properties =
        ln_onnx_arena_take(&b->arena, list->count + 1, sizeof *properties);
    if (!properties)
        return ln_error_status();
    for (size_t i = 0; i < list->count; i++) {
        ln_onnx_entry entry;
        LN_TRY(ln_onnx_decode(LN_ONNX_ENTRY, list->items[i], &b->arena, &entry));
        LN_TRY(ln_onnx_escape(&b->arena, &entry.key));
        LN_TRY(ln_onnx_escape(&b->arena, &entry.value));
        properties[i] = (ln_model_property){text_of(b, entry.key), text_of(b, entry.value)};
        if (!properties[i].key || !properties[i].value)
            return ln_error_status();
    }
    info->properties = properties;
    info->property_count = list->count;
    return LN_OK;
}

static ln_status hash_initializers(ln_onnx_builder *b, const ln_onnx_list *list, ln_hash *names)
{
    for (size_t i = 0; i < list->count; i++) {
        ln_onnx_bytes name = ln_onnx_tensor_name(list->items[i]);
        LN_TRY(ln_onnx_escape(&b->arena, &name));
        const char *text = text_of(b, name);
        if (!text || ln_hash_insert(names, text, b) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status list_defaults(ln_onnx_builder *b, const ln_onnx_graph *graph, const ln_hash *names,
                               ln_model_info *info)
{
    const char **defaults = ln_onnx_arena_take(&b->arena, graph->input.count, sizeof *defaults);
    if (!defaults)
        return ln_error_status();
    for (size_t i = 0; i < graph->input.count; i++) {
        ln_onnx_value_info input;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, graph->input.items[i], &b->arena, &input));
        const char *text = text_of(b, input.name);
        if (!text)
            return ln_error_status();
        if (ln_hash_find(names, text))
            defaults[info->default_count++] = text;
    }
    info->defaults = defaults;
    return LN_OK;
}

// Inputs that are initializers too. Up to IR version 3 all initializers are, and no defaults.
static ln_status read_defaults(ln_onnx_builder *b, const ln_onnx_graph *graph, ln_model_info *info)
{
    if (ln_onnx_int(b->model.ir_version) < 4 || graph->input.count == 0 ||
        graph->initializer.count == 0)
        return LN_OK;
    ln_hash *names = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = names ? hash_initializers(b, &graph->initializer, names) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = list_defaults(b, graph, names, info);
    ln_hash_free(names);
    return status;
}

static ln_status read_info(ln_onnx_builder *b)
{
    const ln_onnx_model *model = &b->model;
    ln_onnx_graph graph;
    LN_TRY(ln_onnx_decode(LN_ONNX_GRAPH, model->graph, &b->arena, &graph));
    ln_model_info info = {.producer = text_of(b, model->producer_name),
                          .producer_version = text_of(b, model->producer_version),
                          .domain = text_of(b, model->domain),
                          .doc = text_of(b, model->doc_string),
                          .graph = text_of(b, graph.name),
                          .graph_doc = text_of(b, graph.doc_string),
                          .version = ln_onnx_int(model->model_version)};
    if (!info.producer || !info.producer_version || !info.domain || !info.doc || !info.graph ||
        !info.graph_doc)
        return ln_error_status();
    LN_TRY(read_properties(b, &info));
    LN_TRY(read_defaults(b, &graph, &info));
    return ln_context_set_info(b->ctx, &info);
}

static ln_status add_function(ln_onnx_builder *b, ln_onnx_bytes message)
{
    ln_onnx_function_entry *entry = ln_onnx_arena_take(&b->arena, 1, sizeof *entry);
    if (!entry)
        return ln_error_status();
    LN_TRY(ln_onnx_decode(LN_ONNX_FUNCTION, message, &b->arena, &entry->message));
    const ln_onnx_function *f = &entry->message;
    LN_TRY(ln_onnx_function_key(&b->arena, f->domain, f->name, f->overload, &entry->key));
    LN_TRY(ln_onnx_read_opsets(b, &f->opset_import, &entry->opsets));
    if (entry->opsets.count == 0)
        entry->opsets = b->opsets;
    else
        LN_TRY(check_opsets(b, &entry->opsets));
    if (ln_hash_find(b->functions, entry->key))
        return ln_onnx_fail(b->source, message.at, LN_INVALID, "function '%s' is there twice",
                            entry->key);
    return ln_hash_insert(b->functions, entry->key, entry) >= 0 ? LN_OK : ln_error_status();
}

// A newer version is read as long as there is nothing in it that this one does not have.
static ln_status check_ir_version(ln_onnx_builder *b, int64_t ir_version)
{
    if (ir_version <= LN_ONNX_NEWEST_IR)
        return LN_OK;
    if (b->source->unknown_field)
        return problem_of_model(
            b, "convert the model to that one or an older one",
            "IR version %lld is newer than %d, the newest that is known, and has a field that is "
            "not known at byte %zu",
            (long long)ir_version, LN_ONNX_NEWEST_IR,
            (size_t)(b->source->unknown_field - b->source->bytes.at));
    return ln_onnx_tolerate(b->source, b->model.ir_version.at, "it is read as if it were that one",
                            "IR version %lld is newer than %d, the newest that is known",
                            (long long)ir_version, LN_ONNX_NEWEST_IR);
}

static ln_status read_model(ln_onnx_builder *b)
{
    LN_TRY(ln_onnx_decode(LN_ONNX_MODEL, b->source->bytes, &b->arena, &b->model));
    const ln_onnx_model *model = &b->model;
    if (!model->graph.at)
        return ln_onnx_fail(b->source, NULL, LN_SYNTAX, "the file has no graph");
    int64_t ir_version = ln_onnx_int(model->ir_version);
    if (ir_version < 1)
        return ln_onnx_fail(b->source, model->ir_version.at, LN_SYNTAX,
                            "ir_version is %lld; files have 1 or more", (long long)ir_version);
    b->report->ir_version = ir_version > INT32_MAX ? INT32_MAX : (int)ir_version;
    LN_TRY(check_ir_version(b, ir_version));
    LN_TRY(read_producer(b));
    LN_TRY(read_info(b));
    LN_TRY(ln_onnx_read_opsets(b, &model->opset_import, &b->opsets));
    LN_TRY(check_opsets(b, &b->opsets));
    for (size_t i = 0; i < model->functions.count; i++)
        LN_TRY(add_function(b, model->functions.items[i]));
    return LN_OK;
}

// ---- Steps ----

// The next body of the node that has not been built; NULL if there is none.
static ln_onnx_given *next_body(ln_onnx_current *node)
{
    while (!node->is_bad && node->info && node->next_body < node->given_count) {
        ln_onnx_given *given = &node->given[node->next_body++];
        int is_graph = given->value.type.bits == 5 || !given->value.type.bits;
        if (given->value.g.at && is_graph)
            return given;
    }
    return NULL;
}

static ln_status step(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    if (frame->has_node) {
        ln_onnx_given *body = next_body(&frame->node);
        return body ? ln_onnx_push_body(b, body) : ln_onnx_finish_node(b);
    }
    if (frame->next < frame->nodes.count)
        return ln_onnx_begin_node(b);
    LN_TRY(ln_onnx_finish_frame(b));
    ln_onnx_pop(b);
    return LN_OK;
}

static ln_status build(ln_onnx_builder *b)
{
    LN_TRY(read_model(b));
    LN_TRY(ln_onnx_push_model(b));
    while (b->depth > 0)
        LN_TRY(step(b));
    return LN_OK;
}

static size_t allowed_nodes(const ln_context *ctx, const ln_onnx_source *source)
{
    size_t allowed = FUNCTION_NODES + source->bytes.len / BYTES_A_NODE;
    return allowed < ctx->limits.op_count ? allowed : ctx->limits.op_count;
}

// Elements of attributes, which functions may bring again and again.
static size_t allowed_params(const ln_onnx_source *source)
{
    size_t len = source->bytes.len;
    return len < MAX_PARAM_ELEMENTS - FREE_PARAMS ? FREE_PARAMS + len : MAX_PARAM_ELEMENTS;
}

ln_status ln_onnx_build(ln_serializer *serializer, ln_context *ctx, ln_onnx_source *source,
                        ln_preflight *report)
{
    ln_onnx_builder *b = ln_alloc(sizeof *b);
    if (!b)
        return LN_NO_MEMORY;
    b->serializer = serializer;
    b->ctx = ctx;
    b->source = source;
    b->report = report;
    b->arena.budget = &source->budget;
    b->nodes_left = allowed_nodes(ctx, source);
    b->params_left = allowed_params(source);
    b->functions = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    b->tensors = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    b->ops = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = b->functions && b->tensors && b->ops ? build(b) : LN_NO_MEMORY;
    while (b->depth > 0)
        ln_onnx_pop(b);
    ln_hash_free(b->functions);
    ln_hash_free(b->tensors);
    ln_hash_free(b->ops);
    ln_onnx_arena_deinit(&b->arena);
    ln_free(b);
    return status;
}
