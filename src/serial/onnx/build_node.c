// SPDX-License-Identifier: Apache-2.0
// A node becomes an operator: its type and version are looked up, its tensors get the names of the
// description's arguments by their position.

#include "serial/onnx/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/arch.h>
#include <lightnet/param.h>
#include <lightnet/spelling.h>

#define MAX_OPTYPE 128

typedef struct domain_row {
    const char *domain;
    const char *prefix; // of our operator types
} domain_row;

static const domain_row domains[] = {
#define D(constant, name, prefix, newest) {name, prefix},
#include "desc/onnx_domains.inc"
#undef D
};

static const domain_row *find_domain(ln_onnx_bytes domain)
{
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
        size_t len = strlen(domains[i].domain);
        if (domain.len == 0 ||
            (len == domain.len && memcmp(domains[i].domain, domain.at, len) == 0))
            return &domains[i];
    }
    return NULL;
}

// ---- Problems ----

ln_status ln_onnx_problem(ln_onnx_builder *b, const char *help, const char *fmt, ...)
{
    const ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_onnx_current *node = &frame->node;
    char reason[512], name[128], optype[MAX_OPTYPE], domain[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    ln_onnx_bytes shown = node->message.name.len ? node->message.name : (ln_onnx_bytes){0};
    if (!shown.len && node->message.output.count)
        shown = node->message.output.items[0]; // what it makes stands for a node without a name
    snprintf(name, sizeof name, "%.*s", LN_ONNX_NAME(shown));
    snprintf(optype, sizeof optype, "%.*s", LN_ONNX_NAME(node->message.op_type));
    snprintf(domain, sizeof domain, "%.*s", LN_ONNX_NAME(node->message.domain));
    ln_onnx_top(b)->node.is_bad = 1;
    return ln_preflight_add_problem(b->report, &(ln_preflight_problem){
                                                   .node = name,
                                                   .optype = optype,
                                                   .domain = *domain ? domain : "ai.onnx",
                                                   .opset = node->opset,
                                                   .place = (char *)(uintptr_t)frame->label,
                                                   .reason = reason,
                                                   .help = (char *)(uintptr_t)help,
                                               });
}

// ---- Type and version ----

// An operator of ONNX, not one of our own, nor a variant on some arch.
static const ln_op_info *onnx_info(const ln_op *op)
{
    const ln_op_info *info = op ? op->op_arg->info : NULL;
    if (!info || !info->since || !info->since[0] || strcmp(op->op_arg->arch, "none") != 0)
        return NULL;
    return info;
}

static int is_of_domain(const ln_op_info *info, const domain_row *row)
{
    return strcmp(info->domain ? info->domain : "ai.onnx", row->domain) == 0;
}

static ln_status fail_unknown(ln_onnx_builder *b, const char *optype, const domain_row *row)
{
    ln_nearest nearest = ln_nearest_to(optype + strlen(row->prefix));
    const ln_op *op;
    // With many problems the search would be what takes the time.
    size_t count = b->report->problem_count < LN_PREFLIGHT_MAX_PROBLEMS ? ln_op_count() : 0;
    for (size_t i = 0; i < count && (op = ln_op_find_at(i)); i++) {
        const ln_op_info *info = onnx_info(op);
        if (info && is_of_domain(info, row))
            ln_nearest_try(&nearest, op->op_arg->optype + strlen(row->prefix));
    }
    char help[256] = "`lightnet ops` lists the operators that there are";
    if (nearest.name)
        snprintf(help, sizeof help, "did you mean '%s'?", nearest.name);
    return ln_onnx_problem(b, help, "there is no operator '%s'", optype + strlen(row->prefix));
}

static ln_status find_version(ln_onnx_builder *b)
{
    ln_onnx_current *node = &ln_onnx_top(b)->node;
    const int *since = node->info->since;
    int found = 0, newest = 0;
    for (; *since; since++) {
        newest = *since;
        if (newest <= node->opset)
            found = newest;
    }
    if (!found) {
        char help[128];
        snprintf(help, sizeof help, "convert the model to opset %d or newer", node->info->since[0]);
        return ln_onnx_problem(b, help, "the operator came with opset %d", node->info->since[0]);
    }
    node->since = found == newest ? 0 : found;
    return LN_OK;
}

static ln_status find_type(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    ln_onnx_current *node = &frame->node;
    ln_onnx_bytes type = node->message.op_type;
    const char *fault = ln_onnx_name_fault(type);
    if (fault || type.len > MAX_OPTYPE - 16)
        return ln_onnx_problem(b, NULL, "its operator type %s", fault ? fault : "is too long");
    const domain_row *row = find_domain(node->message.domain);
    if (!row)
        return ln_onnx_problem(
            b,
            "export the model with functions for it, or without that extension; a library of custom "
            "operators is registered through ONNX Runtime's interface",
            "the domain '%.*s' is not known", LN_ONNX_NAME(node->message.domain));
    char optype[MAX_OPTYPE];
    snprintf(optype, sizeof optype, "%s%.*s", row->prefix, (int)type.len, (const char *)type.at);
    const ln_op *op = ln_op_find(optype);
    node->info = onnx_info(op);
    if (!node->info || !is_of_domain(node->info, row))
        return fail_unknown(b, optype, row);
    node->optype = op->op_arg->optype;
    if (!node->opset)
        return ln_onnx_problem(b, "add the domain to opset_import",
                               "the model does not import its domain");
    if (node->opset > LN_ONNX_NEWEST_OPSET && !*row->prefix)
        node->opset = LN_ONNX_NEWEST_OPSET; // told once for the model
    return find_version(b);
}

// ---- Names ----

ln_status ln_onnx_name_made(ln_onnx_builder *b, ln_onnx_symbol *symbol)
{
    return symbol->tensor ? LN_OK : ln_onnx_claim(b, b->tensors, symbol->name, &symbol->tensor);
}

static ln_status name_node(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    ln_onnx_current *node = &frame->node;
    const ln_onnx_node *message = &node->message;
    char wanted[LN_MAX_NAME_LEN];
    if (message->name.len && !ln_onnx_name_fault(message->name))
        snprintf(wanted, sizeof wanted, "%.*s", (int)message->name.len,
                 (const char *)message->name.at);
    else if (!ln_onnx_name_fault(message->op_type))
        snprintf(wanted, sizeof wanted, "%.*s", (int)message->op_type.len,
                 (const char *)message->op_type.at);
    else
        snprintf(wanted, sizeof wanted, "node");
    const char *name;
    LN_TRY(ln_onnx_claim(b, b->ops, wanted, &name));
    node->name = (char *)(uintptr_t)name;
    for (size_t i = 0; i < message->output.count; i++) {
        ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, message->output.items[i]);
        if (symbol)
            LN_TRY(ln_onnx_name_made(b, symbol));
    }
    return LN_OK;
}

// ---- Tensors by their positions ----

static size_t count_real(const ln_arg_info *infos, int *out_is_variadic)
{
    size_t count = 0;
    *out_is_variadic = 0;
    for (; infos && infos[count].arg_name && !(infos[count].flags & LN_ARG_ATTRIBUTE); count++)
        *out_is_variadic = (infos[count].flags & LN_ARG_VARIADIC) != 0;
    return count;
}

// The argument at a position, and its name: "x", or "x3" of a variadic one.
static ln_status name_arg(ln_onnx_builder *b, const ln_arg_info *infos, size_t position,
                          const ln_arg_info **out_info, const char **out_name)
{
    int is_variadic;
    size_t count = count_real(infos, &is_variadic);
    int is_last = is_variadic && position + 1 >= count;
    const ln_arg_info *info = &infos[is_last ? count - 1 : position];
    *out_info = info;
    *out_name = info->arg_name;
    if (!is_last)
        return LN_OK;
    char name[LN_MAX_NAME_LEN];
    int len = snprintf(name, sizeof name, "%.400s%zu", info->arg_name, position + 2 - count);
    *out_name = ln_onnx_arena_text(&ln_onnx_top(b)->node_arena, name, (size_t)len);
    return *out_name ? LN_OK : ln_error_status();
}

static ln_status check_arity(ln_onnx_builder *b, const ln_onnx_list *given,
                             const ln_arg_info *infos, const char *what)
{
    int is_variadic;
    size_t count = count_real(infos, &is_variadic);
    if (given->count > count && !is_variadic)
        return ln_onnx_problem(b, NULL, "it has %zu %s; the operator has at most %zu", given->count,
                               what, count);
    if (given->count > LN_ONNX_MAX_ARGS)
        return ln_onnx_problem(b, NULL, "it has %zu %s; at most %d are supported", given->count,
                               what, LN_ONNX_MAX_ARGS);
    return LN_OK;
}

// The lengths of the sequences in Scan 8 come first among its variadic inputs, and may be absent.
static int is_scan_lengths(const ln_onnx_current *node, size_t position)
{
    return position == 0 && node->since == 8 && strcmp(node->optype, "Scan") == 0;
}

static ln_status add_input(ln_onnx_builder *b, size_t position, ln_onnx_bytes name)
{
    const ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_arg_info *info;
    const char *arg_name, *tensor = NULL;
    LN_TRY(name_arg(b, frame->node.info->ins, position, &info, &arg_name));
    if (name.len > 0) {
        ln_status status = ln_onnx_resolve(b, b->depth - 1, name, &tensor);
        if (status == LN_NOT_FOUND)
            return ln_onnx_problem(b, NULL, "it reads '%.*s', which nothing makes",
                                   LN_ONNX_NAME(name));
        LN_TRY(status);
    }
    if (tensor)
        return ln_onnx_add_arg(b, &b->ins, arg_name, tensor);
    int is_optional = info->flags & LN_ARG_OPTIONAL && !(info->flags & LN_ARG_VARIADIC);
    if (is_optional || is_scan_lengths(&frame->node, position))
        return LN_OK;
    return ln_onnx_problem(b, NULL, "its input '%s' is missing", arg_name);
}

static ln_status add_inputs(ln_onnx_builder *b)
{
    const ln_onnx_current *node = &ln_onnx_top(b)->node;
    const ln_onnx_list *inputs = &node->message.input;
    LN_TRY(check_arity(b, inputs, node->info->ins, "inputs"));
    if (node->is_bad)
        return LN_OK;
    size_t i = 0;
    for (; i < inputs->count; i++)
        LN_TRY(add_input(b, i, inputs->items[i]));
    int is_variadic;
    size_t count = count_real(node->info->ins, &is_variadic);
    for (; i < count; i++) {
        if (!(node->info->ins[i].flags & LN_ARG_OPTIONAL))
            return ln_onnx_problem(b, NULL, "its input '%s' is missing",
                                   node->info->ins[i].arg_name);
    }
    return LN_OK;
}

static ln_status add_output(ln_onnx_builder *b, size_t position, ln_onnx_bytes name, int is_needed)
{
    const ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_arg_info *info;
    const char *arg_name, *tensor = NULL;
    LN_TRY(name_arg(b, frame->node.info->outs, position, &info, &arg_name));
    const ln_onnx_symbol *symbol = ln_onnx_scope_find(&frame->scope, name);
    int may_go = info->flags & LN_ARG_OPTIONAL && !(info->flags & LN_ARG_VARIADIC);
    if (may_go && !is_needed && (!symbol || !symbol->is_read))
        return LN_OK;
    if (symbol)
        tensor = symbol->tensor;
    else
        LN_TRY(ln_onnx_claim(b, b->tensors, frame->node.name, &tensor));
    return ln_onnx_add_arg(b, &b->outs, arg_name, tensor);
}

static ln_status add_outputs(ln_onnx_builder *b)
{
    const ln_onnx_current *node = &ln_onnx_top(b)->node;
    const ln_onnx_list *outputs = &node->message.output;
    LN_TRY(check_arity(b, outputs, node->info->outs, "outputs"));
    if (node->is_bad)
        return LN_OK;
    for (size_t i = 0; i < outputs->count; i++)
        LN_TRY(add_output(b, i, outputs->items[i], 0));
    // An operator without outputs would be one that is run for something else.
    if (outputs->count > 0 && b->outs.count == 0)
        LN_TRY(add_output(b, 0, outputs->items[0], 1));
    // What the file leaves out at the end is made all the same where the operator must.
    int is_variadic;
    size_t count = count_real(node->info->outs, &is_variadic);
    for (size_t i = outputs->count; i < count; i++) {
        if (!(node->info->outs[i].flags & LN_ARG_OPTIONAL))
            LN_TRY(add_output(b, i, (ln_onnx_bytes){0}, 1));
    }
    return LN_OK;
}

static ln_status add_captured(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    for (size_t i = 0; i < frame->node.captured_count; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "capture%zu", i + 1);
        const char *arg_name = ln_onnx_arena_text(&frame->node_arena, name, (size_t)len);
        if (!arg_name)
            return ln_error_status();
        LN_TRY(ln_onnx_add_arg(b, &b->ins, arg_name, frame->node.captured[i]));
    }
    return LN_OK;
}

// ---- A node ----

static ln_status find_function(ln_onnx_builder *b, const ln_onnx_function_entry **out_function)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    const ln_onnx_node *node = &frame->node.message;
    *out_function = NULL;
    if (ln_hash_size(b->functions) == 0)
        return LN_OK;
    const char *key;
    LN_TRY(ln_onnx_function_key(&frame->node_arena, node->domain, node->op_type, node->overload,
                                &key));
    *out_function = ln_hash_find(b->functions, key);
    return LN_OK;
}

static ln_status count_node(ln_onnx_builder *b)
{
    const ln_onnx_current *node = &ln_onnx_top(b)->node;
    char type[300];
    ln_onnx_bytes domain = node->message.domain;
    int is_default = find_domain(domain) == &domains[0];
    snprintf(type, sizeof type, "%.*s%s%.*s", is_default ? 0 : LN_ONNX_NAME(domain),
             is_default ? "" : ":", LN_ONNX_NAME(node->message.op_type));
    return ln_preflight_count_node(b->report, type, node->is_bad);
}

// Ends work on the node of the topmost frame.
static void close_node(ln_onnx_frame *frame)
{
    frame->has_node = 0;
    ln_onnx_arena_reset(&frame->node_arena);
}

static ln_status add_node(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    ln_onnx_current *node = &frame->node;
    ln_list *params = NULL;
    b->ins.count = b->outs.count = 0;
    ln_status status = add_inputs(b);
    if (status == LN_OK)
        status = add_outputs(b);
    if (status == LN_OK)
        status = ln_onnx_add_given(b, &params);
    if (status == LN_OK)
        status = add_captured(b);
    if (status == LN_OK && node->since)
        status = ln_onnx_param_number(&params, "since", node->since);
    if (status != LN_OK || node->is_bad) {
        ln_param_list_free(params);
        b->ins.count = b->outs.count = 0;
        return status;
    }
    return ln_onnx_add_op(b, frame->ctx, node->name, node->optype, params, node->at);
}

ln_status ln_onnx_finish_node(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    if (frame->node.info)
        LN_TRY(add_node(b));
    if (!frame->node.is_call)
        LN_TRY(count_node(b));
    close_node(frame);
    return LN_OK;
}

static ln_status charge_node(ln_onnx_builder *b, const uint8_t *at)
{
    if (b->nodes_left == 0)
        return ln_onnx_fail(b->source, at, LN_LIMIT,
                            "with its functions the model has more nodes than are allowed for a "
                            "file of its size, or than op_count");
    b->nodes_left--;
    return LN_OK;
}

ln_status ln_onnx_begin_node(ln_onnx_builder *b)
{
    ln_onnx_frame *frame = ln_onnx_top(b);
    size_t index = frame->order ? frame->order[frame->next] : frame->next;
    frame->next++;
    ln_onnx_bytes message = frame->nodes.items[index];
    frame->node = (ln_onnx_current){.at = message.at, .index = (uint32_t)index};
    ln_onnx_current *node = &frame->node;
    LN_TRY(charge_node(b, message.at));
    LN_TRY(ln_onnx_decode(LN_ONNX_NODE, message, &frame->node_arena, &node->message));
    node->opset = ln_onnx_opset_of(frame, node->message.domain);
    LN_TRY(name_node(b));
    LN_TRY(ln_onnx_read_given(b));
    frame->has_node = 1;
    if (node->is_bad)
        return LN_OK;
    const ln_onnx_function_entry *function;
    LN_TRY(find_function(b, &function));
    node->is_call = function != NULL;
    if (function)
        return ln_onnx_push_function(b, function);
    return ln_onnx_node_is_constant(&node->message) ? ln_onnx_make_constant(b) : find_type(b);
}
