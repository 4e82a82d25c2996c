// SPDX-License-Identifier: Apache-2.0
// Operators that take the place of others in a context's list: neighbours, or any that end up in an
// order in which data flow. What that does to the context is one exchange, as context_ops.c has it.

#include "ir/context.h"

#include <lightnet/allocator.h>

#include "ir/op_order.h"

// ---- Neighbours in the list ----

// Nodes are linked one way only. So that no place has to be searched for, the node at the position
// stays and gets another operator.

static ln_list *last_of(ln_list *list)
{
    while (list && list->next)
        list = list->next;
    return list;
}

static void insert_nodes(ln_list *at, ln_list *new_ops)
{
    ln_list *last = last_of(new_ops), *rest = new_ops->next;
    void *old = at->data;
    at->data = new_ops->data;
    new_ops->data = old; // the first new node now holds the operator that stood there
    new_ops->next = at->next;
    at->next = rest ? rest : new_ops;
    if (rest)
        last->next = new_ops;
}

static void append_nodes(ln_context *ctx, ln_list *new_ops)
{
    ln_list *last = last_of(ctx->ops);
    if (last)
        last->next = new_ops;
    else
        ctx->ops = new_ops;
}

// Removes the `count` nodes after `at`.
static void remove_after(ln_list *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at->next = ln_list_remove_nth(at->next, 0);
}

static void replace_nodes(ln_list *at, size_t len, ln_list *new_ops)
{
    remove_after(at, len - 1);
    at->data = new_ops->data;
    if (new_ops->next) {
        last_of(new_ops)->next = at->next;
        at->next = new_ops->next;
    }
    new_ops->next = NULL;
    ln_list_free(new_ops);
}

// Returns the node that holds what followed.
static ln_list *remove_nodes(ln_context *ctx, ln_list *at, size_t len)
{
    remove_after(at, len - 1);
    if (at->next) {
        at->data = at->next->data;
        remove_after(at, 1);
        return at;
    }
    ln_list **link = &ctx->ops;
    while (*link != at)
        link = &(*link)->next;
    *link = NULL;
    ln_list_free(at);
    return NULL;
}

static void splice(ln_context *ctx, ln_list **position, size_t len, ln_list *new_ops)
{
    ln_list *at = *position;
    if (len == 0 && new_ops && at)
        insert_nodes(at, new_ops);
    else if (len == 0 && new_ops) {
        append_nodes(ctx, new_ops);
        *position = new_ops;
    } else if (len > 0 && new_ops)
        replace_nodes(at, len, new_ops);
    else if (len > 0)
        *position = remove_nodes(ctx, at, len);
}

ln_status ln_context_replace_ops(ln_context *ctx, ln_list **position, size_t len, ln_list *new_ops)
{
    if (!ctx || !position)
        return LN_FAIL(LN_INVALID, "no context, or no position to replace operators at");
    const ln_list *l = *position;
    for (size_t i = 0; i < len; i++, l = l->next)
        if (!l)
            return LN_FAIL(LN_INVALID, "%zu operators are to be replaced, but there are %zu", len,
                           i);
    ln_status status = ln_context_exchange_ops(ctx, *position, len, new_ops);
    if (status == LN_OK)
        splice(ctx, position, len, new_ops);
    else if (!ctx->ops)
        *position = NULL; // nothing is left
    return status;
}

ln_status ln_context_remove_op(ln_context *ctx, ln_list **position)
{
    return ln_context_replace_ops(ctx, position, 1, NULL);
}

ln_status ln_context_add_op(ln_context *ctx, ln_list **position, ln_op *new_op)
{
    ln_list *new_ops = NULL;
    LN_TRY(ln_list_push(&new_ops, new_op));
    ln_status status = ln_context_replace_ops(ctx, position, 0, new_ops);
    if (status != LN_OK)
        ln_list_free(new_ops);
    return status;
}

// ---- Operators anywhere ----

typedef struct substitution {
    ln_hash *is_old;         // old operators
    ln_hash *is_new;         // new operators
    ln_list_builder all;     // the new operators where the first old one stood
    ln_list *ordered;        // all, by data flow
    ln_list_builder new_ops; // the new ones of them
} substitution;

static ln_status make_set(const ln_list *ops, ln_hash **out_set)
{
    *out_set = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (!*out_set)
        return LN_NO_MEMORY;
    for (const ln_list *l = ops; l; l = l->next) {
        const ln_op *op = l->data;
        if (!op || !op->op_arg)
            return LN_FAIL(LN_INVALID, "an operator is NULL");
        if (ln_hash_find(*out_set, op))
            return LN_FAIL(LN_INVALID, "operator '%s' is there twice", op->op_arg->name);
        if (ln_hash_insert(*out_set, op, l->data) < 0)
            return ln_error_status();
    }
    return LN_OK;
}

static ln_status push_all(ln_list_builder *builder, const ln_list *ops)
{
    for (const ln_list *l = ops; l; l = l->next)
        LN_TRY(ln_list_builder_push(builder, l->data));
    return LN_OK;
}

static ln_status find_order(substitution *s, const ln_context *ctx, const ln_list *old_ops,
                            const ln_list *new_ops)
{
    LN_TRY(make_set(old_ops, &s->is_old));
    LN_TRY(make_set(new_ops, &s->is_new));
    int is_placed = 0;
    for (const ln_list *l = ctx->ops; l; l = l->next) {
        if (!ln_hash_find(s->is_old, l->data)) {
            LN_TRY(ln_list_builder_push(&s->all, l->data));
        } else if (!is_placed) {
            LN_TRY(push_all(&s->all, new_ops));
            is_placed = 1;
        }
    }
    if (!is_placed)
        LN_TRY(push_all(&s->all, new_ops));
    LN_TRY(ln_op_list_order(s->all.list, &s->ordered));
    for (const ln_list *l = s->ordered; l; l = l->next)
        if (ln_hash_find(s->is_new, l->data))
            LN_TRY(ln_list_builder_push(&s->new_ops, l->data));
    return LN_OK;
}

ln_status ln_context_subgraph(ln_context *ctx, ln_list *old_ops, ln_list *new_ops)
{
    if (!ctx)
        return LN_FAIL(LN_INVALID, "the context is NULL");
    substitution s = {0};
    ln_status status = find_order(&s, ctx, old_ops, new_ops);
    if (status == LN_OK)
        status =
            ln_context_exchange_ops(ctx, old_ops, (size_t)ln_list_length(old_ops), s.new_ops.list);
    if (status == LN_OK) {
        ln_list_free(ctx->ops);
        ctx->ops = s.ordered;
        s.ordered = NULL;
    }
    ln_hash_free(s.is_old);
    ln_hash_free(s.is_new);
    ln_list_free(s.all.list);
    ln_list_free(s.ordered);
    ln_list_free(s.new_ops.list);
    return status;
}
