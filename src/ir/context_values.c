// SPDX-License-Identifier: Apache-2.0
// What a context offers beyond its operators: inputs whose shapes are bound late, tensors that a
// model brings along, and graphs.

#include "ir/context.h"

#include <stdio.h>
#include <string.h>

#include <lightnet/allocator.h>
#include <lightnet/op_info.h>

#include "base/name_hash.h"
#include "ir/carried.h"

// ---- Shapes of inputs ----

int ln_context_input_is_open(const ln_context *ctx, size_t index)
{
    const ln_tensor_entry *entry = ln_context_input(ctx, index);
    return entry && entry->is_open;
}

static ln_op *find_input_op(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_op *op = entry ? ln_op_table_find(ctx->op_table, entry->creater) : NULL;
    return op && ln_op_is_type(op->op_arg, "input") ? op : NULL;
}

static ln_status check_ready(const ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state != LN_CONTEXT_READY)
        return LN_FAIL(LN_STATE, "shapes are bound after reading a model and before compiling it");
    return LN_OK;
}

static ln_status check_fits(const ln_op *op, const char *tname, int ndim, const int *dims)
{
    const ln_param_entry *stated = ln_param_list_find(op->op_arg->params, "dims");
    const ln_param_entry *open = ln_param_list_find(op->op_arg->params, "open");
    if (!stated || (open && open->value_bool))
        return LN_OK;
    int fits = stated->array_len == ndim;
    for (int d = 0; d < ndim && fits; d++)
        fits = stated->value_array_int[d] < 0 || stated->value_array_int[d] == dims[d];
    if (fits)
        return LN_OK;
    char wanted[128], given[128];
    ln_sprint_shape(wanted, sizeof wanted, stated->array_len, stated->value_array_int);
    ln_sprint_shape(given, sizeof given, ndim, dims);
    return LN_FAIL(LN_INVALID, "input '%s' has shape %s (-1: any), not %s", tname, wanted, given);
}

// Replaces parameter `bound` of an `input`.
static ln_status set_bound(ln_op *op, int ndim, const int *dims)
{
    ln_param_entry *bound = ln_param_list_find(op->op_arg->params, "bound");
    if (bound)
        return ln_param_set_satu_array_int(bound, ndim, dims);
    ln_list *params = ln_param_list_append_array_int(op->op_arg->params, "bound", ndim, dims);
    if (!ln_param_list_find(params, "bound"))
        return LN_NO_MEMORY;
    op->op_arg->params = params;
    return LN_OK;
}

ln_status ln_context_set_shape(ln_context *ctx, const char *tname, int ndim, const int *dims)
{
    LN_TRY(check_ready(ctx));
    if (!tname || (ndim > 0 && !dims))
        return LN_FAIL(LN_INVALID, "binding a shape needs a name and dimensions");
    int len;
    if (!tl_shape_len(ndim, dims, &len))
        return LN_FAIL(LN_INVALID, "input '%s': the shape has a negative dimension, more than %d, or "
                       "too many elements", tname, TL_MAXDIM);
    ln_op *op = find_input_op(ctx, tname);
    if (!op)
        return LN_FAIL(LN_NOT_FOUND, "the model has no input '%s'", tname);
    LN_TRY(check_fits(op, tname, ndim, dims));
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    const tl_tensor *now = entry->tensor;
    if (!entry->is_open && now->ndim == ndim &&
        (ndim == 0 || memcmp(now->dims, dims, (size_t)ndim * sizeof *dims) == 0))
        return LN_OK;
    LN_TRY(set_bound(op, ndim, dims));
    return ln_context_rerun_ops(ctx);
}

// ---- Symbols ----

static const char *symbol_at(const ln_op *op, int d)
{
    const ln_param_entry *names = ln_param_list_find(op->op_arg->params, "names");
    return names && d < names->array_len ? names->value_array_string[d] : NULL;
}

// The dimensions of an input as far as they are known; the rank, or -1 if that is not known.
static int dims_so_far(const ln_op *op, int dims[TL_MAXDIM])
{
    const ln_param_entry *stated = ln_param_list_find(op->op_arg->params, "bound");
    if (!stated)
        stated = ln_param_list_find(op->op_arg->params, "dims");
    const ln_param_entry *open = ln_param_list_find(op->op_arg->params, "open");
    if (!stated || (open && open->value_bool) || stated->array_len > TL_MAXDIM)
        return -1;
    for (int d = 0; d < stated->array_len; d++)
        dims[d] = stated->value_array_int[d];
    return stated->array_len;
}

static ln_status fail_unknown_symbol(const ln_context *ctx, const char *symbol)
{
    char known[512] = "";
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!ln_op_is_type(op->op_arg, "input"))
            continue;
        for (int d = 0; d < TL_MAXDIM; d++) {
            const char *name = symbol_at(op, d);
            size_t len = strlen(known);
            if (name && *name && !strstr(known, name))
                snprintf(known + len, sizeof known - len, "%s%s", len ? ", " : "", name);
        }
    }
    return LN_FAIL(LN_NOT_FOUND, "no input has a dimension '%s'; there are: %s", symbol,
                   known[0] ? known : "none");
}

ln_status ln_context_set_symbol(ln_context *ctx, const char *symbol, int dim)
{
    LN_TRY(check_ready(ctx));
    if (!symbol || !*symbol || dim < 0)
        return LN_FAIL(LN_INVALID, "binding a symbol needs a name and a dimension of 0 or more");
    int found = 0;
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        int dims[TL_MAXDIM];
        int ndim = ln_op_is_type(op->op_arg, "input") ? dims_so_far(op, dims) : -1;
        int has_symbol = 0;
        for (int d = 0; d < ndim; d++) {
            if (!ln_streq(symbol_at(op, d), symbol))
                continue;
            dims[d] = dim;
            has_symbol = 1;
        }
        if (!has_symbol)
            continue;
        found = 1;
        LN_TRY(set_bound(op, ndim, dims));
    }
    return found ? ln_context_rerun_ops(ctx) : fail_unknown_symbol(ctx, symbol);
}

// ---- Open tensors ----

size_t ln_context_open_peak(const ln_context *ctx)
{
    return ctx && ctx->meter ? ln_meter_peak(ctx->meter) : 0;
}

// ---- What readers add ----

static ln_status need_carried(ln_context *root)
{
    return root->carried ? LN_OK : ln_carried_create(&root->carried);
}

ln_status ln_context_carry(ln_context *ctx, const char *tname, tl_dtype dtype, int ndim,
                           const int *dims, const void *data)
{
    if (!ctx || !tname)
        return LN_FAIL(LN_INVALID, "a carried tensor needs a context and a name");
    ln_context *root = ln_context_root(ctx);
    LN_TRY(need_carried(root));
    return ln_carried_add(root->carried, tname, dtype, ndim, dims, data);
}

ln_status ln_context_keep(ln_context *ctx, void *block, void (*release)(void *block))
{
    ln_context *root = ctx ? ln_context_root(ctx) : NULL;
    ln_status status = root ? need_carried(root) : LN_INVALID;
    if (status == LN_OK)
        return ln_carried_keep(root->carried, block, release);
    release(block);
    return root ? status : LN_FAIL(LN_INVALID, "the context is NULL");
}

ln_status ln_context_keep_mapped(ln_context *ctx, const void *bytes, size_t byte_count)
{
    if (!ctx || !bytes)
        return LN_FAIL(LN_INVALID, "no context, or no bytes");
    ln_context *root = ln_context_root(ctx);
    LN_TRY(need_carried(root));
    return ln_carried_note_mapped(root->carried, bytes, byte_count);
}

// ---- Graphs ----

ln_context *ln_context_root(ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx;
}

ln_context *ln_context_find_graph(const ln_context *ctx, const char *name)
{
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx && ctx->graphs && name ? ln_hash_find(ctx->graphs, name) : NULL;
}

static void free_graph(void *graph)
{
    ln_context_free(graph);
}

ln_status ln_context_add_graph(ln_context *ctx, const char *name, ln_context **out_graph)
{
    *out_graph = NULL;
    if (!ctx || !name)
        return LN_FAIL(LN_INVALID, "a graph needs a context and a name");
    ln_context *root = ln_context_root(ctx);
    if (ln_context_find_graph(root, name))
        return LN_FAIL(LN_EXISTS, "there are two graphs named '%s'", name);
    if (!root->graphs)
        root->graphs = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, free_graph);
    if (!root->graphs)
        return LN_NO_MEMORY;
    char *key = ln_strdup(name);
    ln_context *graph = ln_context_create();
    if (!key || !graph || ln_hash_insert(root->graphs, key, graph) < 0) {
        ln_free(key);
        ln_context_free(graph);
        return LN_NO_MEMORY;
    }
    graph->outer = root;
    graph->limits = root->limits;
    *out_graph = graph;
    return LN_OK;
}

ln_status ln_context_each_graph(const ln_context *ctx,
                                ln_status (*function)(ln_context *graph, void *user), void *user)
{
    size_t cursor = 0;
    void *graph;
    while (ctx->graphs && ln_hash_next(ctx->graphs, &cursor, NULL, &graph))
        LN_TRY(function(graph, user));
    return LN_OK;
}
