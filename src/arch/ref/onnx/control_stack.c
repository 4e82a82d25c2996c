// SPDX-License-Identifier: Apache-2.0
// What the runs of a body leave behind. Scratch memory cannot grow, so that a full stack moves to
// one of twice the size; all that it ever had is at most twice what it needs.

#include "arch/ref/onnx/control_stack.h"

#include <string.h>

#include "arch/ref/onnx/pieces.h"
#include "tensor/elem.h"
#include "tensor/object.h"

enum { FIRST_CAPACITY = 16 };

static ln_status grow(ln_run_stack *stack)
{
    size_t capacity = stack->capacity ? 2 * stack->capacity : FIRST_CAPACITY;
    ln_object **items = ln_call_scratch(stack->call, capacity, stack->width * sizeof *items);
    if (!items)
        return ln_error_status();
    if (stack->count)
        memcpy(items, stack->items, stack->count * stack->width * sizeof *items);
    stack->items = items;
    stack->capacity = capacity;
    return LN_OK;
}

ln_status ln_run_stack_push(ln_run_stack *stack, ln_object **row)
{
    if (stack->width == 0) {
        stack->count++;
        return LN_OK;
    }
    if (stack->count == stack->capacity) {
        ln_status status = grow(stack);
        if (status != LN_OK) {
            ln_ref_release_all(row, stack->width);
            return status;
        }
    }
    memcpy(stack->items + stack->count * stack->width, row, stack->width * sizeof *row);
    memset(row, 0, stack->width * sizeof *row);
    stack->count++;
    return LN_OK;
}

ln_status ln_run_stack_try(ln_run_stack *stack, ln_object **row)
{
    stack->sample = ln_call_scratch(stack->call, stack->width + 1, sizeof *row);
    if (!stack->sample) {
        ln_ref_release_all(row, stack->width);
        return ln_error_status();
    }
    memcpy(stack->sample, row, stack->width * sizeof *row);
    memset(row, 0, stack->width * sizeof *row);
    return LN_OK;
}

// A tensor like `sample` with a new axis of length 0.
static ln_object *none_like(ln_call *call, ln_object *sample, int64_t axis)
{
    // One sample alone, joined along the new axis, has the rank that is wanted.
    ln_object *one = ln_ref_join_objects(call, axis, true, 1, &sample);
    if (!one)
        return NULL;
    const tl_tensor *tensor = ln_object_tensor(one);
    int at = (int)(axis < 0 ? axis + tensor->ndim : axis);
    ln_object *none = ln_ref_slice_object(call, tensor, at, 0, 0, true);
    ln_object_release(one);
    return none;
}

// The values of one column in scratch memory, borrowed.
static ln_object **column_items(ln_run_stack *stack, size_t column, bool is_reversed)
{
    ln_object **items = ln_call_scratch(stack->call, stack->count + 1, sizeof *items);
    for (size_t i = 0; items && i < stack->count; i++)
        items[is_reversed ? stack->count - 1 - i : i] = stack->items[i * stack->width + column];
    return items;
}

ln_object *ln_run_stack_join(ln_run_stack *stack, size_t column, int64_t axis, bool is_reversed)
{
    if (stack->count == 0) {
        if (stack->sample)
            return none_like(stack->call, stack->sample[column], axis);
        (void)ln_call_fail(
            stack->call, LN_UNSUPPORTED,
            "its graph was never run, so that nobody knows the shapes of its outputs");
        return NULL;
    }
    ln_object **items = column_items(stack, column, is_reversed);
    return items ? ln_ref_join_objects(stack->call, axis, true, stack->count, items) : NULL;
}

ln_object *ln_run_stack_sequence(ln_run_stack *stack, size_t column, tl_dtype dtype)
{
    ln_object **items = column_items(stack, column, false);
    if (!items)
        return NULL;
    return ln_object_make_sequence(stack->count ? ln_object_elem_dtype(items[0]) : dtype,
                                   stack->count, items, ln_call_meter(stack->call));
}

void ln_run_stack_clear(ln_run_stack *stack)
{
    if (stack->items)
        ln_ref_release_all(stack->items, stack->count * stack->width);
    if (stack->sample)
        ln_ref_release_all(stack->sample, stack->width);
    stack->count = 0;
}

ln_status ln_scalar_of(ln_call *call, ln_object *object, const char *what, tl_dtype dtype,
                       int64_t *out_value)
{
    const tl_tensor *tensor = object ? ln_object_tensor(object) : NULL;
    if (!tensor || tensor->len != 1 || tensor->dtype != dtype)
        return ln_call_fail(call, LN_INVALID, "%s is not one element of type %s", what,
                            tl_dtype_title(dtype));
    *out_value = ln_elem_int(tensor, 0);
    return LN_OK;
}

ln_object *ln_scalar_object(ln_call *call, tl_dtype dtype, int64_t value)
{
    ln_object *object = ln_object_new_tensor(dtype, 0, NULL, ln_call_meter(call));
    if (object)
        ln_elem_set_int(ln_object_tensor(object), 0, value);
    return object;
}
