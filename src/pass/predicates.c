// SPDX-License-Identifier: Apache-2.0
// Predicates over the tensor table and the data flow graph.

#include "pass/predicates.h"

#include <lightnet/shape.h>
#include <lightnet/util.h>

static const tl_tensor *find_tensor(const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, name);
    return entry ? entry->tensor : NULL;
}

// Stops at the second reader, so that a tensor with many readers costs no more than one with two.
const ln_op *ln_only_reader(const ln_context *ctx, const char *tensor, size_t *out_count)
{
    if (out_count)
        *out_count = 0;
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tensor);
    const ln_graph_node *node =
        entry && entry->creater ? ln_hash_find(ctx->dfg->node_table, entry->creater) : NULL;
    const ln_op *reader = NULL;
    for (const ln_list *l = node ? node->out_edge_nodes : NULL; l; l = l->next) {
        const ln_graph_edge_node *edge = l->data;
        if (!ln_streq(edge->edge_data, tensor))
            continue;
        if (reader && reader != edge->node->data)
            return NULL;
        reader = edge->node->data;
    }
    for (const ln_list *l = reader && out_count ? reader->op_arg->tensors_in : NULL; l; l = l->next)
        *out_count += (size_t)ln_streq(((const ln_tensor_list_entry *)l->data)->name, tensor);
    return reader;
}

bool ln_predicate_single_use(const ln_context *ctx, const ln_predicate_arg *args)
{
    size_t count;
    return ln_only_reader(ctx, args[0].tensor, &count) && count == 1;
}

bool ln_predicate_static(const ln_context *ctx, const ln_predicate_arg *args)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, args[0].tensor);
    return entry && entry->isstatic;
}

bool ln_predicate_dtype(const ln_context *ctx, const ln_predicate_arg *args)
{
    const tl_tensor *tensor = find_tensor(ctx, args[0].tensor);
    return tensor && ln_streq(tl_dtype_name(tensor->dtype), args[1].word);
}

bool ln_predicate_rank(const ln_context *ctx, const ln_predicate_arg *args)
{
    const tl_tensor *tensor = find_tensor(ctx, args[0].tensor);
    return tensor && tensor->ndim == args[1].number;
}

bool ln_predicate_same_shape(const ln_context *ctx, const ln_predicate_arg *args)
{
    const tl_tensor *a = find_tensor(ctx, args[0].tensor);
    const tl_tensor *b = find_tensor(ctx, args[1].tensor);
    if (!a || !b || a->ndim != b->ndim)
        return false;
    for (int axis = 0; axis < a->ndim; axis++)
        if (a->dims[axis] != b->dims[axis])
            return false;
    return true;
}

bool ln_predicate_holds(const ln_context *ctx, ln_rule_predicate predicate,
                        const ln_predicate_arg *args)
{
    static bool (*const functions[])(const ln_context *, const ln_predicate_arg *) = {
#define P(name, signature, meaning) ln_predicate_##name,
#include "desc/rule_predicates.inc"
#undef P
    };
    return functions[predicate](ctx, args);
}
