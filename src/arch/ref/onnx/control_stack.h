// SPDX-License-Identifier: Apache-2.0
// What the runs of a body leave behind: the states for the next run, and values that are stacked.

#ifndef LN_ARCH_REF_ONNX_CONTROL_STACK_H
#define LN_ARCH_REF_ONNX_CONTROL_STACK_H

#include <stdbool.h>

#include <lightnet/call.h>

// What it costs to run a graph, beside its operators, in multiply-accumulates: a loop of next to
// nothing without an end has one in the limit of work, too.
enum { LN_RUN_WORK = 1000 };

// One row of `width` values for each run. Starts as zeros, but for `call` and `width`.
typedef struct ln_run_stack {
    ln_call *call;
    size_t width;
    size_t count, capacity; // rows
    ln_object **items;
    ln_object **sample; // a row of a trial, for shapes where no run was made; or NULL
} ln_run_stack;

// Takes over a row of `width` objects, whose places become NULL, also when it fails.
ln_status ln_run_stack_push(ln_run_stack *stack, ln_object **row);

// The same for the row of a trial, which shows the shapes of values where there are none.
ln_status ln_run_stack_try(ln_run_stack *stack, ln_object **row);

// The values of column `column` joined along a new `axis`, the first one last if it is reversed.
// Without values, and with a trial, the new axis has length 0. NULL with a recorded failure.
ln_object *ln_run_stack_join(ln_run_stack *stack, size_t column, int64_t axis, bool is_reversed);

// A sequence of the values of a column; `dtype` is that of a sequence without items.
ln_object *ln_run_stack_sequence(ln_run_stack *stack, size_t column, tl_dtype dtype);

void ln_run_stack_clear(ln_run_stack *stack);

// A failure unless `object` is a tensor of one element of type `dtype`; else that element.
ln_status ln_scalar_of(ln_call *call, ln_object *object, const char *what, tl_dtype dtype,
                       int64_t *out_value);

// A tensor without dimensions.
ln_object *ln_scalar_object(ln_call *call, tl_dtype dtype, int64_t value);

#endif
