// SPDX-License-Identifier: Apache-2.0
// The library's functions can be unwound: what debuggers, profilers and exceptions of a program's
// callbacks need.

#include <lightnet/lightnet.h>

#include <unwind.h>

#include "tests/test.h"

// Both apart, so that they are functions of their own on the stack.
static __attribute__((noinline)) void free_all(ln_list *list);

static int free_count, was_caller_found;

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame, void *unused)
{
    (void)unused;
    void *function = _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(frame));
    was_caller_found |= function == (void *)(uintptr_t)free_all;
    return _URC_NO_REASON;
}

static void free_item(void *item)
{
    (void)item;
    free_count++;
    _Unwind_Backtrace(look_at_frame, NULL);
}

static void free_all(ln_list *list)
{
    ln_list_free_deep(list, free_item);
    free_count += 10; // no tail call
}

TEST(a_callback_sees_its_caller_through_the_library)
{
    static int item;
    free_all(ln_list_append(NULL, &item));
    CHECK_EQ(free_count, 11);
    CHECK(was_caller_found);
}

TEST_LIST(a_callback_sees_its_caller_through_the_library)
