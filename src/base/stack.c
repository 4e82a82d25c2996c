// SPDX-License-Identifier: Apache-2.0
// The stack: a list that grows and shrinks at its start.

#include <lightnet/stack.h>

#include <lightnet/allocator.h>

ln_stack *ln_stack_create(void)
{
    return ln_alloc(sizeof(ln_stack));
}

void ln_stack_free(ln_stack *stack)
{
    if (!stack)
        return;
    ln_list_free(stack->top);
    ln_free(stack);
}

ln_status ln_stack_try_push(ln_stack *stack, void *data)
{
    if (!stack)
        return LN_FAIL(LN_INVALID, "no stack to push to");
    LN_TRY(ln_list_push_front(&stack->top, data));
    stack->size++;
    return LN_OK;
}

ln_stack *ln_stack_push(ln_stack *stack, void *data)
{
    ln_stack *target = stack ? stack : ln_stack_create();
    if (!target)
        return NULL;
    if (ln_stack_try_push(target, data) != LN_OK && !stack) {
        ln_stack_free(target);
        return NULL;
    }
    return target;
}

void *ln_stack_pop(ln_stack *stack)
{
    if (!stack || !stack->top)
        return NULL;
    void *data = stack->top->data;
    stack->top = ln_list_remove_nth(stack->top, 0);
    stack->size--;
    return data;
}
