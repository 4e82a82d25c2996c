// SPDX-License-Identifier: Apache-2.0
// Frames: the names with which a graph or a function begins, and the outputs with which it ends.

#include "serial/onnx/builder.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/param.h>

#include "serial/onnx/type.h"

// ---- Operator sets ----

static int is_onnx(ln_onnx_bytes domain)
{
    return domain.len == 0 || (domain.len == 7 && memcmp(domain.at, "ai.onnx", 7) == 0);
}

static int is_same_domain(ln_onnx_bytes a, ln_onnx_bytes b)
{
    if (is_onnx(a) || is_onnx(b))
        return is_onnx(a) && is_onnx(b);
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

ln_status ln_onnx_read_opsets(ln_onnx_builder *b, const ln_onnx_list *messages, ln_onnx_opsets *out)
{
    out->items = ln_onnx_arena_take(&b->arena, messages->count, sizeof *out->items);
    if (!out->items)
        return ln_error_status();
    for (size_t i = 0; i < messages->count && i < LN_ONNX_MAX_OPSETS; i++)
        LN_TRY(ln_onnx_decode(LN_ONNX_OPSET, messages->items[i], &b->arena,
                              &out->items[out->count++]));
    return LN_OK;
}

int ln_onnx_opset_of(const ln_onnx_frame *frame, ln_onnx_bytes domain)
{
    for (size_t i = 0; i < frame->opsets->count; i++) {
        const ln_onnx_opset *opset = &frame->opsets->items[i];
        if (!is_same_domain(opset->domain, domain))
            continue;
        int64_t version = ln_onnx_int(opset->version);
        return version < 1 ? 0 : version > INT32_MAX ? INT32_MAX : (int)version;
    }
    // Files from before operator sets were named mean the first; contributed operators have had no
    // second version.
    return frame->opsets->count == 0 || !is_onnx(domain) ? 1 : 0;
}

// ---- A frame ----

static ln_status push(ln_onnx_builder *b, ln_onnx_frame_kind kind, ln_context *ctx)
{
    if (b->depth == LN_ONNX_MAX_FRAMES)
        return ln_onnx_fail(b->source, NULL, LN_LIMIT,
                            "more than %d graphs and functions inside each other",
                            LN_ONNX_MAX_FRAMES);
    ln_onnx_frame *frame = ln_alloc(sizeof *frame);
    if (!frame)
        return LN_NO_MEMORY;
    frame->kind = kind;
    frame->ctx = ctx;
    frame->arena.budget = frame->node_arena.budget = &b->source->budget;
    b->frames[b->depth++] = frame;
    return ln_onnx_scope_init(&frame->scope, b->source, &frame->arena);
}

void ln_onnx_pop(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = b->frames[--b->depth];
    ln_onnx_scope_deinit(&frame->scope);
    ln_onnx_arena_deinit(&frame->node_arena);
    ln_onnx_arena_deinit(&frame->arena);
    ln_free(frame);
}

// ---- Graphs ----

// Symbolic dimensions as an array of strings, "" for the others.
static ln_status add_symbols(ln_onnx_builder *b, ln_onnx_frame *frame,
                             const ln_onnx_type_info *type, ln_list **params)
{
    const char *symbols[TL_MAXDIM];
    int has_symbols = 0;
    for (int i = 0; i < type->ndim; i++) {
        symbols[i] = "";
        if (type->symbols[i].len == 0)
            continue;
        const char *fault = ln_onnx_name_fault(type->symbols[i]);
        if (fault)
            return ln_onnx_fail(b->source, type->symbols[i].at, LN_INVALID,
                                "the symbol of a dimension %s", fault);
        symbols[i] = ln_onnx_arena_text(&frame->arena, type->symbols[i].at, type->symbols[i].len);
        if (!symbols[i])
            return ln_error_status();
        has_symbols = 1;
    }
    return has_symbols ? ln_onnx_param_strings(params, "names", (size_t)type->ndim, symbols)
                       : LN_OK;
}

static ln_status input_params(ln_onnx_builder *b, ln_onnx_frame *frame,
                              const ln_onnx_type_info *type, ln_list **params)
{
    int is_known = type->dtype != TL_DTYPE_INVALID && type->dtype != TL_OBJECT && type->has_rank;
    // Inputs of bodies are what the operator gives, whatever the file says about them.
    if (frame->kind == LN_FRAME_BODY || !is_known) {
        tl_dtype dtype = type->dtype == TL_DTYPE_INVALID ? TL_OBJECT : type->dtype;
        LN_TRY(ln_onnx_param_shape(params, dtype, 0, NULL));
        return ln_onnx_param_bool(params, "open", 1);
    }
    LN_TRY(ln_onnx_param_shape(params, type->dtype, type->ndim, type->dims));
    return add_symbols(b, frame, type, params);
}

// What a sequence, an optional or a map holds.
static ln_status add_type(ln_onnx_frame *frame, ln_onnx_bytes message, ln_list **params)
{
    ln_text text = {0};
    ln_status status = ln_onnx_type_print(message, &frame->arena, &text);
    if (status == LN_OK)
        status = ln_onnx_param_string(params, "type", text.bytes);
    ln_text_deinit(&text);
    return status;
}

static ln_status add_input(ln_onnx_builder *b, ln_onnx_frame *frame, const ln_onnx_symbol *symbol,
                           ln_onnx_bytes type_message)
{
    ln_onnx_type_info type;
    ln_status status = ln_onnx_type_read(b->source, type_message, &frame->arena, &type);
    if (status != LN_OK)
        return ln_fail_prefix("input '%s'", symbol->name);
    ln_list *params = NULL;
    const char *name;
    status = input_params(b, frame, &type, &params);
    if (status == LN_OK && frame->kind == LN_FRAME_MODEL && type.dtype == TL_OBJECT)
        status = add_type(frame, type_message, &params);
    if (status == LN_OK)
        status = ln_onnx_claim(b, b->ops, symbol->tensor, &name);
    if (status == LN_OK)
        status = ln_onnx_add_arg(b, &b->outs, "dst", symbol->tensor);
    if (status != LN_OK) {
        ln_param_list_free(params);
        return status;
    }
    return ln_onnx_add_op(b, frame->ctx, name, "input", params, type_message.at);
}

static ln_status add_initializers(ln_onnx_frame *frame, const ln_onnx_graph *graph)
{
    for (size_t i = 0; i < graph->initializer.count; i++) {
        ln_onnx_symbol *symbol;
        ln_onnx_bytes message = graph->initializer.items[i], name = ln_onnx_tensor_name(message);
        LN_TRY(ln_onnx_escape(&frame->arena, &name));
        LN_TRY(ln_onnx_scope_add_constant(&frame->scope, name, LN_SYMBOL_INITIALIZER, &symbol));
        symbol->message = message;
    }
    for (size_t i = 0; i < graph->sparse_initializer.count; i++) {
        ln_onnx_symbol *symbol;
        ln_onnx_bytes message = graph->sparse_initializer.items[i];
        ln_onnx_bytes name = ln_onnx_sparse_name(message);
        LN_TRY(ln_onnx_escape(&frame->arena, &name));
        LN_TRY(ln_onnx_scope_add_constant(&frame->scope, name, LN_SYMBOL_SPARSE, &symbol));
        symbol->message = message;
    }
    return LN_OK;
}

static ln_status report_type(ln_onnx_builder *b, ln_onnx_frame *frame, int is_input,
                             const ln_onnx_value_info *info)
{
    if (frame->kind != LN_FRAME_MODEL)
        return LN_OK;
    ln_text text = {0};
    ln_status status = ln_onnx_type_print(info->type, &frame->arena, &text);
    char *name = ln_onnx_arena_text(&frame->arena, info->name.at, info->name.len);
    if (status == LN_OK && !name)
        status = ln_error_status();
    if (status == LN_OK)
        status = is_input ? ln_preflight_add_input(b->report, name, text.bytes)
                          : ln_preflight_add_output(b->report, name, text.bytes);
    ln_text_deinit(&text);
    return status;
}

// An input with an initializer is a constant, unless the graph is a body, whose inputs are given.
static ln_status add_inputs(ln_onnx_builder *b, ln_onnx_frame *frame, const ln_onnx_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        ln_onnx_value_info info;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, inputs->items[i], &frame->arena, &info));
        ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, info.name);
        if (symbol && symbol->kind != LN_SYMBOL_GIVEN && !symbol->is_input) {
            symbol->is_input = true;
            symbol->type = info.type;
            continue;
        }
        LN_TRY(ln_onnx_scope_add(&frame->scope, info.name, LN_SYMBOL_GIVEN, &symbol));
        LN_TRY(ln_onnx_claim(b, b->tensors, symbol->name, &symbol->tensor));
        LN_TRY(add_input(b, frame, symbol, info.type));
        LN_TRY(report_type(b, frame, 1, &info));
    }
    return LN_OK;
}

static ln_status note_outputs(ln_onnx_builder *b, ln_onnx_frame *frame)
{
    for (size_t i = 0; i < frame->outputs.count; i++) {
        ln_onnx_value_info info;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, frame->outputs.items[i], &frame->arena, &info));
        ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, info.name);
        if (symbol)
            symbol->is_read = true;
        LN_TRY(report_type(b, frame, 0, &info));
    }
    return LN_OK;
}

// The tensors of the model itself keep their names, so that nothing else may take them.
static ln_status keep_names(ln_onnx_builder *b, const ln_onnx_frame *frame)
{
    size_t cursor = 0;
    const void *key;
    void *value;
    while (ln_hash_next(frame->scope.symbols, &cursor, &key, &value)) {
        ln_onnx_symbol *symbol = value;
        if (!symbol->tensor)
            LN_TRY(ln_onnx_claim(b, b->tensors, symbol->name, &symbol->tensor));
    }
    return LN_OK;
}

static ln_status begin_graph(ln_onnx_builder *b, ln_onnx_frame *frame, ln_onnx_bytes message)
{
    ln_onnx_graph graph;
    LN_TRY(ln_onnx_decode(LN_ONNX_GRAPH, message, &frame->arena, &graph));
    frame->nodes = graph.node;
    frame->outputs = graph.output;
    LN_TRY(add_initializers(frame, &graph));
    if (frame->kind == LN_FRAME_MODEL)
        LN_TRY(keep_names(b, frame));
    LN_TRY(add_inputs(b, frame, &graph.input));
    LN_TRY(ln_onnx_scope_add_nodes(&frame->scope, &frame->nodes, &frame->order));
    if (frame->kind == LN_FRAME_MODEL)
        LN_TRY(keep_names(b, frame));
    return note_outputs(b, frame);
}

ln_status ln_onnx_push_model(ln_onnx_builder *b)
{
    LN_TRY(push(b, LN_FRAME_MODEL, b->ctx));
    ln_onnx_frame *frame = ln_onnx_top(b);
    frame->opsets = &b->opsets;
    frame->label = "graph";
    return begin_graph(b, frame, b->model.graph);
}

ln_status ln_onnx_push_body(ln_onnx_builder *b, ln_onnx_given *given)
{
    const ln_onnx_frame *around = ln_onnx_top(b);
    char wanted[LN_MAX_NAME_LEN];
    snprintf(wanted, sizeof wanted, "%.400s.%.80s", around->node.name, given->name);
    LN_TRY(ln_onnx_claim(b, b->ops, wanted, &given->graph));
    ln_context *ctx;
    LN_TRY(ln_context_add_graph(around->ctx, given->graph, &ctx));
    LN_TRY(push(b, LN_FRAME_BODY, ctx));
    ln_onnx_frame *frame = ln_onnx_top(b);
    frame->opsets = around->opsets;
    frame->call = around->call;
    frame->called = around->called;
    frame->graph = given->graph;
    frame->label = given->graph;
    LN_TRY(begin_graph(b, frame, given->value.g));
    if (frame->outputs.count == 0)
        return ln_onnx_fail(b->source, given->value.g.at, LN_INVALID, "%s has no outputs",
                            frame->label);
    return LN_OK;
}

// ---- Functions ----

ln_status ln_onnx_function_key(ln_onnx_arena *arena, ln_onnx_bytes domain, ln_onnx_bytes name,
                               ln_onnx_bytes overload, const char **out_key)
{
    *out_key = NULL;
    if (is_onnx(domain))
        domain.len = 0;
    char *key = ln_onnx_arena_take(arena, domain.len + name.len + overload.len + 3, 1);
    if (!key)
        return ln_error_status();
    char *at = key;
    const ln_onnx_bytes parts[] = {domain, name, overload};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].len == 0)
            continue;
        if (at > key)
            *at++ = ':';
        memcpy(at, parts[i].at, parts[i].len);
        at += parts[i].len;
    }
    *out_key = key;
    return LN_OK;
}

static ln_status bind_inputs(ln_onnx_builder *b, ln_onnx_frame *frame, const ln_onnx_node *call)
{
    const ln_onnx_list *formal = &frame->function->message.input;
    for (size_t i = 0; i < formal->count; i++) {
        ln_onnx_symbol *symbol;
        LN_TRY(ln_onnx_scope_add(&frame->scope, formal->items[i], LN_SYMBOL_GIVEN, &symbol));
        if (i >= call->input.count || call->input.items[i].len == 0)
            continue;
        ln_status status = ln_onnx_resolve(b, b->depth - 2, call->input.items[i], &symbol->tensor);
        if (status == LN_NOT_FOUND)
            status = ln_onnx_fail(b->source, call->input.items[i].at, LN_INVALID,
                                  "a call of function '%.*s' reads '%.*s', which nothing makes",
                                  LN_ONNX_NAME(frame->function->message.name),
                                  LN_ONNX_NAME(call->input.items[i]));
        LN_TRY(status);
    }
    return LN_OK;
}

// What a node of the function makes for the caller gets the caller's name at once.
static ln_status bind_outputs(ln_onnx_builder *b, ln_onnx_frame *frame, const ln_onnx_node *call)
{
    ln_onnx_frame *caller = b->frames[b->depth - 2];
    const ln_onnx_list *formal = &frame->function->message.output;
    for (size_t i = 0; i < formal->count; i++) {
        ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, formal->items[i]);
        if (symbol)
            symbol->is_read = true;
        if (i >= call->output.count || call->output.items[i].len == 0)
            continue;
        ln_onnx_symbol *made = ln_onnx_scope_find(&caller->scope, call->output.items[i]);
        LN_TRY(ln_onnx_name_made(b, made));
        if (symbol && symbol->kind == LN_SYMBOL_MADE && !symbol->tensor)
            symbol->tensor = made->tensor;
    }
    return LN_OK;
}

static int is_being_called(const ln_onnx_builder *b, const ln_onnx_function_entry *function)
{
    for (size_t i = 0; i < b->depth; i++) {
        if (b->frames[i]->function == function)
            return 1;
    }
    return 0;
}

ln_status ln_onnx_push_function(ln_onnx_builder *b, const ln_onnx_function_entry *function)
{
    const ln_onnx_frame *caller = ln_onnx_top(b);
    const ln_onnx_node *call = &caller->node.message;
    if (is_being_called(b, function))
        return ln_onnx_fail(b->source, caller->node.at, LN_INVALID,
                            "function '%s' calls itself, perhaps through others", function->key);
    LN_TRY(push(b, LN_FRAME_FUNCTION, caller->ctx));
    ln_onnx_frame *frame = ln_onnx_top(b);
    frame->function = function;
    frame->opsets = &function->opsets;
    frame->call = &caller->node;
    frame->called = function;
    frame->label = function->key;
    frame->nodes = function->message.node;
    LN_TRY(bind_inputs(b, frame, call));
    LN_TRY(ln_onnx_scope_add_nodes(&frame->scope, &frame->nodes, &frame->order));
    return bind_outputs(b, frame, call);
}

// ---- Ends ----

static ln_status add_identity(ln_onnx_builder *b, ln_context *ctx, const char *from, const char *to)
{
    const char *name;
    int is_onnx_op = ln_op_find("Identity") != NULL;
    LN_TRY(ln_onnx_claim(b, b->ops, to, &name));
    LN_TRY(ln_onnx_add_arg(b, &b->ins, is_onnx_op ? "input" : "src", from));
    LN_TRY(ln_onnx_add_arg(b, &b->outs, is_onnx_op ? "output" : "dst", to));
    return ln_onnx_add_op(b, ctx, name, is_onnx_op ? "Identity" : "forward", NULL, NULL);
}

// Outputs of a function that no node of it makes for the caller: its inputs, what has a name in the
// caller already, and what it returns twice.
static ln_status finish_function(ln_onnx_builder *b, const ln_onnx_frame *frame)
{
    const ln_onnx_frame *caller = b->frames[b->depth - 2];
    const ln_onnx_node *call = &caller->node.message;
    const ln_onnx_list *formal = &frame->function->message.output;
    for (size_t i = 0; i < call->output.count; i++) {
        if (call->output.items[i].len == 0)
            continue;
        const char *tensor = NULL;
        ln_status status = LN_NOT_FOUND;
        if (i < formal->count)
            status = ln_onnx_resolve(b, b->depth - 1, formal->items[i], &tensor);
        if (status == LN_NOT_FOUND || (status == LN_OK && !tensor))
            return ln_onnx_fail(b->source, call->output.items[i].at, LN_INVALID,
                                "function '%s' makes no output %zu", frame->function->key, i);
        LN_TRY(status);
        ln_onnx_symbol *made = ln_onnx_scope_find(&caller->scope, call->output.items[i]);
        if (strcmp(made->tensor, tensor) != 0)
            LN_TRY(add_identity(b, frame->ctx, tensor, made->tensor));
    }
    return LN_OK;
}

// What the file states of an output of the model: it is kept where only a run knows more.
static ln_status output_params(ln_onnx_builder *b, ln_onnx_frame *frame,
                               const ln_onnx_value_info *info, ln_list **params)
{
    if (frame->kind != LN_FRAME_MODEL || !info->type.at)
        return LN_OK;
    ln_onnx_type_info type;
    ln_status status = ln_onnx_type_read(b->source, info->type, &frame->arena, &type);
    if (status != LN_OK)
        return ln_fail_prefix("output '%.*s'", LN_ONNX_NAME(info->name));
    if (type.dtype == TL_DTYPE_INVALID)
        return LN_OK;
    if (type.dtype == TL_OBJECT || !type.has_rank) {
        LN_TRY(ln_onnx_param_string(params, "dtype", tl_dtype_name(type.dtype)));
        return type.dtype == TL_OBJECT ? add_type(frame, info->type, params) : LN_OK;
    }
    LN_TRY(ln_onnx_param_shape(params, type.dtype, type.ndim, type.dims));
    return add_symbols(b, frame, &type, params);
}

static ln_status add_output(ln_onnx_builder *b, ln_onnx_frame *frame,
                            const ln_onnx_value_info *info, const char *tensor)
{
    ln_list *params = NULL;
    const char *name;
    ln_status status = output_params(b, frame, info, &params);
    if (status == LN_OK)
        status = ln_onnx_claim(b, b->ops, tensor, &name);
    if (status == LN_OK)
        status = ln_onnx_add_arg(b, &b->ins, "src", tensor);
    if (status != LN_OK) {
        ln_param_list_free(params);
        return status;
    }
    return ln_onnx_add_op(b, frame->ctx, name, "output", params, NULL);
}

// The first output of the body of a Loop, which no operator is told the type of.
static ln_status check_condition(ln_onnx_builder *b, ln_onnx_frame *frame,
                                 const ln_onnx_value_info *info)
{
    const char *runs_it =
        frame->kind == LN_FRAME_BODY ? b->frames[b->depth - 2]->node.optype : NULL;
    if (!runs_it || strcmp(runs_it, "Loop") != 0 || !info->type.at)
        return LN_OK;
    ln_onnx_type_info type;
    LN_TRY(ln_onnx_type_read(b->source, info->type, &frame->arena, &type));
    if (type.dtype == TL_DTYPE_INVALID || type.dtype == TL_BOOL)
        return LN_OK;
    return ln_onnx_fail(b->source, info->type.at, LN_INVALID,
                        "output '%.*s' of %s, the condition, is %s instead of %s",
                        LN_ONNX_NAME(info->name), frame->label, tl_dtype_title(type.dtype),
                        tl_dtype_title(TL_BOOL));
}

static ln_status finish_graph(ln_onnx_builder *b, ln_onnx_frame *frame)
{
    for (size_t i = 0; i < frame->outputs.count; i++) {
        ln_onnx_value_info info;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, frame->outputs.items[i], &frame->arena, &info));
        const char *tensor;
        ln_status status = ln_onnx_resolve(b, b->depth - 1, info.name, &tensor);
        if (status == LN_NOT_FOUND || (status == LN_OK && !tensor))
            return ln_onnx_fail(b->source, frame->outputs.items[i].at, LN_INVALID,
                                "output '%.*s' of %s is made by nothing", LN_ONNX_NAME(info.name),
                                frame->label);
        LN_TRY(status);
        if (i == 0)
            LN_TRY(check_condition(b, frame, &info));
        LN_TRY(add_output(b, frame, &info, tensor));
    }
    return LN_OK;
}

ln_status ln_onnx_finish_frame(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    return frame->kind == LN_FRAME_FUNCTION ? finish_function(b, frame) : finish_graph(b, frame);
}
