// SPDX-License-Identifier: Apache-2.0
// The stack: last in, first out.

#include <lightnet/stack.h>

#include "tests/oom.h"
#include "tests/test.h"

static int numbers[] = {0, 1, 2, 3};

TEST(the_last_in_is_the_first_out)
{
    ln_stack *stack = ln_stack_create();
    for (size_t i = 0; i < 4; i++)
        CHECK_PTR_EQ(ln_stack_push(stack, &numbers[i]), stack);
    CHECK_EQ(stack->size, 4);
    CHECK_PTR_EQ(stack->top->data, &numbers[3]);
    for (size_t i = 4; i-- > 0;)
        CHECK_PTR_EQ(ln_stack_pop(stack), &numbers[i]);
    CHECK_EQ(stack->size, 0);
    CHECK_NULL(stack->top);
    ln_stack_free(stack);
}

TEST(a_missing_stack_is_made)
{
    ln_stack *stack = ln_stack_push(NULL, &numbers[1]);
    CHECK_EQ(stack->size, 1);
    ln_stack_free(stack);
}

TEST(an_empty_stack_gives_null)
{
    ln_stack *stack = ln_stack_create();
    CHECK_NULL(ln_stack_pop(stack));
    CHECK_EQ(stack->size, 0);
    ln_stack_free(stack);
    CHECK_NULL(ln_stack_pop(NULL));
    CHECK_FAILS(ln_stack_try_push(NULL, &numbers[0]), LN_INVALID);
    ln_stack_free(NULL);
}

TEST(without_memory_the_stack_stays_as_it_was)
{
    ln_stack *stack = ln_stack_push(NULL, &numbers[0]);
    test_oom oom;
    test_oom_start(&oom, 0);
    CHECK_PTR_EQ(ln_stack_push(stack, &numbers[1]), stack);
    CHECK_FAILS(ln_stack_try_push(stack, &numbers[1]), LN_NO_MEMORY);
    test_oom_stop();
    CHECK_EQ(stack->size, 1);
    CHECK_PTR_EQ(stack->top->data, &numbers[0]);
    ln_stack_free(stack);

    OOM_SWEEP(n)
    ln_stack_free(ln_stack_push(NULL, &numbers[0]));
    CHECK_EQ(n, 2);
}

TEST_LIST(the_last_in_is_the_first_out, a_missing_stack_is_made, an_empty_stack_gives_null,
          without_memory_the_stack_stays_as_it_was)
