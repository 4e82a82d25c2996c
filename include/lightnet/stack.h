/* SPDX-License-Identifier: Apache-2.0 */
/* A first-in last-out stack of pointers. Elements belong to the caller. */

#ifndef LIGHTNET_STACK_H
#define LIGHTNET_STACK_H

#include <stddef.h>

#include <lightnet/export.h>
#include <lightnet/list.h>
#include <lightnet/status.h>

LN_CPPSTART

struct ln_stack {
    ln_list *top;
    size_t size;
};
typedef struct ln_stack ln_stack;

/* An empty stack; NULL when memory is gone. */
LN_API ln_stack *ln_stack_create(void);

/* Frees the stack, not its elements. NULL is fine. */
LN_API void ln_stack_free(ln_stack *stack);

/* Puts `data` on top and returns the stack, which is a new one if `stack` is NULL.
 * When memory is gone returns `stack` unchanged and records LN_NO_MEMORY. */
LN_API ln_stack *ln_stack_push(ln_stack *stack, void *data);

/* The same with a status; LN_INVALID if `stack` is NULL. */
LN_API LN_MUST_USE ln_status ln_stack_try_push(ln_stack *stack, void *data);

/* Takes the top element off and returns it; NULL if the stack is empty or NULL. */
LN_API void *ln_stack_pop(ln_stack *stack);

LN_CPPEND

#endif
