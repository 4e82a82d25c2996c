// SPDX-License-Identifier: Apache-2.0
// Static operators compute from constants once, at load. When a constant changes afterwards, those
// that depend on it run again.
//
// A plan may let a static operator write over a constant that nobody else needs. That constant is
// spent then: an operator that reads it can only run again after it was set anew. So before
// anything is written, a walk finds which operators would run, and whether they can.

#include "ir/context.h"

#include <lightnet/allocator.h>

#include "base/name_hash.h"
#include "ir/op_life.h"

// What a walk over the operators knows; the tables' keys are borrowed names.
typedef struct walk {
    ln_context *ctx;
    const ln_op *first; // runs again in any case; may be NULL
    ln_hash *changed;   // names of tensors whose bytes hold something new
    ln_hash *fresh;     // those that were themselves set, or are made again
    ln_hash *spent;     // those that another tensor was computed over
} walk;

// The name of the tensor in whose memory tensor `tname` lies: its own, unless it is a view.
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
    return o && i && o->isstatic && tl_tensor_size(o->tensor) > 0 &&
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

// Runs what depends on the marked tensors, or only looks whether it could.
static ln_status walk_ops(walk *w, int is_trial)
{
    ln_op *op;
    LN_LIST_FOREACH (op, w->ctx->ops) {
        if (op != w->first && !reads_any(w, op))
            continue;
        if (!op->static_run && !ln_op_is_constant(op))
            continue;
        LN_TRY(check_inputs(w, op));
        if (!is_trial)
            LN_TRY(ln_op_run_static(op));
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out)
            LN_TRY(mark(w, out->name));
    }
    return LN_OK;
}

static ln_status walk_from(walk *w, const char *tname, int is_trial)
{
    w->changed = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    w->fresh = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    w->spent = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL);
    ln_status status = w->changed && w->fresh && w->spent ? LN_OK : LN_NO_MEMORY;
    if (status == LN_OK)
        status = find_spent(w);
    if (status == LN_OK && tname)
        status = mark(w, tname);
    if (status == LN_OK)
        status = walk_ops(w, is_trial);
    ln_hash_free(w->changed);
    ln_hash_free(w->fresh);
    ln_hash_free(w->spent);
    return status;
}

static ln_status prepare(ln_context *ctx, const ln_op *first, const char *tname)
{
    walk w = {.ctx = ctx, .first = first};
    LN_TRY(walk_from(&w, tname, 1));
    return ln_context_own_static(ctx);
}

ln_status ln_context_prepare_static(ln_context *ctx, const char *tname)
{
    return prepare(ctx, NULL, tname);
}

ln_status ln_context_rerun_static(ln_context *ctx, const ln_op *first, const char *tname)
{
    LN_TRY(prepare(ctx, first, tname));
    walk w = {.ctx = ctx, .first = first};
    return walk_from(&w, tname, 0);
}
