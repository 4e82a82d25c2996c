// SPDX-License-Identifier: Apache-2.0
// A frame: the tensors that one run works on and the steps that work on them, in one block, so that
// another run's frame is a copy whose addresses are shifted.
//
//     | ln_frame | tensors ... | arguments ... | calls ... | steps ... | addresses of tensors ... |
//
// What does not change from run to run (names, lists, parameters, prepared blocks, constants) is
// borrowed from the loaded context that the first frame is made of; so are groups on devices.

#ifndef LN_RUN_FRAME_H
#define LN_RUN_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/context.h>

#include "ir/memory.h"

typedef struct ln_frame ln_frame;

// Whether all that `ctx`, LOADED, does in a run are calls that find out nothing more, and groups,
// and its inputs and outputs are in main memory. PLANNED: false if that is known already.
bool ln_frame_fits(const ln_context *ctx);

// A frame of such a context, to be destroyed.
ln_status ln_frame_create(const ln_context *ctx, ln_frame **out_frame);

// A copy whose tensors, where they are in the workspace, are in `workspace`, which begins with it
// in each memory, and whose calls belong to `ctx`.
ln_status ln_frame_copy(const ln_frame *from, const ln_memory *workspace, ln_context *ctx,
                        ln_frame **out_frame);

// The steps of a run, in order.
size_t ln_frame_step_count(const ln_frame *frame);
ln_status ln_frame_run_step(const ln_frame *frame, size_t step);

// Where a run ends after `done` steps, failed waits among them: waits for what these have started
// and have not waited for.
void ln_frame_settle(const ln_frame *frame, size_t done);
bool ln_frame_is_wait(const ln_frame *frame, size_t step);

// Waits for what runs that ended early have left to devices: before `destroy`.
void ln_frame_finish(const ln_frame *frame);
// The same before another run, of `ctx`: LN_TIMEOUT or LN_CANCELLED if that has to end before.
ln_status ln_frame_finish_in_time(const ln_frame *frame, const ln_context *ctx);
void ln_frame_destroy(ln_frame *frame); // NULL is fine

// What the step adds to the cost of a run that is done, in work units: a group, when it has been
// waited for.
double ln_frame_cost(const ln_frame *frame, size_t step);

const ln_op_arg *ln_frame_op(const ln_frame *frame, size_t step); // of a group, the first one's

// Of the first frame: the number of a tensor that a step works on, or that is an input or output of
// the context. It is the same in all copies.
size_t ln_frame_find(const ln_frame *frame, const tl_tensor *tensor);
size_t ln_frame_tensor_count(const ln_frame *frame);
const tl_tensor *ln_frame_source(const ln_frame *frame, size_t index); // the tensor of the context
tl_tensor *ln_frame_tensor(ln_frame *frame, size_t index);

// Of the first frame: where tensor `index`, which is in the workspace in main memory, is in a
// copy's.
void *ln_frame_own_address(const ln_frame *frame, size_t index, void *workspace);

#endif
