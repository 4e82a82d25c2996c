// SPDX-License-Identifier: Apache-2.0

#include "compat/ort/custom_function.h"

#include <stdlib.h>
#include <string.h>

// Calls: of a small model, and one more for each so many of its bytes.
#define FREE_CALLS   4096
#define BYTES_A_CALL 16

// ---- Attributes of functions ----

static int compare_bytes(ort_cursor a, ort_cursor b)
{
    size_t a_len = (size_t)(a.end - a.at), b_len = (size_t)(b.end - b.at);
    size_t len = a_len < b_len ? a_len : b_len;
    int order = len > 0 ? memcmp(a.at, b.at, len) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

// Of several messages of a field the one whose name is `name`; its `at` is NULL if there is none.
static ort_cursor find_attribute(ort_cursor message, uint64_t number, ort_cursor name)
{
    ort_field f;
    while (ort_read_field(&message, &f))
        if (f.number == number && f.wire == ORT_WIRE_BYTES &&
            compare_bytes(ort_find_bytes(f.bytes, LN_ONNX_attribute_name), name) == 0)
            return f.bytes;
    return (ort_cursor){NULL, NULL};
}

// What attribute `name` of the function is in a call: that of the call, which may refer to one of
// the function around it, or the function's default. Its `at` is NULL if the call leaves it out.
static ort_cursor find_referred(const ort_function_call *call, ort_cursor name)
{
    if (!call)
        return (ort_cursor){NULL, NULL};
    ort_cursor found = find_attribute(call->node, LN_ONNX_node_attribute, name);
    ort_cursor referred = ort_find_bytes(found, LN_ONNX_attribute_ref_attr_name);
    if (referred.at != referred.end)
        found = find_referred(call->around, referred);
    return found.at
               ? found
               : find_attribute(call->function->message, LN_ONNX_function_attribute_proto, name);
}

// The value of an attribute, under the name of the one that refers to it.
static void put_referred(ort_output *out, ort_cursor attribute, ort_cursor value)
{
    ort_output renamed = {0};
    ort_cursor name = ort_find_bytes(attribute, LN_ONNX_attribute_name);
    ort_field f;
    ort_put_bytes(&renamed, LN_ONNX_attribute_name, name.at, (size_t)(name.end - name.at));
    while (ort_read_field(&value, &f))
        if (f.number != LN_ONNX_attribute_name)
            ort_put(&renamed, f.first, (size_t)(value.at - f.first));
    ort_put_bytes(out, LN_ONNX_node_attribute, renamed.at, renamed.len);
    out->is_short = out->is_short || renamed.is_short;
    ln_free(renamed.at);
}

// The node, with the values of attributes that refer to those of a function around it.
void ort_put_resolved(ort_output *out, const ort_function_call *call, ort_cursor node)
{
    ort_field f;
    while (ort_read_field(&node, &f)) {
        bool is_attribute = f.number == LN_ONNX_node_attribute && f.wire == ORT_WIRE_BYTES;
        ort_cursor referred = {NULL, NULL};
        if (is_attribute)
            referred = ort_find_bytes(f.bytes, LN_ONNX_attribute_ref_attr_name);
        if (referred.at == referred.end) {
            ort_put(out, f.first, (size_t)(node.at - f.first));
            continue;
        }
        ort_cursor value = find_referred(call, referred);
        if (value.at)
            put_referred(out, f.bytes, value);
    }
}

// ---- Functions ----

static int compare_functions(const void *a, const void *b)
{
    const ort_function *x = a, *y = b;
    int order = compare_bytes(x->name, y->name);
    if (order == 0)
        order = compare_bytes(x->domain, y->domain);
    return order ? order : compare_bytes(x->overload, y->overload);
}

// "ai.onnx" is the domain without a name.
static ort_cursor known_domain(ort_cursor domain)
{
    return ort_is_default_domain(domain) ? (ort_cursor){NULL, NULL} : domain;
}

// The function that a node calls; NULL: it is a node of an operator.
static ort_function *find_function(const ort_functions *all, ort_cursor node)
{
    if (all->count == 0)
        return NULL;
    const ort_function wanted = {.name = ort_find_bytes(node, LN_ONNX_node_op_type),
                                 .domain = known_domain(ort_find_bytes(node, LN_ONNX_node_domain)),
                                 .overload = ort_find_bytes(node, LN_ONNX_node_overload)};
    return bsearch(&wanted, all->items, all->count, sizeof wanted, compare_functions);
}

// A function and one that calls it.
typedef struct call_edge {
    size_t called, caller;
} call_edge;

typedef struct call_edges {
    call_edge *items;
    size_t count, capacity;
    bool is_short; // of memory
} call_edges;

static void add_edge(call_edges *edges, size_t called, size_t caller)
{
    if (edges->count == edges->capacity) {
        size_t capacity = edges->capacity * 2 + 16;
        call_edge *items = ln_realloc(edges->items, capacity * sizeof *items);
        if (!items) {
            edges->is_short = true;
            return;
        }
        edges->items = items;
        edges->capacity = capacity;
    }
    edges->items[edges->count++] = (call_edge){called, caller};
}

static void look_at_nodes(ort_functions *all, call_edges *edges, ort_function *caller,
                          ort_cursor message, uint64_t node_field, int depth);

static void look_at_node(ort_functions *all, call_edges *edges, ort_function *caller,
                         ort_cursor node, int depth)
{
    const ort_function *called = find_function(all, node);
    ort_field f, part;
    if (ort_is_custom(all->customs, ort_find_bytes(node, LN_ONNX_node_domain),
                      ort_find_bytes(node, LN_ONNX_node_op_type)))
        caller->is_custom = true;
    else if (called)
        add_edge(edges, (size_t)(called - all->items), (size_t)(caller - all->items));
    while (ort_read_field(&node, &f)) {
        if (f.number != LN_ONNX_node_attribute || f.wire != ORT_WIRE_BYTES)
            continue;
        while (ort_read_field(&f.bytes, &part)) {
            bool is_graph =
                part.number == LN_ONNX_attribute_g || part.number == LN_ONNX_attribute_graphs;
            if (is_graph && part.wire == ORT_WIRE_BYTES)
                look_at_nodes(all, edges, caller, part.bytes, LN_ONNX_graph_node, depth + 1);
        }
    }
}

static void look_at_nodes(ort_functions *all, call_edges *edges, ort_function *caller,
                          ort_cursor message, uint64_t node_field, int depth)
{
    ort_field f;
    while (depth < ORT_MAX_DEPTH && ort_read_field(&message, &f))
        if (f.number == node_field && f.wire == ORT_WIRE_BYTES)
            look_at_node(all, edges, caller, f.bytes, depth);
}

static int compare_edges(const void *a, const void *b)
{
    size_t x = ((const call_edge *)a)->called, y = ((const call_edge *)b)->called;
    return (x > y) - (x < y);
}

// The first edge of function `called` or of a later one.
static size_t find_edge(const call_edges *edges, size_t called)
{
    size_t first = 0, end = edges->count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (edges->items[middle].called < called)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

// Upwards from functions with nodes of custom operators to all that call them.
static bool mark_callers(ort_functions *all, const call_edges *edges)
{
    size_t count = 0, *stack = ln_alloc_array(all->count + 1, sizeof *stack);
    if (!stack)
        return false;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].is_custom)
            stack[count++] = i;
    while (count > 0) {
        size_t called = stack[--count];
        for (size_t k = find_edge(edges, called);
             k < edges->count && edges->items[k].called == called; k++) {
            ort_function *caller = &all->items[edges->items[k].caller];
            if (caller->is_custom)
                continue;
            caller->is_custom = true;
            stack[count++] = edges->items[k].caller;
        }
    }
    ln_free(stack);
    return true;
}

static ort_status *mark_custom_functions(ort_functions *all)
{
    call_edges edges = {0};
    for (size_t i = 0; i < all->count; i++)
        look_at_nodes(all, &edges, &all->items[i], all->items[i].message, LN_ONNX_function_node, 0);
    if (edges.count > 0)
        qsort(edges.items, edges.count, sizeof *edges.items, compare_edges);
    bool is_marked = !edges.is_short && mark_callers(all, &edges);
    ln_free(edges.items);
    return is_marked ? NULL : ort_fail_memory();
}

ort_status *ort_functions_read(ort_functions *all, const ort_custom *customs, ort_cursor model)
{
    *all = (ort_functions){.customs = customs, .last = &all->first};
    all->max_calls = FREE_CALLS + (size_t)(model.end - model.at) / BYTES_A_CALL;
    size_t count = 0;
    ort_field f;
    for (ort_cursor c = model; ort_read_field(&c, &f);)
        count += f.number == LN_ONNX_model_functions && f.wire == ORT_WIRE_BYTES;
    all->items = ln_alloc_array(count + 1, sizeof *all->items);
    if (!all->items)
        return ort_fail_memory();
    while (ort_read_field(&model, &f)) {
        if (f.number != LN_ONNX_model_functions || f.wire != ORT_WIRE_BYTES)
            continue;
        all->items[all->count++] =
            (ort_function){.message = f.bytes,
                           .domain = known_domain(ort_find_bytes(f.bytes, LN_ONNX_function_domain)),
                           .name = ort_find_bytes(f.bytes, LN_ONNX_function_name),
                           .overload = ort_find_bytes(f.bytes, LN_ONNX_function_overload)};
    }
    if (all->count == 0)
        return NULL;
    qsort(all->items, all->count, sizeof *all->items, compare_functions);
    return mark_custom_functions(all);
}

// ---- Calls ----

// A function that calls itself, or calls too deep, is LightNet's to refuse: its call stays one of
// the function as the model has it.
static bool is_refused(const ort_function_call *around, const ort_function *function)
{
    if (around && around->depth == ORT_MAX_DEPTH)
        return true;
    while (around && around->function != function)
        around = around->around;
    return around != NULL;
}

ort_status *ort_functions_call(ort_functions *all, const ort_function_call *around, ort_cursor node,
                               const ort_function_call **out)
{
    const ort_function *function = find_function(all, node);
    *out = NULL;
    if (!function || !function->is_custom || is_refused(around, function))
        return NULL;
    if (all->call_count == all->max_calls)
        return ort_fail(ORT_INVALID_GRAPH,
                        "functions with custom operators are called more than %zu times",
                        all->max_calls);
    ort_function_call *call = ln_alloc(sizeof *call);
    if (!call)
        return ort_fail_memory();
    *call = (ort_function_call){.around = around,
                                .function = function,
                                .node = node,
                                .number = all->call_count++,
                                .depth = around ? around->depth + 1 : 1};
    *all->last = call;
    all->last = &call->next;
    *out = call;
    return NULL;
}

void ort_functions_clear(ort_functions *all)
{
    while (all->first) {
        ort_function_call *next = all->first->next;
        ln_free(all->first);
        all->first = next;
    }
    ln_free(all->items);
}
