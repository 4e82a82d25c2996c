// SPDX-License-Identifier: Apache-2.0
// All that may fail comes first; then the context exchanges the operators, and the list, in which
// nodes are linked one way only, gets others into its nodes.
//
// `y = x` is an operator `forward` at first. Then each reader of y is told to read x, and if there
// was one, the `forward` goes. Else y is an output of the model: where x is of no other use, its
// operator makes y instead, and only else the `forward` stays.

#include "pass/apply.h"

#include <lightnet/allocator.h>
#include <lightnet/util.h>

#include "ir/context.h"
#include "ir/dfg.h"
#include "ir/op_life.h"

#define MAX_WINDOW 4096

// ---- The window of a wide rule ----

static bool is_matched(const ln_match *match, const ln_op *op)
{
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        if (match->ops[i] == op)
            return true;
    return false;
}

// The nodes from the first matched operator to the last; count 0 if there are too many.
static void find_nodes(const ln_context *ctx, const ln_match *match, ln_window *window)
{
    size_t found = 0, passed = 0;
    for (ln_list *l = ctx->ops; l && found < match->rule->pattern_count; l = l->next) {
        passed += found > 0;
        if (!is_matched(match, l->data))
            continue;
        if (found++ == 0) {
            window->first = l;
            passed = 1;
        }
    }
    window->count = found == match->rule->pattern_count && passed <= MAX_WINDOW ? passed : 0;
}

static bool result_reads(const ln_match *match, const char *tensor)
{
    for (size_t i = 0; i < match->rule->result_count; i++) {
        const ln_rule_op *op = &match->rule->result[i];
        for (size_t j = 0; j < op->in_count; j++) {
            size_t count;
            const char *const *tensors = ln_match_tensors(match, op->ins[j].name, &count);
            for (size_t k = 0; k < count; k++)
                if (ln_streq(tensors[k], tensor))
                    return true;
        }
    }
    return false;
}

static bool depends_on_removed(const ln_context *ctx, const ln_match *match, const ln_op *op,
                               const ln_hash *dependent)
{
    for (const ln_list *l = op->op_arg->tensors_in; l; l = l->next) {
        const ln_tensor_list_entry *in = l->data;
        const ln_op *maker = ln_dfg_maker(ctx->dfg, in->name);
        if (maker && (ln_match_removes(match, maker) || ln_hash_find(dependent, maker)))
            return true;
    }
    return false;
}

static bool is_read_by_result(const ln_match *match, const ln_op *op)
{
    for (const ln_list *l = op->op_arg->tensors_out; l; l = l->next)
        if (result_reads(match, ((const ln_tensor_list_entry *)l->data)->name))
            return true;
    return false;
}

static ln_status part_window(const ln_context *ctx, const ln_match *match, ln_hash *dependent,
                             ln_window *window, bool *out_fits)
{
    *out_fits = false;
    ln_list *l = window->first;
    for (size_t i = 0; i < window->count; i++, l = l->next) {
        ln_op *op = l->data;
        if (ln_match_removes(match, op))
            continue;
        if (!depends_on_removed(ctx, match, op, dependent)) {
            window->before[window->before_count++] = op;
            continue;
        }
        if (is_read_by_result(match, op))
            return LN_OK;
        if (ln_hash_insert(dependent, op, op) < 0)
            return ln_error_status();
        window->after[window->after_count++] = op;
    }
    *out_fits = true;
    return LN_OK;
}

ln_status ln_window_create(const ln_context *ctx, const ln_match *match, ln_window **out_window)
{
    *out_window = NULL;
    ln_window found = {0};
    find_nodes(ctx, match, &found);
    if (found.count == 0)
        return LN_OK;
    ln_window *window = ln_alloc(sizeof *window);
    if (!window)
        return LN_NO_MEMORY;
    *window = found;
    window->before = ln_alloc_array(found.count, sizeof *window->before);
    window->after = ln_alloc_array(found.count, sizeof *window->after);
    ln_hash *dependent = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    bool fits = false;
    ln_status status = LN_NO_MEMORY;
    if (window->before && window->after && dependent)
        status = part_window(ctx, match, dependent, window, &fits);
    ln_hash_free(dependent);
    if (fits)
        *out_window = window;
    else
        ln_window_destroy(window);
    return status;
}

void ln_window_destroy(ln_window *window)
{
    if (!window)
        return;
    ln_free(window->before);
    ln_free(window->after);
    ln_free(window);
}

// ---- The list ----

typedef struct site {
    ln_context *ctx;
    ln_hash *nodes;
    ln_list *position;
    ln_list *window_first; // NULL: no window
} site;

static void free_node(ln_list *node)
{
    node->next = NULL;
    ln_list_free(node);
}

// The operator's key is in `nodes` already, so nothing is allocated.
static void set_node(site *s, ln_list *node, ln_op *op)
{
    node->data = op;
    ln_hash_insert(s->nodes, op, node);
}

// Takes an operator that is not the last one out of the list: the one after it moves into its
// node. `op` has been freed; it is a key only.
static void take_out(site *s, const ln_op *op)
{
    ln_list *node = ln_hash_find(s->nodes, op);
    ln_list *next = node->next;
    ln_hash_remove(s->nodes, op);
    set_node(s, node, next->data);
    node->next = next->next;
    if (next == s->position)
        s->position = node;
    if (next == s->window_first)
        s->window_first = node;
    free_node(next);
}

// The new operators take the root's place: after all that the pattern reads, before all readers.
static void put_at_root(site *s, const ln_op *root, ln_list *new_ops)
{
    ln_list *last = new_ops;
    for (ln_list *l = new_ops->next; l; l = l->next) {
        ln_hash_insert(s->nodes, l->data, l);
        last = l;
    }
    ln_hash_remove(s->nodes, root);
    last->next = s->position->next;
    s->position->next = new_ops->next;
    set_node(s, s->position, new_ops->data);
    free_node(new_ops);
}

// Puts the new operators' nodes after those of the window, gives all of them what stays and what
// is new in the new order, and frees those that are left.
static void put_in_window(site *s, const ln_window *window, ln_list *new_ops)
{
    size_t new_count = (size_t)ln_list_length(new_ops);
    ln_list *last = s->window_first, *node = s->window_first, *end = NULL;
    for (size_t i = 1; i < window->count; i++)
        last = last->next;
    ln_list *rest = last->next;
    last->next = new_ops;
    while (last->next)
        last = last->next;
    last->next = rest;

    for (size_t i = 0; i < window->before_count; i++, end = node, node = node->next)
        set_node(s, node, window->before[i]);
    // Fewer nodes are written than read: some of the window's operators have gone.
    const ln_list *from = new_ops;
    for (size_t i = 0; i < new_count; i++, end = node, node = node->next, from = from->next)
        set_node(s, node, from->data);
    for (size_t i = 0; i < window->after_count; i++, end = node, node = node->next)
        set_node(s, node, window->after[i]);
    while (node != rest) {
        ln_list *next = node->next;
        free_node(node);
        node = next;
    }
    end->next = rest;
    s->position = s->window_first;
}

// ---- The exchange ----

static ln_status push_removed(ln_list_builder *builder, const ln_match *match)
{
    for (size_t i = 0; i < match->rule->pattern_count; i++)
        if (!match->stays[i])
            LN_TRY(ln_list_builder_push(builder, match->ops[i]));
    for (size_t i = 0; i < match->unused_count; i++)
        LN_TRY(ln_list_builder_push(builder, match->unused[i]));
    return LN_OK;
}

// Makes the new operators' keys in `nodes`, so that nothing has to be allocated later.
static ln_status reserve(site *s, const ln_list *new_ops)
{
    for (const ln_list *l = new_ops; l; l = l->next)
        if (ln_hash_insert(s->nodes, l->data, s->position) < 0)
            return ln_error_status();
    return LN_OK;
}

static void forget(site *s, const ln_list *new_ops)
{
    for (const ln_list *l = new_ops; l; l = l->next)
        ln_hash_remove(s->nodes, l->data);
}

static bool is_in_window(const site *s, const ln_window *window, const ln_list *node)
{
    const ln_list *l = s->window_first;
    for (size_t i = 0; l && i < window->count; i++, l = l->next)
        if (l == node)
            return true;
    return false;
}

// Only what cannot fail: the operators of `removed` have been freed.
static void update_list(site *s, const ln_window *window, const ln_list *removed, ln_list *new_ops)
{
    if (!window)
        put_at_root(s, removed->data, new_ops);
    for (const ln_list *l = window ? removed : removed->next; l; l = l->next) {
        if (is_in_window(s, window, ln_hash_find(s->nodes, l->data)))
            ln_hash_remove(s->nodes, l->data);
        else
            take_out(s, l->data);
    }
    if (window)
        put_in_window(s, window, new_ops);
    s->ctx->ops_last = NULL;
    ln_context_forget_ends(s->ctx);
}

static ln_status exchange(site *s, const ln_window *window, const ln_list *removed,
                          ln_list *new_ops)
{
    ln_status status = reserve(s, new_ops);
    if (status == LN_OK)
        status =
            ln_context_exchange_alike(s->ctx, removed, (size_t)ln_list_length(removed), new_ops);
    if (status != LN_OK) {
        forget(s, new_ops);
        ln_op_list_free_lists_too(new_ops);
        return status;
    }
    update_list(s, window, removed, new_ops);
    return LN_OK;
}

// ---- y = x ----

static ln_status remove_forward(site *s, ln_op *forward)
{
    ln_list *removed = NULL;
    LN_TRY(ln_list_push(&removed, forward));
    ln_status status =
        ln_context_exchange_ops(s->ctx, removed, (size_t)ln_list_length(removed), NULL);
    ln_list_free(removed);
    if (status == LN_OK)
        take_out(s, forward); // its readers stand after it
    return status;
}

// The operator that makes what `forward` reads, if it may make the output itself: it makes nothing
// else, nobody else reads it, and no file or caller knows it by its name.
static ln_op *find_maker_for(const site *s, const ln_op *forward)
{
    const ln_tensor_list_entry *in = forward->op_arg->tensors_in->data;
    ln_op *maker = ln_dfg_prev(s->ctx->dfg, forward, in->name);
    if (!maker || !maker->op_arg->tensors_in || maker->op_arg->tensors_out->next)
        return NULL;
    const ln_graph_node *node = ln_hash_find(s->ctx->dfg->node_table, maker->op_arg->name);
    return node && node->out_edge_nodes && !node->out_edge_nodes->next ? maker : NULL;
}

// A copy of `maker` with the name and the output of `forward`.
static ln_op *make_instead(const ln_op *maker, const ln_op *forward)
{
    const ln_tensor_list_entry *made = forward->op_arg->tensors_out->data;
    ln_op *op = ln_op_copy(maker);
    char *name = ln_strdup(forward->op_arg->name), *tensor = ln_strdup(made->name);
    if (!op || !name || !tensor) {
        ln_op_free_lists_too(op);
        ln_free(name);
        ln_free(tensor);
        return NULL;
    }
    ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    ln_op_take_name(op, name);
    ln_tensor_list_entry_take_name(out, tensor);
    return op;
}

static ln_status exchange_maker(site *s, ln_op *maker, ln_op *forward, ln_op *op)
{
    ln_list *removed = NULL, *new_ops = NULL;
    ln_status status = ln_list_push(&removed, maker);
    if (status == LN_OK)
        status = ln_list_push(&removed, forward);
    if (status == LN_OK)
        status = ln_list_push(&new_ops, op);
    if (status == LN_OK)
        status = reserve(s, new_ops);
    if (status == LN_OK)
        status = ln_context_exchange_ops(s->ctx, removed, (size_t)ln_list_length(removed), new_ops);
    if (status == LN_OK) {
        set_node(s, ln_hash_find(s->nodes, forward), op);
        ln_hash_remove(s->nodes, forward);
        take_out(s, maker);
    } else {
        forget(s, new_ops);
        ln_op_free_lists_too(op);
    }
    ln_list_free(removed);
    ln_list_free(new_ops);
    return status;
}

// An output of the model keeps its name; where nobody needs x besides, its operator makes y.
static ln_status make_output(site *s, ln_op *forward)
{
    ln_op *maker = find_maker_for(s, forward);
    if (!maker)
        return LN_OK;
    ln_op *op = make_instead(maker, forward);
    return op ? exchange_maker(s, maker, forward, op) : LN_NO_MEMORY;
}

static bool has_output_op(const ln_list *ops)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ops) {
        if (ln_op_is_type(op->op_arg, "output"))
            return true;
    }
    return false;
}

static ln_status bypass(site *s, ln_op *forward)
{
    const ln_tensor_list_entry *in = forward->op_arg->tensors_in->data;
    const ln_tensor_list_entry *out = forward->op_arg->tensors_out->data;
    ln_list *readers;
    LN_TRY(ln_dfg_list_readers(s->ctx->dfg, out->name, &readers));
    if (!readers)
        return make_output(s, forward);
    if (has_output_op(readers)) {
        bool is_only = !readers->next;
        ln_list_free(readers);
        return is_only ? make_output(s, forward) : LN_OK;
    }
    ln_status status = LN_OK;
    for (const ln_list *l = readers; l && status == LN_OK; l = l->next)
        status = ln_context_redirect(s->ctx, l->data, out->name, in->name);
    ln_list_free(readers);
    return status == LN_OK ? remove_forward(s, forward) : status;
}

static ln_status bypass_aliases(site *s, const ln_match *match, ln_op *const *new_ops)
{
    const ln_rule *rule = match->rule;
    for (size_t i = 0, made = 0; i < rule->result_count; i++) {
        if (match->is_left_out[i])
            continue;
        if (rule->result[i].is_alias)
            LN_TRY(bypass(s, new_ops[made]));
        made++;
    }
    return LN_OK;
}

// The exchange has been undone unless undoing failed, which empties the context.
static bool is_refusal(const ln_context *ctx, ln_status status)
{
    return (status == LN_INVALID || status == LN_UNSUPPORTED) && ctx->state != LN_CONTEXT_EMPTY;
}

ln_status ln_match_apply(ln_context *ctx, const ln_match *match, const ln_window *window,
                         ln_list *new_ops, ln_hash *nodes, ln_list **position, bool *out_is_refused)
{
    *out_is_refused = false;
    site s = {.ctx = ctx,
              .nodes = nodes,
              .position = *position,
              .window_first = window ? window->first : NULL};
    ln_list_builder removed = {0};
    ln_op *results[LN_RULE_MAX_STATEMENTS]; // as many as the rule has, where it has aliases
    size_t result_count = 0;
    ln_status status = push_removed(&removed, match);
    for (const ln_list *l = new_ops; l && result_count < LN_RULE_MAX_STATEMENTS; l = l->next)
        results[result_count++] = l->data;
    if (status == LN_OK)
        status = exchange(&s, window, removed.list, new_ops);
    else
        ln_op_list_free_lists_too(new_ops);
    ln_list_free(removed.list);
    *out_is_refused = is_refusal(ctx, status);
    if (status == LN_OK)
        status = bypass_aliases(&s, match, results); // its names have gone with the operators
    *position = ctx->ops ? s.position : NULL;
    return status;
}
