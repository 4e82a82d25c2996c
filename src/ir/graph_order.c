// SPDX-License-Identifier: Apache-2.0
// A depth-first walk with a stack of its own: a file may nest graphs as deep as it likes.

#include "ir/graph_order.h"

#include <stdbool.h>

#include <lightnet/allocator.h>
#include <lightnet/hash.h>

#include "ir/context.h"

typedef struct visit {
    ln_named_graph graph;
    const ln_list *op;    // whose parameters are looked at
    const ln_list *param; // the next of them
} visit;

typedef struct walk {
    const ln_context *ctx;
    ln_hash *seen; // graphs that are on the stack or in the order
    visit *stack;
    size_t depth;
    ln_named_graph *order;
    size_t count;
} walk;

static const ln_list *params_of(const ln_list *op)
{
    return op ? ((const ln_op *)op->data)->op_arg->params : NULL;
}

// The next graph that the operators of the visited one name; its name is NULL after the last.
static ln_named_graph next_named(const ln_context *ctx, visit *v)
{
    while (v->op) {
        for (; v->param; v->param = v->param->next) {
            const ln_param_entry *param = v->param->data;
            ln_context *named = param->type == LN_PARAM_STRING
                                    ? ln_context_find_graph(ctx, param->value_string)
                                    : NULL;
            if (!named)
                continue;
            v->param = v->param->next;
            return (ln_named_graph){param->value_string, named};
        }
        v->op = v->op->next;
        v->param = params_of(v->op);
    }
    return (ln_named_graph){0};
}

static ln_status enter(walk *w, ln_named_graph named)
{
    ln_context *graph = named.graph;
    if (ln_hash_find(w->seen, graph))
        return LN_OK;
    if (ln_hash_insert(w->seen, graph, graph) < 0)
        return ln_error_status();
    w->stack[w->depth++] =
        (visit){.graph = named, .op = graph->ops, .param = params_of(graph->ops)};
    return LN_OK;
}

static ln_status walk_from(walk *w, ln_named_graph graph)
{
    LN_TRY(enter(w, graph));
    while (w->depth > 0) {
        visit *top = &w->stack[w->depth - 1];
        ln_named_graph named = next_named(w->ctx, top);
        if (named.graph) {
            LN_TRY(enter(w, named));
            continue;
        }
        w->order[w->count++] = top->graph;
        w->depth--;
    }
    return LN_OK;
}

static ln_status walk_all(walk *w, size_t graph_count)
{
    w->seen = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    w->stack = ln_alloc_array(graph_count, sizeof *w->stack);
    w->order = ln_alloc_array(graph_count, sizeof *w->order);
    if (!w->seen || !w->stack || !w->order)
        return LN_NO_MEMORY;
    size_t cursor = 0;
    const void *name;
    void *graph;
    while (ln_hash_next(w->ctx->graphs, &cursor, &name, &graph))
        LN_TRY(walk_from(w, (ln_named_graph){name, graph}));
    return LN_OK;
}

ln_status ln_graph_order_create(const ln_context *ctx, ln_named_graph **out_graphs,
                                size_t *out_count)
{
    *out_graphs = NULL;
    *out_count = 0;
    if (!ctx->graphs)
        return LN_OK;
    walk w = {.ctx = ctx};
    ln_status status = walk_all(&w, (size_t)ln_hash_size(ctx->graphs));
    ln_hash_free(w.seen);
    ln_free(w.stack);
    if (status != LN_OK) {
        ln_free(w.order);
        return status;
    }
    *out_graphs = w.order;
    *out_count = w.count;
    return LN_OK;
}
