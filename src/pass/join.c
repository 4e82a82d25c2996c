// SPDX-License-Identifier: Apache-2.0
// Join: parts of a concat of channels are written where the whole will be, and parts of an image
// are read where they lie, so that neither is copied.
//
// Channels of a channels-last image are no row of neighbours, so this is not a matter of places in
// memory but of operators: some read a window of their input's channels (`src_first`), and write
// into one of a wider image (`into`, `dst_first`). A concat becomes a chain of versions of the
// whole; each operator that makes a part makes the next version, which memory planning lays over
// the one before. Readers of a part read its window of the newest version there is when they run.
//
//     a = conv(x)                          v1 = conv(x | dst_channels=96)
//     b = conv(y)               =>         y  = conv2d_nhwc over v1's window instead of `a`
//     y = concat(a, b)                     y  = conv(y, into=v1 | dst_first=64)
//
// A concat inside a concat is the same whole. What cannot be written in place is copied into it.

#include "pass/join.h"

#include <stdint.h>

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "base/name_hash.h"
#include "ir/context.h"
#include "pass/firing.h"
#include "pass/pass.h"
#include "pass/place.h"
#include "pass/predicates.h"

// ---- Joining ----

static ln_status exchange(ln_join *j)
{
    ln_list_builder old_ops = {0}, new_ops = {0};
    ln_status status = LN_OK;
    for (size_t i = 0; i < j->old_count && status == LN_OK; i++)
        status = ln_list_builder_push(&old_ops, (void *)(uintptr_t)j->old_ops[i]);
    for (size_t i = 0; i < j->new_count && status == LN_OK; i++)
        status = ln_list_builder_push(&new_ops, j->new_ops[i]);
    if (status == LN_OK)
        status = ln_context_subgraph(j->ctx, old_ops.list, new_ops.list);
    if (status == LN_OK)
        j->new_count = 0; // they are the context's now
    ln_list_free(old_ops.list);
    ln_list_free(new_ops.list);
    return status;
}

static ln_status fire(ln_compilation *compilation, ln_join *j, const char *rule,
                      ln_status (*build_new)(ln_join *j))
{
    ln_firing_names names;
    ln_firing firing = ln_firing_of_pass(rule, NULL, j->concat, &names);
    bool fires;
    LN_TRY(ln_firing_decide(compilation, &firing, &fires));
    if (!fires)
        return LN_OK;
    ln_status status = build_new(j);
    if (status == LN_OK && !j->is_too_large)
        status = exchange(j);
    return ln_firing_done(compilation, &firing, status);
}

static void deinit(ln_join *j)
{
    for (size_t i = 0; i < j->new_count; i++)
        ln_op_free_lists_too(j->new_ops[i]);
    for (size_t i = 0; i < LN_JOIN_MAX_PIECES; i++)
        ln_free(j->versions[i]);
    ln_free(j);
}

// ---- Slices of what is no part of a whole ----

static bool can_be_window(const ln_join *j)
{
    return ln_join_are_readers_able(j, ln_join_first_out(j->concat), 1);
}

// Bytes that stay in a cache are copied as fast as windows are written, and the whole would be
// there earlier than the copies.
static bool is_worthwhile(const ln_join *j)
{
    const char *whole = ln_join_first_out(j->concat);
    const ln_expr_value args = {.kind = LN_RULE_NAME, .tensors = &whole, .count = 1};
    return ln_join_find(j, whole)->tensor->dtype == TL_FLOAT ||
           ln_predicate_outgrows_small_cache(j->ctx, &args);
}

static ln_status try_at(ln_compilation *compilation, ln_join *j)
{
    if (ln_join_is_along_channels(j, j->concat, "slice"))
        return can_be_window(j) ? fire(compilation, j, "window", ln_join_build_window) : LN_OK;
    if (!is_worthwhile(j))
        return LN_OK;
    LN_TRY(ln_join_find_pieces(j));
    if (j->is_too_large || ln_join_is_any_of_inner(j) || !ln_join_find_makers(j))
        return LN_OK;
    return fire(compilation, j, "join", ln_join_build);
}

// `op` is a concat or a slice, of channels or of anything else.
static ln_status try_join(ln_compilation *compilation, const ln_op *op, ln_hash *positions)
{
    ln_join *j = ln_alloc(sizeof *j);
    if (!j)
        return LN_NO_MEMORY;
    *j = (ln_join){.ctx = compilation->ctx, .positions = positions, .concat = op};
    ln_status status = LN_OK;
    if ((ln_join_is_along_channels(j, op, "concat") || ln_join_is_along_channels(j, op, "slice")) &&
        ln_join_position_of(j, op) != 0)
        status = try_at(compilation, j);
    deinit(j);
    return status;
}

// ---- The pass ----

// Names of concats and slices, each from the last to the first: a concat that is part of another
// goes with it, and what slices are left is seen when the concats are done.
static ln_status find_names(const ln_context *ctx, ln_hash *positions, ln_list **out_concats,
                            ln_list **out_slices)
{
    size_t position = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        const ln_op_arg *arg = ((const ln_op *)l->data)->op_arg;
        char *name = ln_strdup(arg->name);
        if (!name || ln_hash_insert(positions, name, (void *)++position) < 0) {
            ln_free(name);
            return LN_NO_MEMORY;
        }
        if (ln_streq(arg->optype, "concat"))
            LN_TRY(ln_list_push_front(out_concats, name));
        else if (ln_streq(arg->optype, "slice"))
            LN_TRY(ln_list_push_front(out_slices, name));
    }
    return LN_OK;
}

static ln_status try_all(ln_compilation *compilation, const ln_list *names, ln_hash *positions)
{
    for (const ln_list *l = names; l; l = l->next) {
        const ln_op *op = ln_op_table_find(compilation->ctx->op_table, l->data);
        if (op)
            LN_TRY(try_join(compilation, op, positions));
    }
    return LN_OK;
}

ln_status ln_pass_join(ln_compilation *compilation)
{
    if (!ln_compilation_host(compilation)->is_channels_last)
        return LN_OK;
    ln_list *concats = NULL, *slices = NULL;
    ln_hash *positions = ln_hash_create(ln_name_hash, ln_str_cmp, ln_free, NULL);
    ln_status status =
        positions ? find_names(compilation->ctx, positions, &concats, &slices) : LN_NO_MEMORY;
    if (status == LN_OK)
        status = try_all(compilation, concats, positions);
    if (status == LN_OK)
        status = try_all(compilation, slices, positions);
    ln_list_free(concats);
    ln_list_free(slices);
    ln_hash_free(positions);
    return status;
}
