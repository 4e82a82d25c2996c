// SPDX-License-Identifier: Apache-2.0
// Symbols in a hash table, and what they and the bodies of nodes read.
//
// A body reads a value of the graph around it when neither it nor a body between makes a value of
// that name. Bodies inside bodies are walked as a list, each with a pointer to the one around it.

#include "serial/onnx/scope.h"

#include <string.h>

#include "base/name_hash.h"
#include "serial/onnx/order.h"
#include "serial/onnx/tensor.h"

// ---- Names ----

const char *ln_onnx_name_fault(ln_onnx_bytes name)
{
    if (name.len == 0)
        return "is empty";
    if (name.len >= LN_MAX_NAME_LEN)
        return "has 512 bytes or more";
    for (size_t i = 0; i < name.len;) {
        uint8_t c = name.at[i];
        if (c < ' ' || c == 0x7f)
            return "has a control character";
        size_t len = ln_onnx_utf8_len(name.at + i, name.len - i);
        if (len == 0)
            return "is not UTF-8";
        i += len;
    }
    return NULL;
}

// ---- Symbols ----

ln_status ln_onnx_scope_init(ln_onnx_scope *scope, const ln_onnx_source *source,
                             ln_onnx_arena *arena)
{
    *scope = (ln_onnx_scope){.source = source, .arena = arena};
    scope->symbols = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    return scope->symbols ? LN_OK : LN_NO_MEMORY;
}

void ln_onnx_scope_deinit(ln_onnx_scope *scope)
{
    ln_hash_free(scope->symbols);
    scope->symbols = NULL;
}

ln_onnx_symbol *ln_onnx_scope_find(const ln_onnx_scope *scope, ln_onnx_bytes name)
{
    char text[LN_MAX_NAME_LEN];
    if (name.len == 0 || name.len >= sizeof text || memchr(name.at, '\0', name.len))
        return NULL;
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    return ln_hash_find(scope->symbols, text);
}

ln_status ln_onnx_scope_add(ln_onnx_scope *scope, ln_onnx_bytes name, ln_onnx_symbol_kind kind,
                            ln_onnx_symbol **out_symbol)
{
    const char *fault = ln_onnx_name_fault(name);
    if (fault)
        return ln_onnx_fail(scope->source, name.at, LN_INVALID, "the name '%.*s' %s",
                            LN_ONNX_NAME(name), fault);
    if (ln_onnx_scope_find(scope, name))
        return ln_onnx_fail(scope->source, name.at, LN_INVALID,
                            "the name '%.*s' is made a second time", LN_ONNX_NAME(name));
    ln_onnx_symbol *symbol = ln_onnx_arena_take(scope->arena, 1, sizeof *symbol);
    if (!symbol)
        return ln_error_status();
    symbol->name = ln_onnx_arena_text(scope->arena, name.at, name.len);
    symbol->kind = kind;
    if (!symbol->name || ln_hash_insert(scope->symbols, symbol->name, symbol) < 0)
        return ln_error_status();
    *out_symbol = symbol;
    return LN_OK;
}

// An input that has a default is no constant that could be stated again.
static bool is_stated(const ln_onnx_symbol *symbol)
{
    return !symbol->is_input && (symbol->is_constant || symbol->kind == LN_SYMBOL_INITIALIZER ||
                                 symbol->kind == LN_SYMBOL_SPARSE);
}

ln_status ln_onnx_scope_add_constant(ln_onnx_scope *scope, ln_onnx_bytes name,
                                     ln_onnx_symbol_kind kind, ln_onnx_symbol **out_symbol)
{
    ln_onnx_symbol *before = ln_onnx_scope_find(scope, name);
    if (before && is_stated(before)) {
        LN_TRY(ln_onnx_tolerate(scope->source, name.at, "its last value is used",
                                "the constant '%.*s' is defined twice", LN_ONNX_NAME(name)));
        before->kind = kind;
        *out_symbol = before;
    } else {
        LN_TRY(ln_onnx_scope_add(scope, name, kind, out_symbol));
    }
    (*out_symbol)->is_constant = true;
    return LN_OK;
}

bool ln_onnx_node_is_constant(const ln_onnx_node *node)
{
    static const char onnx[] = "ai.onnx", constant[] = "Constant";
    bool is_onnx = node->domain.len == 0 || (node->domain.len == sizeof onnx - 1 &&
                                             memcmp(node->domain.at, onnx, sizeof onnx - 1) == 0);
    return is_onnx && node->op_type.len == sizeof constant - 1 &&
           memcmp(node->op_type.at, constant, sizeof constant - 1) == 0;
}

// ---- What nodes read ----

// A body of a node, or a body inside of it.
typedef struct body {
    struct body *next;
    struct body *around; // NULL: the node's own
    ln_onnx_graph graph;
    ln_hash *made; // names; values are not used
} body;

typedef struct walk {
    ln_onnx_scope *scope;
    ln_onnx_arena arena; // of the node that is looked at
    ln_onnx_order *order;
    uint32_t node;
    body *first, *last;
} walk;

static ln_status note_read(walk *w, ln_onnx_bytes name)
{
    ln_onnx_symbol *symbol = ln_onnx_scope_find(w->scope, name);
    if (!symbol)
        return LN_OK; // of a graph around, or nobody's, which is told where it is read
    symbol->is_read = true;
    return symbol->kind == LN_SYMBOL_MADE ? ln_onnx_order_need(w->order, w->node, symbol->node)
                                          : LN_OK;
}

static ln_status add_made(walk *w, body *b, ln_onnx_bytes name)
{
    if (name.len == 0)
        return LN_OK;
    LN_TRY(ln_onnx_escape(&w->arena, &name));
    const char *text = ln_onnx_arena_text(&w->arena, name.at, name.len);
    return text && ln_hash_insert(b->made, text, b) >= 0 ? LN_OK : ln_error_status();
}

static ln_status list_made(walk *w, body *b)
{
    for (size_t i = 0; i < b->graph.input.count; i++) {
        ln_onnx_value_info info;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, b->graph.input.items[i], &w->arena, &info));
        LN_TRY(add_made(w, b, info.name));
    }
    for (size_t i = 0; i < b->graph.initializer.count; i++)
        LN_TRY(add_made(w, b, ln_onnx_tensor_name(b->graph.initializer.items[i])));
    for (size_t i = 0; i < b->graph.sparse_initializer.count; i++)
        LN_TRY(add_made(w, b, ln_onnx_sparse_name(b->graph.sparse_initializer.items[i])));
    for (size_t i = 0; i < b->graph.node.count; i++) {
        ln_onnx_node node;
        LN_TRY(ln_onnx_decode(LN_ONNX_NODE, b->graph.node.items[i], &w->arena, &node));
        for (size_t o = 0; o < node.output.count; o++)
            LN_TRY(add_made(w, b, node.output.items[o]));
    }
    return LN_OK;
}

static ln_status add_body(walk *w, ln_onnx_bytes graph, body *around)
{
    body *b = ln_onnx_arena_take(&w->arena, 1, sizeof *b);
    if (!b)
        return ln_error_status();
    b->around = around;
    b->made = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    if (!b->made)
        return LN_NO_MEMORY;
    *(w->last ? &w->last->next : &w->first) = b;
    w->last = b;
    LN_TRY(ln_onnx_decode(LN_ONNX_GRAPH, graph, &w->arena, &b->graph));
    return list_made(w, b);
}

static ln_status add_bodies(walk *w, const ln_onnx_node *node, body *around)
{
    for (size_t i = 0; i < node->attribute.count; i++) {
        ln_onnx_attribute attribute;
        LN_TRY(ln_onnx_decode(LN_ONNX_ATTRIBUTE, node->attribute.items[i], &w->arena, &attribute));
        if (attribute.g.at)
            LN_TRY(add_body(w, attribute.g, around));
        for (size_t g = 0; g < attribute.graphs.count; g++)
            LN_TRY(add_body(w, attribute.graphs.items[g], around));
    }
    return LN_OK;
}

static ln_status note_free_read(walk *w, const body *b, ln_onnx_bytes name)
{
    char text[LN_MAX_NAME_LEN];
    if (name.len == 0 || name.len >= sizeof text || memchr(name.at, '\0', name.len))
        return LN_OK;
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    for (; b; b = b->around) {
        if (ln_hash_find(b->made, text))
            return LN_OK;
    }
    return note_read(w, name);
}

static ln_status note_body(walk *w, body *b)
{
    for (size_t i = 0; i < b->graph.node.count; i++) {
        ln_onnx_node node;
        LN_TRY(ln_onnx_decode(LN_ONNX_NODE, b->graph.node.items[i], &w->arena, &node));
        for (size_t in = 0; in < node.input.count; in++)
            LN_TRY(note_free_read(w, b, node.input.items[in]));
        LN_TRY(add_bodies(w, &node, b));
    }
    for (size_t i = 0; i < b->graph.output.count; i++) {
        ln_onnx_value_info info;
        LN_TRY(ln_onnx_decode(LN_ONNX_VALUE_INFO, b->graph.output.items[i], &w->arena, &info));
        LN_TRY(note_free_read(w, b, info.name));
    }
    return LN_OK;
}

static ln_status note_node(walk *w, const ln_onnx_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        LN_TRY(note_read(w, node->input.items[i]));
    LN_TRY(add_bodies(w, node, NULL));
    for (body *b = w->first; b; b = b->next) // which grows at its end on the way
        LN_TRY(note_body(w, b));
    return LN_OK;
}

static void forget_bodies(walk *w)
{
    for (body *b = w->first; b; b = b->next)
        ln_hash_free(b->made);
    w->first = w->last = NULL;
    ln_onnx_arena_reset(&w->arena);
}

static ln_status note_nodes(walk *w, const ln_onnx_list *nodes)
{
    ln_status status = LN_OK;
    for (size_t i = 0; i < nodes->count && status == LN_OK; i++) {
        ln_onnx_node node;
        w->node = (uint32_t)i;
        status = ln_onnx_decode(LN_ONNX_NODE, nodes->items[i], &w->arena, &node);
        if (status == LN_OK)
            status = note_node(w, &node);
        forget_bodies(w);
    }
    return status;
}

static ln_status add_outputs(walk *w, const ln_onnx_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        ln_onnx_node node;
        LN_TRY(ln_onnx_decode(LN_ONNX_NODE, nodes->items[i], &w->arena, &node));
        for (size_t o = 0; o < node.output.count; o++) {
            ln_onnx_symbol *symbol;
            if (node.output.items[o].len == 0)
                continue;
            LN_TRY(
                ln_onnx_node_is_constant(&node)
                    ? ln_onnx_scope_add_constant(w->scope, node.output.items[o], LN_SYMBOL_MADE,
                                                 &symbol)
                    : ln_onnx_scope_add(w->scope, node.output.items[o], LN_SYMBOL_MADE, &symbol));
            symbol->node = (uint32_t)i;
        }
        ln_onnx_arena_reset(&w->arena);
    }
    return LN_OK;
}

static ln_status fail_cycle(const walk *w, const ln_onnx_list *nodes, uint32_t at)
{
    ln_onnx_node node;
    ln_onnx_arena arena = {0};
    ln_status status = ln_onnx_decode(LN_ONNX_NODE, nodes->items[at], &arena, &node);
    ln_onnx_bytes name = {0};
    if (status == LN_OK)
        name = node.name.len ? node.name : node.op_type;
    if (status == LN_OK)
        status = ln_onnx_fail(w->scope->source, nodes->items[at].at, LN_INVALID,
                              "node '%.*s' waits for its own output: the graph has a cycle",
                              LN_ONNX_NAME(name));
    ln_onnx_arena_deinit(&arena);
    return status;
}

ln_status ln_onnx_scope_add_nodes(ln_onnx_scope *scope, const ln_onnx_list *nodes,
                                  const uint32_t **out_order)
{
    *out_order = NULL;
    if (nodes->count >= UINT32_MAX)
        return ln_onnx_fail(scope->source, NULL, LN_LIMIT, "%zu nodes are too many", nodes->count);
    ln_onnx_budget *budget = scope->arena->budget;
    ln_onnx_order order = {.arena = {.budget = budget}, .node_count = (uint32_t)nodes->count};
    walk w = {.scope = scope, .arena = {.budget = budget}, .order = &order};
    ln_status status = add_outputs(&w, nodes);
    if (status == LN_OK)
        status = note_nodes(&w, nodes);
    if (status == LN_OK) {
        uint32_t stuck = 0;
        status = ln_onnx_order_find(&order, scope->arena, out_order, &stuck);
        if (status == LN_INVALID)
            status = fail_cycle(&w, nodes, stuck);
    }
    ln_onnx_arena_deinit(&w.arena);
    ln_onnx_arena_deinit(&order.arena);
    return status;
}
