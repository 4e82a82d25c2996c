// SPDX-License-Identifier: Apache-2.0
// What a program has, as its sessions see it. Nothing in it changes once it is made.

#ifndef LN_RUN_PROGRAM_H
#define LN_RUN_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include <lightnet/program.h>

#include "run/frame.h"

// An input or output.
typedef struct ln_program_end {
    char *name;       // the program's own
    tl_tensor tensor; // without data
    size_t index;     // of the tensor in frames
    void *first;      // of an input: what it holds at first; NULL: zeros
    bool is_input;
} ln_program_end;

struct ln_program {
    atomic_size_t holder_count;
    ln_context *ctx; // LOADED; not run, nor asked what it would note. Without a workspace where
                     // there is a frame
    ln_frame *frame; // that those of sessions are copies of; NULL: sessions are clones of ctx
    ln_program_end *ends; // inputs, then outputs
    size_t input_count, output_count;
    double cost; // of a run, in work units
};

#endif
