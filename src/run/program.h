// SPDX-License-Identifier: Apache-2.0
// What a program has, as its sessions see it. Nothing in it changes once it is made.

#ifndef LN_RUN_PROGRAM_H
#define LN_RUN_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include <lightnet/program.h>

#include "run/frame.h"

// A tensor of frames that is in the memory of an input or output.
typedef struct ln_program_part {
    size_t index;     // in frames
    size_t end;       // whose memory it is
    ptrdiff_t offset; // in it
} ln_program_part;

// An input or output.
typedef struct ln_program_end {
    char *name;          // the program's own
    tl_tensor tensor;    // without data
    int dims[TL_MAXDIM]; // of a dynamic tensor
    bool is_dynamic;
    size_t index; // of the tensor in frames
    void *first;  // of an input: what it holds at first; NULL: zeros
    bool is_input;
    bool can_move; // in frames, its parts and itself may be elsewhere
} ln_program_end;

struct ln_program {
    atomic_size_t holder_count;
    ln_context *ctx; // LOADED; not run, nor asked what it would note. Without a workspace where
                     // there is a frame
    ln_frame *frame; // that those of sessions are copies of; NULL: sessions are clones of ctx
    ln_program_end *ends; // inputs, then outputs
    size_t input_count, output_count;
    ln_program_part *parts; // of a program with a frame: of all ends that can move
    size_t part_count;
    double cost; // of a run, in work units
};

// The input or output `tname`; NULL, and a recorded LN_NOT_FOUND, if there is none.
const ln_program_end *ln_program_find(const ln_program *program, const char *tname);

// Finds which inputs and outputs of a program with a frame can move, and their parts.
ln_status ln_program_find_parts(ln_program *program);

#endif
