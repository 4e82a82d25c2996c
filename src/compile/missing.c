// SPDX-License-Identifier: Apache-2.0
// What a model takes from a data file, and has nothing for without one.

#include <lightnet/context.h>

#include "ir/context.h"
#include "ir/fill.h"

// The name after `*left` others among the outputs of operators of this graph; NULL: there is none.
static const char *find_in_graph(const ln_context *ctx, size_t *left)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!ln_op_is_from_file(op))
            continue;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, out->name);
            if (entry && !entry->attached && (*left)-- == 0)
                return entry->name;
        }
    }
    return NULL;
}

typedef struct search {
    size_t left;
    const char *found;
} search;

static ln_status search_graph(ln_context *graph, void *user)
{
    search *s = user;
    if (!s->found)
        s->found = find_in_graph(graph, &s->left);
    return LN_OK;
}

const char *ln_context_missing(const ln_context *ctx, size_t index)
{
    if (!ctx || ctx->state < LN_CONTEXT_READY || ctx->weights)
        return NULL;
    search s = {.left = index};
    s.found = find_in_graph(ctx, &s.left);
    if (!s.found)
        (void)ln_context_each_graph(ctx, search_graph, &s);
    return s.found;
}
