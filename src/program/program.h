// SPDX-License-Identifier: Apache-2.0
// What a program has, as its sessions see it. Nothing in it changes once it is made.

#ifndef LN_PROGRAM_PROGRAM_H
#define LN_PROGRAM_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include <lightnet/program.h>

#include "program/instance.h"
#include "program/instances.h"

// An input or output.
typedef struct ln_program_end {
    char *name;          // the program's own
    tl_tensor tensor;    // without data
    int dims[TL_MAXDIM]; // of a dynamic tensor
    uint32_t open_axes;  // those that have a size by default only, a bit for each
    bool is_dynamic;     // it has no shape as long as it has no value
    bool takes_shapes;   // it may have others: it is dynamic, or was bound to its shape
    void *first;         // of an input that frames have: what it holds at first; NULL: zeros
    bool is_input;
} ln_program_end;

struct ln_program {
    atomic_size_t holder_count;
    ln_context *ctx; // LOADED, where `instances` has not unloaded it; not run, nor asked what it
                     // would note
    ln_instance *instance;   // of `ctx`, which has no workspace then; NULL: see the next
    ln_instances *instances; // one for each shape, that one too. Both NULL: sessions are clones
    ln_program_end *ends;    // inputs, then outputs
    size_t input_count, output_count;
    ln_program *failover; // of the model on the host; NULL: none, or clones have theirs
    bool is_face;         // of a context, which has `ctx`, itself, and `instances`
};

// The program that a context which was never bound is the face of.
ln_status ln_program_create_face(ln_context *ctx, ln_instances *instances,
                                 ln_program **out_program);

// The input or output `tname`; NULL, and a recorded LN_NOT_FOUND, if there is none.
const ln_program_end *ln_program_find(const ln_program *program, const char *tname);

#endif
