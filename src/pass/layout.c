// SPDX-License-Identifier: Apache-2.0
// Layout: convolution stacks are computed on channels-last images, [N, H, W, C].
//
// One walk in the order of execution. A convolution or pooling becomes its NHWC counterpart,
// between transposes; what follows it element by element, or joins and parts channels, is done on
// the NHWC forms as well. So transposes stay only where a stack begins and ends, or where an
// operator has no channels-last form. Those that nobody reads in the end go.
//
// How operators are rewritten is in the tables of the arch, and in those of layout_ops.c.

#include "pass/pass.h"
#include "pass/place.h"

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "pass/firing.h"
#include "pass/layout_build.h"

// ---- Rewriting ----

static bool is_read(const ln_context *ctx, const ln_op *op)
{
    const ln_graph_node *node = ln_hash_find(ctx->dfg->node_table, op->op_arg->name);
    return node && node->out_edge_nodes;
}

static ln_status note(ln_hash *droppable, const ln_op *op)
{
    char *name = ln_strdup(op->op_arg->name);
    if (name && ln_hash_insert(droppable, name, name) >= 0)
        return LN_OK;
    ln_free(name);
    return LN_NO_MEMORY;
}

// A transpose, or view of one, may be dropped later only if its image was no output of the model:
// the new operators are `count` neighbours from `first` on.
static ln_status note_droppable(ln_hash *droppable, const ln_list *first, int count)
{
    for (const ln_list *l = first; count-- > 0; l = l->next) {
        const ln_op *op = l->data;
        if (ln_streq(op->op_arg->optype, "transpose") || ln_streq(op->op_arg->optype, "reshape"))
            LN_TRY(note(droppable, op));
    }
    return LN_OK;
}

// After a rewrite *position is the last of the new operators.
static ln_status exchange(ln_compilation *compilation, ln_layout_build *build, ln_list **position,
                          ln_hash *droppable)
{
    ln_context *ctx = compilation->ctx;
    bool was_read = is_read(ctx, build->op);
    int new_count = ln_list_length(build->new_ops);
    LN_TRY(ln_context_replace_ops(ctx, position, 1, build->new_ops));
    build->new_ops = NULL;
    const ln_list *first = *position;
    for (size_t i = 0; i < 2 && build->bypassed[i]; i++)
        LN_TRY(note(droppable, build->bypassed[i]));
    for (int i = 1; i < new_count; i++)
        *position = (*position)->next;
    return was_read ? note_droppable(droppable, first, new_count) : LN_OK;
}

// Transposes that the model has itself, such as of images that are channels-last outside: what
// reads their result may come to read what they read.
static ln_status note_transposes(ln_hash *droppable, const ln_context *ctx)
{
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (ln_streq(op->op_arg->optype, "transpose") && is_read(ctx, op))
            LN_TRY(note(droppable, op));
    }
    return LN_OK;
}

static ln_status visit(ln_compilation *compilation, ln_list **position, ln_hash *nhwc_names,
                       ln_hash *droppable)
{
    ln_op *op = (*position)->data;
    const ln_layout_op *how =
        ln_layout_op_find(ln_compilation_host(compilation), op->op_arg->optype);
    ln_layout_build build = {.ctx = compilation->ctx,
                             .op = op,
                             .nhwc_names = nhwc_names,
                             .avoids_winograd =
                                 compilation->options && compilation->options->avoids_winograd};
    if (!how || !how->fits(&build))
        return LN_OK;
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass("channels_last", NULL, op, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    ln_status status = how->rewrite(&build);
    if (status == LN_OK)
        status = exchange(compilation, &build, position, droppable);
    ln_op_list_free_lists_too(build.new_ops);
    return ln_firing_done(compilation, &firing, status);
}

// ---- What nobody reads any more ----

// From the last to the first: when one goes, its NHWC form's transpose may follow.
static ln_status drop_unread(ln_context *ctx, const ln_hash *droppable)
{
    size_t count = (size_t)ln_list_length(ctx->ops), i = 0;
    ln_list **positions = ln_alloc_array(count + 1, sizeof *positions);
    if (!positions)
        return LN_NO_MEMORY;
    for (ln_list *l = ctx->ops; l; l = l->next)
        positions[i++] = l;
    ln_status status = LN_OK;
    while (i > 0 && status == LN_OK) {
        ln_list *position = positions[--i];
        const ln_op *op = position->data;
        if (ln_hash_find(droppable, op->op_arg->name) && !is_read(ctx, op))
            status = ln_context_remove_op(ctx, &position);
    }
    ln_free(positions);
    return status;
}

// ---- The pass ----

ln_status ln_pass_layout(ln_compilation *compilation)
{
    if (!ln_compilation_host(compilation)->is_channels_last)
        return LN_OK;
    ln_hash *nhwc_names = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, ln_free);
    ln_hash *droppable = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status = nhwc_names && droppable ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = note_transposes(droppable, compilation->ctx);
    ln_list *position = compilation->ctx->ops;
    while (position && status == LN_OK) {
        status = visit(compilation, &position, nhwc_names, droppable);
        if (status == LN_OK)
            position = position->next;
    }
    if (status == LN_OK)
        status = drop_unread(compilation->ctx, droppable);
    ln_hash_free(nhwc_names);
    ln_hash_free(droppable);
    return status;
}
