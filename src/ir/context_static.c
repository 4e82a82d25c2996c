// SPDX-License-Identifier: Apache-2.0
// Static operators compute from constants once, at load. When a constant changes afterwards, those
// that depend on it run again.
//
// A plan may let a static operator write over a constant that nobody else needs. That constant is
// spent then: an operator that reads it can only run again after it was set anew. So before
// anything is written, a walk finds which operators would run, and whether they can.
//
// What was only there while loading is made again for these operators, from what it came from.

#include "ir/context.h"

#include <stdbool.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/fill.h"
#include "ir/op_life.h"

// What a walk over the operators knows; the tables' keys are borrowed names.
typedef struct walk {
    ln_context *ctx;
    const ln_op *first; // runs again in any case; may be NULL
    ln_hash *changed;   // names of tensors whose bytes hold something new
    ln_hash *fresh;     // those that were themselves set, or are made again
    ln_hash *spent;     // those that another tensor was computed over
    ln_hash *needed;    // those that are gone since loading, and needed again
    ln_op **ops;        // in the order of the list
    bool *runs;         // of each: it runs again
    size_t op_count;
} walk;

// The name of the tensor in whose memory tensor `tname` is: its own, unless it is a view.
static const char *memory_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(ctx->tensor_table, tname);
    while (entry && entry->owner) {
        tname = entry->owner;
        entry = ln_tensor_table_find(ctx->tensor_table, tname);
    }
    return tname;
}

static ln_status add_name(ln_hash *names, const char *name)
{
    return ln_hash_insert(names, name, names) < 0 ? ln_error_status() : LN_OK;
}

static ln_status mark(walk *w, const char *tname)
{
    LN_TRY(add_name(w->fresh, tname));
    return add_name(w->changed, memory_of(w->ctx, tname));
}

// ---- Spent constants ----

static int is_over(const ln_context *ctx, const char *out, const char *in)
{
    const ln_tensor_entry *o = ln_tensor_table_find(ctx->tensor_table, out);
    const ln_tensor_entry *i = ln_tensor_table_find(ctx->tensor_table, in);
    return o && i && o->isstatic && tl_tensor_size(o->tensor) > 0 && o->tensor->data &&
           o->tensor->data == i->tensor->data && o->mtype == i->mtype;
}

static ln_status find_spent(walk *w)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, w->ctx->ops) {
        if (!op->static_run && !ln_op_is_constant(op))
            continue;
        const ln_tensor_list_entry *out, *in;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
                if (is_over(w->ctx, out->name, in->name))
                    LN_TRY(add_name(w->spent, in->name));
            }
        }
    }
    return LN_OK;
}

static ln_status check_inputs(const walk *w, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_hash_find(w->spent, in->name) && !ln_hash_find(w->fresh, in->name))
            return LN_FAIL(LN_STATE,
                           "operator '%s' would have to run again, but its constant '%s' was "
                           "overwritten by what was computed from it at load; set '%s' first, or "
                           "compile the model with its constants kept",
                           op->op_arg->name, in->name, in->name);
    }
    return LN_OK;
}

// ---- The walk ----

static int reads_any(const walk *w, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in) {
        if (ln_hash_find(w->changed, memory_of(w->ctx, in->name)))
            return 1;
    }
    return 0;
}

// Finds what depends on the marked tensors.
static ln_status find_dependents(walk *w)
{
    for (size_t k = 0; k < w->op_count; k++) {
        const ln_op *op = w->ops[k];
        if (op != w->first && !reads_any(w, op))
            continue;
        if (!op->static_run && !ln_op_is_constant(op))
            continue;
        w->runs[k] = true;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            LN_TRY(mark(w, out->name));
    }
    return LN_OK;
}

// ---- What is gone since loading ----

static int is_gone(const walk *w, const char *tname)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(w->ctx->tensor_table, tname);
    return entry && entry->is_load && !entry->tensor->data;
}

static int makes_needed(const walk *w, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (ln_hash_find(w->needed, out->name))
            return 1;
    }
    return 0;
}

// What has been computed over an output would be lost.
static ln_status check_outputs(const walk *w, const ln_op *op)
{
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
        if (ln_hash_find(w->spent, out->name))
            return LN_FAIL(LN_STATE,
                           "operator '%s' would have to run again, but its constant '%s' was "
                           "overwritten by what was computed from it at load",
                           op->op_arg->name, out->name);
    }
    return LN_OK;
}

// Backwards: who makes what is gone and needed runs again, too.
static ln_status find_makers(walk *w)
{
    for (size_t k = w->op_count; k-- > 0;) {
        const ln_op *op = w->ops[k];
        if (!w->runs[k] && makes_needed(w, op)) {
            LN_TRY(check_outputs(w, op));
            w->runs[k] = true;
        }
        const ln_tensor_list_entry *in;
        for (const ln_list *l = w->runs[k] ? op->op_arg->tensors_in : NULL; l; l = l->next) {
            in = l->data;
            if (is_gone(w, in->name))
                LN_TRY(add_name(w->needed, in->name));
        }
    }
    return LN_OK;
}

// ---- Running ----

static ln_status check_all_inputs(const walk *w)
{
    for (size_t k = 0; k < w->op_count; k++)
        if (w->runs[k])
            LN_TRY(check_inputs(w, w->ops[k]));
    return LN_OK;
}

static ln_status run_ops(const walk *w, ln_fill *fill)
{
    for (size_t k = 0; k < w->op_count; k++) {
        if (!w->runs[k])
            continue;
        if (makes_needed(w, w->ops[k]))
            LN_TRY(ln_fill_op(fill, w->ops[k]));
        LN_TRY(ln_op_run_static(w->ops[k]));
    }
    return LN_OK;
}

// `wanted` is copied to `data`, where it is not NULL.
static ln_status run_again(const walk *w, const char *wanted, void *data)
{
    ln_fill fill = {.ctx = w->ctx};
    ln_memory *memory;
    LN_TRY(ln_context_take_load_memory(w->ctx, &memory));
    ln_status status = run_ops(w, &fill);
    if (status == LN_OK && wanted && !ln_tensor_table_get_data(w->ctx->tensor_table, wanted, data))
        status = ln_error_status();
    ln_context_give_load_memory(w->ctx, memory);
    ln_fill_close(&fill);
    return status;
}

// ---- The whole ----

static ln_status list_ops(walk *w)
{
    w->op_count = (size_t)ln_list_length(w->ctx->ops);
    w->ops = ln_alloc_array(w->op_count, sizeof(ln_op *));
    w->runs = ln_alloc_array(w->op_count, sizeof *w->runs);
    if (!w->ops || !w->runs)
        return LN_NO_MEMORY;
    size_t k = 0;
    for (const ln_list *l = w->ctx->ops; l; l = l->next)
        w->ops[k++] = l->data;
    return LN_OK;
}

static ln_status walk_init(walk *w)
{
    ln_hash **tables[] = {&w->changed, &w->fresh, &w->spent, &w->needed};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        *tables[i] = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
        if (!*tables[i])
            return LN_NO_MEMORY;
    }
    LN_TRY(list_ops(w));
    return find_spent(w);
}

static void walk_deinit(walk *w)
{
    ln_hash_free(w->changed);
    ln_hash_free(w->fresh);
    ln_hash_free(w->spent);
    ln_hash_free(w->needed);
    ln_free(w->ops);
    ln_free(w->runs);
}

static ln_status walk_from(walk *w, const char *tname, bool is_trial)
{
    LN_TRY(walk_init(w));
    if (tname)
        LN_TRY(mark(w, tname));
    LN_TRY(find_dependents(w));
    LN_TRY(find_makers(w));
    LN_TRY(check_all_inputs(w));
    return is_trial ? LN_OK : run_again(w, NULL, NULL);
}

static ln_status walk_to(walk *w, const char *tname, void *data)
{
    LN_TRY(walk_init(w));
    LN_TRY(add_name(w->needed, tname));
    LN_TRY(find_makers(w));
    LN_TRY(check_all_inputs(w));
    return run_again(w, tname, data);
}

static ln_status walk_all(ln_context *ctx, const ln_op *first, const char *tname, bool is_trial)
{
    walk w = {.ctx = ctx, .first = first};
    ln_status status = walk_from(&w, tname, is_trial);
    walk_deinit(&w);
    return status;
}

static bool has_groups(const ln_context *ctx)
{
    return ctx->runner && ctx->runner->group_count > 0;
}

static ln_status prepare(ln_context *ctx, const ln_op *first, const char *tname)
{
    LN_TRY(walk_all(ctx, first, tname, true));
    if (has_groups(ctx))
        LN_TRY(ctx->runner->check_change(ctx, first, tname));
    return ln_context_own_static(ctx);
}

ln_status ln_context_prepare_static(ln_context *ctx, const char *tname)
{
    return prepare(ctx, NULL, tname);
}

ln_status ln_context_rerun_static(ln_context *ctx, const ln_op *first, const char *tname)
{
    LN_TRY(prepare(ctx, first, tname));
    ln_context_root(ctx)->constants_version++; // also if it fails half way
    LN_TRY(walk_all(ctx, first, tname, false));
    return has_groups(ctx) ? ctx->runner->rebuild(&ctx->runner, ctx) : LN_OK; // they have seen it
}

ln_status ln_context_remake(ln_context *ctx, const ln_tensor_entry *entry, void *data)
{
    walk w = {.ctx = ctx};
    LN_TRY(ln_context_own_static(ctx));
    ln_status status = walk_to(&w, entry->name, data);
    walk_deinit(&w);
    return status;
}
