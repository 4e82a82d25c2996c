// SPDX-License-Identifier: Apache-2.0
// Changing the operators of a context.
//
// Every change is one exchange of some operators for others:
//
//     hide   the old operators leave table and graph, their tensors leave the table alive
//     admit  the new ones enter one by one: table, pre_run, graph
//     end    post_run of the old ones, without a table; they are freed, their tensors retired
//
// A failure while admitting expels the new operators and brings the old ones back, with the very
// tensor entries they had. Retired entries stay readable until all operators are checked again:
// later operators may have kept pointers to them.

#include "ir/compiled.h"
#include "ir/context.h"

#include <lightnet/allocator.h>

#include "base/error_state.h"
#include "ir/dfg.h"
#include "ir/graph_order.h"
#include "ir/op_life.h"
#include "ir/op_order.h"
#include "ir/open.h"
#include "ir/phase.h"

// ---- One operator in, one operator out ----

static ln_status enter_table(ln_context *ctx, ln_op *op)
{
    if (ln_op_table_insert(ctx->op_table, op) == 1)
        return LN_OK;
    if (op->op_arg->place)
        (void)ln_fail_prefix("%s", op->op_arg->place);
    return ln_error_status();
}

static ln_status admit(ln_context *ctx, ln_op *op)
{
    if (!op || !op->op_arg || !op->op_arg->name)
        return LN_FAIL(LN_INVALID, "an operator without a name cannot be in a context");
    if (op->op_arg->is_checked || ln_op_table_find(ctx->op_table, op->op_arg->name) == op)
        return LN_FAIL(LN_EXISTS, "operator '%s' is in a context already", op->op_arg->name);
    LN_TRY(enter_table(ctx, op));
    ln_context_forget_ends(ctx);
    op->op_arg->tensor_table = ctx->tensor_table;
    op->op_arg->context = ctx;
    ln_status status = ln_op_check_inputs(op);
    if (status == LN_OK)
        status = ln_op_pre_run(op);
    if (status == LN_OK) {
        status = ln_dfg_add(ctx->dfg, op);
        if (status != LN_OK)
            (void)ln_op_post_run(op);
    }
    if (status != LN_OK)
        ln_hash_remove(ctx->op_table, op->op_arg->name);
    return status;
}

static ln_status expel(ln_context *ctx, ln_op *op)
{
    LN_TRY(ln_dfg_remove(ctx->dfg, op));
    (void)ln_op_post_run(op);
    ln_hash_remove(ctx->op_table, op->op_arg->name);
    return LN_OK;
}

// ---- All operators ----

static void free_entry(void *entry)
{
    ln_tensor_entry_free_tensor_too(entry);
}

static void free_retired(ln_context *ctx)
{
    ln_list_free_deep(ctx->retired, free_entry);
    ctx->retired = NULL;
}

// The tables and the graph are empty afterwards; the operators stay in the list, not checked.
// Keeps the thread's failure.
static void end_all(ln_context *ctx)
{
    ln_context_forget_ends(ctx);
    ln_error_state reason;
    ln_error_save(&reason);
    if (ctx->dfg)
        ln_dfg_clear(ctx->dfg);
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (!op || !op->op_arg)
            continue;
        if (op->op_arg->is_checked)
            (void)ln_op_post_run(op);
        if (ln_op_table_find(ctx->op_table, op->op_arg->name) == op)
            ln_hash_remove(ctx->op_table, op->op_arg->name);
    }
    size_t cursor = 0;
    void *entry;
    while (ln_hash_next(ctx->tensor_table, &cursor, NULL, &entry))
        ln_tensor_table_remove(ctx->tensor_table, ((ln_tensor_entry *)entry)->name);
    free_retired(ctx);
    ctx->ops_last = NULL;
    ln_error_restore(&reason);
}

static int has_type(const ln_list *ops, const char *optype)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        if (op && op->op_arg && ln_op_is_type(op->op_arg, optype))
            return 1;
    }
    return 0;
}

// Inner ones first, whose randomness is that of the operators that run them.
static ln_status init_graphs(ln_context *ctx)
{
    ln_named_graph *graphs;
    size_t count;
    LN_TRY(ln_graph_order_create(ctx, &graphs, &count));
    ln_status status = LN_OK;
    for (size_t i = 0; i < count && status == LN_OK; i++) {
        if (ln_hash_size(graphs[i].graph->op_table) == 0)
            status = ln_context_init_ops(graphs[i].graph);
    }
    ln_free(graphs);
    return status;
}

void ln_context_note_random(ln_context *ctx)
{
    ctx->is_random = 0;
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        ctx->is_random = ctx->is_random || ln_op_is_random(op->op_arg);
}

static ln_status admit_all(ln_context *ctx)
{
    // Before the first pre_run, which may want to know.
    ctx->has_input = has_type(ctx->ops, "input");
    ctx->has_output = has_type(ctx->ops, "output");
    LN_TRY(init_graphs(ctx));
    // Shapes are bound after reading. A compiled model has its shapes, and a graph takes what
    // comes.
    int may_wait = (!ctx->compiled || ctx->compiled->is_dynamic) && !ctx->outer;
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op && op->op_arg)
            op->op_arg->may_wait = may_wait && ln_streq(op->op_arg->arch, "none");
        ln_status status = admit(ctx, op);
        if (ctx->compiled && (status == LN_INVALID || status == LN_UNSUPPORTED))
            return ln_fail_prefix("a compiled model that does not fit this version of the library; "
                                  "compile the model that it came from again");
        LN_TRY(status);
        LN_TRY(ln_phase_check(ctx, op));
    }
    ln_context_note_random(ctx);
    return ln_dfg_check(ctx->dfg) ? LN_OK : ln_error_status();
}

ln_status ln_context_init_ops(ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ln_hash_size(ctx->op_table) > 0)
        return LN_FAIL(LN_STATE, "the operators of the context are checked already");
    ln_status status;
    // A size by default may be one that no operator takes: 1 sample of sound.
    do {
        ln_phase phase;
        ln_phase_begin(ctx, LN_PHASE_PLAN, &phase);
        status = ln_phase_end(&phase, admit_all(ctx));
        if (status != LN_OK)
            end_all(ctx);
    } while (status == LN_INVALID && !ctx->compiled && ln_context_open_defaults(ctx));
    if (status == LN_OK && ctx->state == LN_CONTEXT_EMPTY)
        ctx->state = LN_CONTEXT_READY;
    ctx->ops_last = NULL;
    return status;
}

void ln_context_cleanup_ops(ln_context *ctx)
{
    if (!ctx)
        return;
    ln_context_dealloc_mem(ctx);
    ln_context_forget_plan(ctx);
    end_all(ctx);
    ctx->state = LN_CONTEXT_EMPTY;
}

void ln_context_drop_ops(ln_context *ctx)
{
    ln_context_cleanup_ops(ctx);
    ln_op_list_free_lists_too(ctx->ops);
    ctx->ops = NULL;
}

ln_status ln_context_append_op(ln_context *ctx, ln_op *op)
{
    if (!ctx || !op)
        return LN_FAIL(LN_INVALID, "no context, or no operator to append");
    ln_context_forget_ends(ctx);
    ln_list_builder builder = {.list = ctx->ops, .last = ctx->ops_last};
    for (ln_list *l = builder.last ? NULL : ctx->ops; l; l = l->next)
        builder.last = l;
    LN_TRY(ln_list_builder_push(&builder, op));
    ctx->ops = builder.list;
    ctx->ops_last = builder.last;
    return LN_OK;
}

ln_status ln_context_abandon(ln_context *ctx, ln_status status)
{
    (void)ln_fail_prefix("the change could not be undone, and the model is dropped");
    ln_context_drop_ops(ctx);
    ln_context_forget(ctx);
    return status;
}

// The plan is another model's, and where it put tensors went with their entries.
static void end_plan(ln_context *ctx)
{
    if (ctx->state != LN_CONTEXT_PLANNED)
        return;
    ln_context_forget_plan(ctx);
    ctx->state = LN_CONTEXT_READY;
}

// Inputs are there, and pre_run succeeds, for all that are not checked.
static ln_status check_unchecked(ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op->op_arg->is_checked)
            continue;
        LN_TRY(ln_op_check_inputs(op));
        LN_TRY(ln_op_pre_run(op));
    }
    return LN_OK;
}

ln_status ln_context_recheck(ln_context *ctx)
{
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op->op_arg->is_checked)
            (void)ln_op_post_run(op);
    }
    free_retired(ctx);
    ctx->is_known_short = 0;
    size_t cursor = 0;
    void *value;
    if (ln_hash_next(ctx->tensor_table, &cursor, NULL, &value)) {
        const ln_tensor_entry *entry = value;
        return LN_FAIL(LN_INTERNAL, "tensor '%s' belongs to no operator", entry->name);
    }
    ln_context_forget_ends(ctx);
    ctx->has_input = has_type(ctx->ops, "input");
    ctx->has_output = has_type(ctx->ops, "output");
    return check_unchecked(ctx);
}

static bool is_one_of(const ln_op *op, size_t count, ln_op *const *ops)
{
    for (size_t i = 0; i < count; i++)
        if (ops[i] == op)
            return true;
    return false;
}

static bool lacks_input(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        if (!ln_tensor_table_find(ctx->tensor_table, in->name))
            return true;
    return false;
}

ln_status ln_context_recheck_from(ln_context *ctx, size_t count, ln_op *const *changed)
{
    // Graphs read tensors by name, operators may have kept pointers to what is retired, and which
    // values are known follows from the order of all operators where not all can be.
    if (ctx->graphs || ctx->outer || ctx->retired || ctx->is_known_short)
        return ln_context_recheck(ctx);
    ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        if (op->op_arg->is_checked && (is_one_of(op, count, changed) || lacks_input(ctx, op)))
            (void)ln_op_post_run(op); // takes its outputs out of the table, so their readers follow
    }
    ln_context_forget_ends(ctx);
    ln_status status = check_unchecked(ctx);
    return ctx->is_known_short ? ln_context_recheck(ctx) : status;
}

ln_status ln_context_rerun_ops(ln_context *ctx)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    if (ctx->state == LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is loaded; unload it first");
    ln_status status = ln_context_recheck(ctx);
    if (status != LN_OK)
        return ln_context_abandon(ctx, status);
    end_plan(ctx);
    return LN_OK;
}

// ---- The exchange ----

typedef struct exchange {
    ln_context *ctx;
    const ln_list *old_ops; // the first `old_count` of the list
    size_t old_count;
    const ln_list *new_ops;
    bool is_alike;          // tensors keep types and shapes
    ln_list_builder hidden; // entries of the old operators' tensors
    size_t taken_count;     // old operators that have left table and graph
    size_t admitted_count;  // new operators that have entered them
} exchange;

// Finds the old tensors, and changes nothing.
static ln_status find_old_tensors(exchange *x)
{
    const ln_list *l = x->old_ops;
    for (size_t i = 0; i < x->old_count; i++, l = l->next) {
        const ln_op *op = l->data;
        if (!op || !op->op_arg || ln_op_table_find(x->ctx->op_table, op->op_arg->name) != op)
            return LN_FAIL(LN_NOT_FOUND, "an operator to be replaced is not in the context");
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, op->op_arg->tensors_out) {
            ln_tensor_entry *entry = ln_tensor_table_find(x->ctx->tensor_table, out->name);
            if (entry)
                LN_TRY(ln_list_builder_push(&x->hidden, entry));
        }
    }
    return LN_OK;
}

static ln_status take_old_ops(exchange *x)
{
    const ln_list *l = x->old_ops;
    for (; x->taken_count < x->old_count; x->taken_count++, l = l->next) {
        ln_op *op = l->data;
        LN_TRY(ln_dfg_remove(x->ctx->dfg, op));
        ln_hash_remove(x->ctx->op_table, op->op_arg->name);
    }
    const ln_tensor_entry *entry;
    LN_LIST_FOREACH (entry, x->hidden.list)
        ln_hash_remove(x->ctx->tensor_table, entry->name);
    return LN_OK;
}

static ln_status admit_new_ops(exchange *x)
{
    for (const ln_list *l = x->new_ops; l; l = l->next) {
        LN_TRY(admit(x->ctx, l->data));
        x->admitted_count++;
    }
    return LN_OK;
}

// What readers know of the old tensors holds of the new ones.
static ln_status check_alike(const exchange *x)
{
    const ln_tensor_entry *old;
    LN_LIST_FOREACH (old, x->hidden.list) {
        const ln_tensor_entry *new = ln_tensor_table_find(x->ctx->tensor_table, old->name);
        if (!new || old->is_open || new->is_open)
            continue;
        if (new->tensor->dtype != old->tensor->dtype)
            return LN_FAIL(LN_INVALID, "'%s' would be %s instead of %s", old->name,
                           tl_dtype_name(new->tensor->dtype), tl_dtype_name(old->tensor->dtype));
        if (!tl_tensor_issameshape(new->tensor, old->tensor))
            return LN_FAIL(LN_INVALID, "'%s' would have another shape", old->name);
    }
    return LN_OK;
}

// Needs memory for edges and table rows, so it may fail half way.
static ln_status undo(const exchange *x)
{
    const ln_list *l = x->new_ops;
    for (size_t i = 0; i < x->admitted_count; i++, l = l->next)
        LN_TRY(expel(x->ctx, l->data));
    ln_tensor_entry *entry;
    LN_LIST_FOREACH (entry, x->hidden.list) {
        if (ln_hash_insert(x->ctx->tensor_table, entry->name, entry) < 0)
            return ln_error_status();
    }
    l = x->old_ops;
    for (size_t i = 0; i < x->taken_count; i++, l = l->next) {
        ln_op *op = l->data;
        if (ln_hash_insert(x->ctx->op_table, op->op_arg->name, op) < 0)
            return ln_error_status();
        LN_TRY(ln_dfg_add(x->ctx->dfg, op));
    }
    return LN_OK;
}

// The hidden entries leave the table, if they are in it again, and stay readable.
static void retire(exchange *x)
{
    const ln_tensor_entry *entry;
    LN_LIST_FOREACH (entry, x->hidden.list) {
        if (ln_tensor_table_find(x->ctx->tensor_table, entry->name) == entry)
            ln_hash_remove(x->ctx->tensor_table, entry->name);
    }
    if (!x->hidden.list)
        return;
    x->hidden.last->next = x->ctx->retired;
    x->ctx->retired = x->hidden.list;
    x->hidden = (ln_list_builder){0};
}

// Undoing failed: the new operators, which stay the caller's, end; the context drops the others.
static ln_status give_up(exchange *x, ln_status status)
{
    const ln_list *l = x->new_ops;
    for (size_t i = 0; i < x->admitted_count; i++, l = l->next) {
        ln_op *op = l->data;
        if (op->op_arg->is_checked)
            (void)ln_op_post_run(op);
        if (ln_op_table_find(x->ctx->op_table, op->op_arg->name) == op)
            ln_hash_remove(x->ctx->op_table, op->op_arg->name);
    }
    retire(x);
    return ln_context_abandon(x->ctx, status);
}

// Brings the old operators back, and keeps the message that says why.
static ln_status take_back(exchange *x, ln_status status)
{
    ln_error_state reason;
    ln_error_save(&reason);
    int is_undone = undo(x) == LN_OK;
    ln_error_restore(&reason);
    if (!is_undone)
        return give_up(x, status);
    ln_list_free(x->hidden.list);
    return status;
}

static void end_old_ops(exchange *x)
{
    const ln_list *l = x->old_ops;
    for (size_t i = 0; i < x->old_count; i++, l = l->next) {
        ln_op *op = l->data;
        // The new operators may be named alike and make tensors of the same names.
        op->op_arg->tensor_table = NULL;
        (void)ln_op_post_run(op);
        ln_op_free_lists_too(op);
    }
}

static ln_status exchange_ops(exchange *x)
{
    if (x->ctx->state == LN_CONTEXT_LOADED)
        return LN_FAIL(LN_STATE, "the model is loaded; unload it before its operators change");
    ln_status status = find_old_tensors(x);
    if (status != LN_OK) {
        ln_list_free(x->hidden.list);
        return status;
    }
    status = take_old_ops(x);
    if (status == LN_OK)
        status = admit_new_ops(x);
    if (status == LN_OK && x->is_alike)
        status = check_alike(x);
    if (status != LN_OK)
        return take_back(x, status);
    end_old_ops(x);
    retire(x);
    x->ctx->ops_last = NULL;
    end_plan(x->ctx);
    return LN_OK;
}

ln_status ln_context_exchange_ops(ln_context *ctx, const ln_list *old_ops, size_t old_count,
                                  const ln_list *new_ops)
{
    exchange x = {.ctx = ctx, .old_ops = old_ops, .old_count = old_count, .new_ops = new_ops};
    ln_status status = exchange_ops(&x);
    ln_context_forget_ends(ctx);
    return status;
}

ln_status ln_context_exchange_alike(ln_context *ctx, const ln_list *old_ops, size_t old_count,
                                    const ln_list *new_ops)
{
    exchange x = {.ctx = ctx,
                  .old_ops = old_ops,
                  .old_count = old_count,
                  .new_ops = new_ops,
                  .is_alike = true};
    ln_status status = exchange_ops(&x);
    ln_context_forget_ends(ctx);
    return status;
}

// ---- Reading another tensor ----

typedef struct renaming {
    char **names; // copies of the new name, until they are taken; NULL: only counts
    size_t count;
    size_t used;
} renaming;

static char *next_name(renaming *r)
{
    size_t at = r->used++;
    if (!r->names)
        return NULL;
    char *name = r->names[at];
    r->names[at] = NULL;
    return name;
}

static void rename_input(renaming *r, ln_tensor_list_entry *in, const char *from)
{
    if (!ln_streq(in->name, from))
        return;
    char *name = next_name(r);
    if (name)
        ln_tensor_list_entry_take_name(in, name);
}

static void rename_owner(renaming *r, ln_tensor_entry *entry, const char *from)
{
    if (!entry || !ln_streq(entry->owner, from))
        return;
    char *name = next_name(r);
    if (!name)
        return;
    ln_free(entry->owner);
    entry->owner = name;
}

// Inputs, and owners of outputs that are views. Without names only counts.
static void rename_all(renaming *r, ln_context *ctx, ln_op *op, const char *from)
{
    r->used = 0;
    ln_tensor_list_entry *in;
    LN_LIST_FOREACH (in, op->op_arg->tensors_in)
        rename_input(r, in, from);
    const ln_tensor_list_entry *out;
    LN_LIST_FOREACH (out, op->op_arg->tensors_out)
        rename_owner(r, ln_tensor_table_find(ctx->tensor_table, out->name), from);
}

static ln_status rename_inputs(ln_context *ctx, ln_op *op, const char *from, const char *to)
{
    renaming r = {0};
    rename_all(&r, ctx, op, from);
    r.count = r.used;
    char **names = ln_alloc_array(r.count + 1, sizeof *names);
    ln_status status = names ? LN_OK : LN_NO_MEMORY;
    for (size_t i = 0; status == LN_OK && i < r.count; i++) {
        names[i] = ln_strdup(to);
        status = names[i] ? LN_OK : LN_NO_MEMORY;
    }
    r.names = names;
    if (status == LN_OK)
        rename_all(&r, ctx, op, from);
    for (size_t i = 0; names && i < r.count; i++)
        ln_free(names[i]);
    ln_free(names);
    return status;
}

ln_status ln_context_redirect(ln_context *ctx, ln_op *op, const char *from, const char *to)
{
    LN_TRY(ln_dfg_remove(ctx->dfg, op));
    ln_context_forget_ends(ctx);
    ln_status status = rename_inputs(ctx, op, from, to);
    if (ln_dfg_add(ctx->dfg, op) != LN_OK)
        return ln_context_abandon(ctx, LN_NO_MEMORY);
    return status;
}
