// SPDX-License-Identifier: Apache-2.0
// Depth-first topological order with a stack of its own: a chain of operators may be as long as the
// model.

#include "ir/op_order.h"

#include <stdint.h>

#include <lightnet/allocator.h>

#include "base/name_hash.h"

typedef enum mark { UNSEEN = 0, OPEN, DONE } mark;

typedef struct visit {
    size_t index;
    const ln_list *next_in; // the first input not looked at yet
} visit;

typedef struct sorter {
    ln_op **ops;
    mark *marks;
    visit *stack;
    size_t depth;
    ln_hash *makers; // tensor name -> index of its maker + 1
    ln_list_builder ordered;
} sorter;

static ln_status find_makers(sorter *s, const ln_list *ops)
{
    size_t index = 0;
    for (const ln_list *l = ops; l; l = l->next) {
        s->ops[index++] = l->data;
        const ln_tensor_list_entry *out;
        LN_LIST_FOREACH (out, ((const ln_op *)l->data)->op_arg->tensors_out) {
            if (ln_hash_insert(s->makers, out->name, (void *)(uintptr_t)index) < 0)
                return ln_error_status();
        }
    }
    return LN_OK;
}

static void open_op(sorter *s, size_t index)
{
    s->marks[index] = OPEN;
    s->stack[s->depth++] = (visit){index, s->ops[index]->op_arg->tensors_in};
}

// Puts the operator at `index` after all that it waits for, directly or not.
static ln_status place(sorter *s, size_t index)
{
    if (s->marks[index] == UNSEEN)
        open_op(s, index);
    while (s->depth > 0) {
        visit *top = &s->stack[s->depth - 1];
        if (!top->next_in) {
            s->marks[top->index] = DONE;
            LN_TRY(ln_list_builder_push(&s->ordered, s->ops[top->index]));
            s->depth--;
            continue;
        }
        const ln_tensor_list_entry *in = top->next_in->data;
        top->next_in = top->next_in->next;
        size_t maker = (size_t)(uintptr_t)ln_hash_find(s->makers, in->name);
        if (maker == 0 || s->marks[maker - 1] == DONE)
            continue;
        if (s->marks[maker - 1] == OPEN)
            return LN_FAIL(LN_INVALID, "operators '%s' and '%s' wait for each other",
                           s->ops[top->index]->op_arg->name, s->ops[maker - 1]->op_arg->name);
        open_op(s, maker - 1);
    }
    return LN_OK;
}

ln_status ln_op_list_order(const ln_list *ops, ln_list **out_ordered)
{
    *out_ordered = NULL;
    size_t count = (size_t)ln_list_length(ops);
    sorter s = {
        .ops = ln_alloc_array(count, sizeof(ln_op *)),
        .marks = ln_alloc_array(count, sizeof(mark)),
        .stack = ln_alloc_array(count, sizeof(visit)),
        .makers = ln_hash_create(ln_name_hash, ln_str_cmp, NULL, NULL),
    };
    ln_status status = LN_NO_MEMORY;
    if (s.ops && s.marks && s.stack && s.makers)
        status = find_makers(&s, ops);
    for (size_t i = 0; i < count && status == LN_OK; i++)
        status = place(&s, i);
    ln_free(s.ops);
    ln_free(s.marks);
    ln_free(s.stack);
    ln_hash_free(s.makers);
    if (status != LN_OK) {
        ln_list_free(s.ordered.list);
        return status;
    }
    *out_ordered = s.ordered.list;
    return LN_OK;
}
