// SPDX-License-Identifier: Apache-2.0
// How a compiled model is split over the devices of its target: what the host and each device do,
// in the order of a run, and what is copied between their memories.

#ifndef LN_CLI_SPLIT_H
#define LN_CLI_SPLIT_H

#include <stdio.h>

#include <lightnet/lightnet.h>

#include "json_out.h"

// ---- What was decided, while the model is compiled ----

typedef struct offload_notes {
    ln_offload *items; // with texts of their own
    size_t count;
    int has_no_memory;
    int is_verbose; // say each as well
} offload_notes;

// For `ln_optimize_options.on_offload`; `notes` is an offload_notes.
void note_offload(void *notes, const ln_offload *offload);
void offload_notes_free(offload_notes *notes);

// ---- The split ----

typedef enum split_kind { SPLIT_HOST, SPLIT_GROUP, SPLIT_COPY, SPLIT_WAIT } split_kind;

// Neighbours in the list of operators: a group of a device, one copy, one wait, or what is between.
typedef struct split_part {
    split_kind kind;
    int device; // index of the device whose group it is, or is waited for; -1: the host
    const ln_list *ops;
    size_t first_step, op_count;
    size_t run_count;                  // operators that compute something in a run
    const ln_op *first_run, *last_run; // of those, or of a group's
    size_t first_run_step, last_run_step;
    size_t wait_step;  // of a group: the step that waits for it; its last one where none does
    size_t byte_count; // of a copy
    int from, to;      // of a copy: devices; -1: main memory
    int is_at_load;    // of a copy: made once, when the model is loaded
} split_part;

typedef struct model_split {
    const ln_arch **devices; // that have groups, in the order of the target
    size_t device_count;     // 0: all is on the host
    split_part *parts;
    size_t part_count;
    size_t step_count;
    const ln_arch *waiting; // a device of the target, where shapes come in the run; NULL: none
} model_split;

// Fails: LN_NO_MEMORY. split_deinit frees what it has.
ln_status split_init(model_split *s, const ln_context *ctx);
void split_deinit(model_split *s);

ln_mem_type split_memory(const model_split *s, int device);
const char *split_name(const model_split *s, int device); // "host" for -1

// The device or -1 of an operator of the context; -2: a copy.
int split_device_of(const model_split *s, const ln_context *ctx, const ln_op *op);

// Nothing is printed for a model that no device computes a part of and none was asked.
void split_print(FILE *out, const model_split *s, const offload_notes *notes);

// The lines of what devices have refused and given back; `notes` may be NULL.
void split_print_notes(FILE *out, const offload_notes *notes);

// The member "split" of an object, in the same cases.
void split_put_json(json_out *j, const model_split *s, const ln_context *ctx,
                    const offload_notes *notes);

#endif
