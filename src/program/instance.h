// SPDX-License-Identifier: Apache-2.0
// An instance: what runs of a program have in common for one set of shapes. Nothing in it changes
// once it is made.

#ifndef LN_PROGRAM_INSTANCE_H
#define LN_PROGRAM_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include <lightnet/context.h>

#include "run/frame.h"

// A tensor of frames that is in the memory of an input or output.
typedef struct ln_instance_part {
    size_t index;     // in frames
    size_t end;       // whose memory it is
    ptrdiff_t offset; // in it
} ln_instance_part;

// An input or output.
typedef struct ln_instance_end {
    const char *name; // the tensor's in `ctx`
    tl_tensor tensor; // without data
    bool is_input;
    size_t index;  // of the tensor in frames
    bool can_move; // in frames, its parts and itself may be elsewhere
} ln_instance_end;

typedef struct ln_instance {
    const ln_context *ctx; // LOADED, without a workspace; not run, nor asked what it would note
    ln_frame *frame;       // that those of sessions are copies of
    ln_instance_end *ends; // inputs, then outputs
    size_t input_count, output_count;
    ln_instance_part *parts; // of all ends that can move
    size_t part_count;
    double cost; // of a run, in work units
} ln_instance;

// The instance of `ctx`, LOADED, which ln_frame_fits: it stays where it is as long as the instance,
// which takes its workspace.
ln_status ln_instance_create(ln_context *ctx, ln_instance **out_instance);
void ln_instance_destroy(ln_instance *instance); // NULL is fine

// Finds which inputs and outputs can move, and their parts.
ln_status ln_instance_find_parts(ln_instance *instance);

#endif
