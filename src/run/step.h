// SPDX-License-Identifier: Apache-2.0
// A step of a run: a function, what it was prepared with, and the tensors that it works on.
//
// An operator in call form is one, and so is a group of operators on a device: whoever runs steps
// does not know which. Another run of the same model has the same functions and blocks, and
// addresses of its own.

#ifndef LN_RUN_STEP_H
#define LN_RUN_STEP_H

#include <lightnet/status.h>
#include <lightnet/tensor.h>

typedef ln_status (*ln_step_func)(void *block, tl_tensor *const *addresses);

typedef struct ln_step {
    ln_step_func function;
    void *block;
    tl_tensor **addresses;
} ln_step;

static inline ln_status ln_step_run(const ln_step *step)
{
    return step->function(step->block, step->addresses);
}

// An `ln_call`, which has its addresses itself.
ln_status ln_step_run_call(void *call, tl_tensor *const *addresses);

#endif
